"""How much memory an agent will take, asked before any is taken.

The counts are rough, to a factor of two. They are there for the slip of a hand, which would have a
machine kill whatever it likes.
"""

from collections.abc import Iterator
from typing import NamedTuple

from hal.config.settings import Config, values_of
from hal.envs.observations import Part

GB = 10**9
MOST_BYTES = 8 * GB
STEP_BYTES = 80  # of what is kept of a step beside its observation
COPIES = 6  # of a network: gradients, Adam's two moments, targets
LAYERS = 8  # whose outputs a batch keeps


class Need(NamedTuple):
    """What some settings take together."""

    fields: tuple[str, ...]
    num_bytes: int


class Sizes(NamedTuple):
    """Sizes of an environment's observations and signals."""

    num_bytes: int
    num_cells: int
    num_rows: int  # of a table of embeddings
    num_milestones: int


def check_memory(config: Config, parts: tuple[Part, ...], num_milestones: int) -> None:
    """Refuse what no machine has room for; say which settings are to blame."""
    sizes = Sizes(
        sum(part.size * part.dtype.itemsize for part in parts),
        sum(part.size for part in parts),
        sum(part.num_pairs if part.kind == "cells" else 5 * part.size for part in parts),
        num_milestones,
    )
    needs = list(needs_of(config, sizes))
    total = sum(need.num_bytes for need in needs)
    if total > MOST_BYTES:
        values, worst = values_of(config), max(needs, key=lambda need: need.num_bytes)
        blamed = " and ".join(f"{name} {values[name]:,}" for name in worst.fields)
        what = f"{blamed}: {worst.num_bytes / GB:,.0f} of {total / GB:,.0f} GB of memory"
        seen = f"with observations of {sizes.num_bytes:,} bytes"
        raise ValueError(f"{what}, {seen}; legal: up to {MOST_BYTES // GB} GB")


def needs_of(config: Config, sizes: Sizes) -> Iterator[Need]:
    """Yield what settings take, one need for each way to ask for too much."""
    replay, controller = config.replay, config.controller
    yield Need(("replay.capacity",), replay.capacity * (sizes.num_bytes + STEP_BYTES))
    yield _network("controller", controller.hidden_size, sizes)
    num_steps = replay.batch_windows * (replay.window + 1)
    fields = ("replay.batch_windows", "replay.window", "controller.hidden_size")
    yield Need(fields, num_steps * _row(controller.hidden_size, sizes))
    if config.options.is_flat:
        return
    meta = config.meta
    yield Need(("meta.capacity",), meta.capacity * (2 * sizes.num_bytes + STEP_BYTES))
    yield _network("meta", meta.hidden_size, sizes)
    yield Need(("meta.batch_size",), meta.batch_size * _row(meta.hidden_size, sizes))
    if config.has_mask:
        yield from _needs_of_mask(config, sizes)


def _needs_of_mask(config: Config, sizes: Sizes) -> Iterator[Need]:
    own, num_heads = config.affordances, sizes.num_milestones
    row = _row(own.hidden_size, sizes) + 4 * own.context_size
    yield Need(("affordances.examples",), 2 * own.examples * num_heads * (sizes.num_bytes + 2))
    yield _network("affordances", own.hidden_size, sizes)
    fields = ("affordances.context_size", "affordances.hidden_size")
    yield Need(fields, 4 * COPIES * own.context_size * (own.hidden_size + num_heads))
    if own.use_contrast:
        fields = ("affordances.triplets", "affordances.num_negatives")
        yield Need(fields, own.triplets * (2 + own.num_negatives) * row)
    yield Need(("affordances.classifier_batch",), own.classifier_batch * num_heads * row)
    if own.filter != "none":
        fields = ("affordances.knn_n", "affordances.context_size")
        distances = 4 * own.knn_n * (own.knn_n + num_heads * own.context_size)
        yield Need(fields, distances + 2 * own.knn_n * row)


def _network(group: str, width: int, sizes: Sizes) -> Need:
    num_inputs = sizes.num_rows + sizes.num_cells + 3 * sizes.num_milestones
    return Need((f"{group}.hidden_size",), 4 * COPIES * width * (num_inputs + width))


def _row(width: int, sizes: Sizes) -> int:
    """Return the bytes of an observation in a batch, as codes and as layers' outputs."""
    return 24 * sizes.num_cells + 4 * LAYERS * width
