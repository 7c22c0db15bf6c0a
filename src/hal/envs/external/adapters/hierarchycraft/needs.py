"""What an item takes, and how deep it lies, if nothing were ever used up: a task's milestones."""

from typing import NamedTuple

import numpy as np

from hal.envs.external.adapters.hierarchycraft.rules import ANYWHERE, Rules

NEVER = 1_000_000  # the depth of what nothing leads to
NONE = -1  # instead of a milestone
PLACED = "placed_"


class Way(NamedTuple):
    """A transformation done in some zone; all in columns of counts, beyond which are the zones."""

    needs: list[int]
    brings: list[int]


def ways_of(rules: Rules) -> list[Way]:
    """Return what can be done in each zone."""
    arrays, ways = rules.arrays, []
    for i, only in enumerate(arrays.zone):
        needs = arrays.need_columns[slice(*arrays.need_starts[i : i + 2])]
        changes = slice(*arrays.change_starts[i : i + 2])
        brings = arrays.change_columns[changes][arrays.change_amounts[changes] > 0]
        for zone in range(len(rules.zones)) if only == ANYWHERE else [only]:
            here = arrays.num_items + zone * arrays.num_things
            needed, brought = (
                np.where(columns < 0, here - 1 - columns, columns).tolist()
                for columns in (needs, brings)
            )
            if arrays.destination[i] != ANYWHERE:
                brought.append(rules.start.size + int(arrays.destination[i]))
            ways.append(Way([*needed, rules.start.size + int(zone)], brought))
    return ways


def depths_of(rules: Rules, ways: list[Way]) -> np.ndarray:
    """Return how many transformations deep each column and zone lies."""
    is_there = np.zeros(rules.start.size + len(rules.zones), dtype=np.bool_)
    is_there[: rules.start.size] = rules.start > 0
    is_there[rules.start.size + rules.start_zone] = True
    depths, before = np.where(is_there, 0, NEVER), None
    while before is None or (depths < before).any():
        before = depths.copy()
        for way in ways:
            depths[way.brings] = np.minimum(depths[way.brings], 1 + depths[way.needs].max())
    return depths


def needed_for(item: str, rules: Rules, ways: list[Way], depths: np.ndarray) -> set[int]:
    """Return the columns that an item takes: of all that lead to it soonest, and itself."""
    needed: set[int] = set()
    to_do = [rules.items.index(item)]
    while to_do:
        column = to_do.pop()
        if column in needed or not depths[column]:
            continue
        needed.add(column)
        for way in ways:
            if column in way.brings and 1 + depths[way.needs].max() == depths[column]:
                to_do += way.needs
    return needed


def milestones_of(rules: Rules, task: str | None) -> tuple[tuple[str, ...], np.ndarray]:
    """Return milestones by their depth, and for each item and thing which one it is, or NONE.

    A task's are what its item takes, the last of which is the item itself.
    """
    ways = ways_of(rules)
    depths = depths_of(rules, ways)
    columns = needed_for(task, rules, ways, depths) if task else range(rules.start.size)
    num_items, num_things = len(rules.items), len(rules.things)
    depth_of: dict[int, int] = {}  # of items and things, these in the zone where they are soonest
    for column in columns:
        if column < rules.start.size and 0 < depths[column] < NEVER:
            above = max(column - num_items, 0) // num_things * num_things
            depth_of[column - above] = min(int(depths[column]), depth_of.get(column - above, NEVER))
    names = (*rules.items, *(PLACED + thing for thing in rules.things))
    in_order = sorted(depth_of, key=lambda element: (depth_of[element], names[element]))
    milestone_of = np.full(len(names), NONE)
    milestone_of[in_order] = np.arange(len(in_order))
    return tuple(names[element] for element in in_order), milestone_of
