"""Config files of other versions: what they say, in the words of this one.

A file tells its format. `UPGRADES` has a function for each older format, which takes what such a
file says to the next one. Who adds a field gives it in `ADDED` the value that does what was done
before it was there; who renames or moves one writes an upgrade and raises `FORMAT`.
"""

from collections.abc import Callable
from typing import Any

from hal.config.names import path_of
from hal.config.settings import GROUPS

FORMAT = 2
Values = dict[str, Any]  # by path

# Fields that came after a format's first files.
ADDED: dict[int, Values] = {
    1: {
        "weigh_failures": False,
        "goal_anneal_events": 0,
        "stray_penalty": 0.0,
        "explore_rare": False,
    },
    2: {
        "meta.mask_target": True,
        "meta.step_discount": 1.0,
        "networks.num_interests": 1,
        "options.has_task": False,
        "options.trailing_share": 0.1,
    },
}
GONE = {"options.task_epsilon"}  # fields of such files that nothing reads any more


def group_fields(values: Values) -> Values:
    """Format 1 had all fields side by side, and a switch for the filter."""
    values = dict(values)
    if "use_filter" in values:
        values["affordances.filter"] = "tolerance" if values.pop("use_filter") else "none"
    return {path_of(name): value for name, value in values.items()}


UPGRADES: dict[int, Callable[[Values], Values]] = {1: group_fields}


def upgraded(table: dict[str, Any], is_whole: bool = True) -> Values:
    """Return what a file says, by the paths of this version.

    A whole file, a run's, says all that its own version knew; what it lacks had not been thought
    of. A file that a person writes says what they want.
    """
    # A run's own file has every group, or is from before there were any.
    is_whole = is_whole or table.keys() >= set(GROUPS) or "use_filter" in table
    number = table.pop("format", 1 if is_whole else FORMAT)
    if type(number) is not int or not 1 <= number <= FORMAT:
        raise ValueError(f"format {number!r}; legal: 1 to {FORMAT}, or a newer version of hal")
    values = _flat(table)
    for older in range(number, FORMAT + 1):
        if is_whole:
            values = ADDED[older] | values
        if older in UPGRADES:
            values = UPGRADES[older](values)
    kept = {name: value for name, value in values.items() if not (is_whole and name in GONE)}
    return {path_of(name): _immutable(value) for name, value in kept.items()}


def _flat(table: dict[str, Any]) -> Values:
    values: Values = {}
    for name, value in table.items():
        if isinstance(value, dict):
            if name not in GROUPS:
                raise ValueError(f"unknown group {name!r}; legal: {', '.join(GROUPS)}")
            values |= {f"{name}.{field}": own for field, own in value.items()}
        else:
            values[name] = value
    return values


def _immutable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
