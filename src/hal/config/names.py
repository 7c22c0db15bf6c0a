"""How a setting may be called: by its path, or plainly where that is clear."""

from collections import Counter
from functools import cache
from types import MappingProxyType

from hal.config.settings import Config, values_of

# Names from before settings had groups. Files of that age have them, and so may scripts.
FLAT_NAMES = MappingProxyType(
    {
        "num_lanes": "environment.num_envs",
        "max_option_steps": "options.max_steps",
        "replay_steps": "replay.capacity",
        "clip": "networks.max_grad_norm",
        "update_every": "controller.every",
        "width": "controller.hidden_size",
        "learning_rate": "controller.learning_rate",
        "discount": "controller.discount",
        "trace": "controller.td_lambda",
        "meta_width": "meta.hidden_size",
        "meta_batch": "meta.batch_size",
        "meta_replay": "meta.capacity",
        "context_every": "affordances.every",
        "context_width": "affordances.hidden_size",
        "context_learning_rate": "affordances.learning_rate",
        "aff_threshold": "affordances.threshold",
        "fnf_conf": "affordances.filter_confidence",
        "fnf_perc": "affordances.filter_percentile",
    }
)


@cache
def spellings() -> dict[str, str]:
    """Return the path for every legal name: `meta.discount` is also `meta_discount`.

    A field that only one group has needs no group: `affordances.sigma` is also `sigma`.
    """
    paths = list(values_of(Config()))
    plain = {plain_name(path): path for path in paths}
    joined = {path.replace(".", "_"): path for path in paths}
    return {**plain, **FLAT_NAMES, **joined, **{path: path for path in paths}}


@cache
def _num_groups() -> Counter[str]:
    return Counter(path.rpartition(".")[2] for path in values_of(Config()))


def plain_name(path: str) -> str:
    """Return a setting's name without its group, if no other group has that name."""
    name = path.rpartition(".")[2]
    return name if _num_groups()[name] == 1 else path


def path_of(name: str) -> str:
    """Return the path of a setting, or say which names there are."""
    path = spellings().get(name.replace("-", "_"))
    if path is None:
        legal = ", ".join(values_of(Config()))
        raise ValueError(f"unknown field {name!r}; legal fields: {legal}")
    return path
