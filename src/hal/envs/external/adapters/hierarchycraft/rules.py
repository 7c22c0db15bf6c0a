"""HierarchyCraft's transformations as arrays.

A state is counts, first of the items held, then of the things standing in each zone, and the
player's zone. A column below 0 is of the zone where the player is: -1 its first thing, -2 the next.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

ANYWHERE = -1  # instead of a zone


class Arrays(NamedTuple):
    """Transformations as kernels take them; rows `starts[i]` to `starts[i + 1]` are the i-th's."""

    num_items: int
    num_things: int
    zone: np.ndarray  # where each must be done, or ANYWHERE
    destination: np.ndarray  # where each leads, or ANYWHERE
    need_starts: np.ndarray
    need_columns: np.ndarray
    need_least: np.ndarray
    change_starts: np.ndarray
    change_columns: np.ndarray
    change_amounts: np.ndarray


class Rules(NamedTuple):
    """A world: its names, each kind in alphabetical order, its beginning, and what can be done."""

    items: tuple[str, ...]
    things: tuple[str, ...]
    zones: tuple[str, ...]
    actions: tuple[str, ...]  # in HierarchyCraft's order
    start: np.ndarray  # counts at the beginning
    start_zone: int
    arrays: Arrays


def read_rules(world: Any) -> Rules:
    """Return the rules of a world of HierarchyCraft.

    Its own order of items, things and zones may differ from one process to the next.
    """
    kinds = (world.items, world.zones_items, world.zones)
    items, things, zones = (sorted(each.name for each in kind) for kind in kinds)

    def zone_of(zone: Any) -> int:
        return ANYWHERE if zone is None else zones.index(zone.name)

    def standing(zone: Any, stack: Any) -> int:
        return len(items) + zone_of(zone) * len(things) + things.index(stack.item.name)

    def stacks(transformation: Any, kind: str) -> Iterator[tuple[int, int]]:
        """Yield columns and amounts of a kind of inventory change."""
        for stack in transformation.get_changes("player", kind, []):
            yield items.index(stack.item.name), stack.quantity
        for stack in transformation.get_changes("current_zone", kind, []):
            yield -1 - things.index(stack.item.name), stack.quantity
        for stack in transformation.get_changes("destination", kind, []):
            yield standing(transformation.destination, stack), stack.quantity

    def changes(transformation: Any) -> Iterator[tuple[int, int]]:
        yield from stacks(transformation, "add")
        yield from ((column, -amount) for column, amount in stacks(transformation, "remove"))

    start = np.zeros(len(items) + len(zones) * len(things), dtype=np.int32)
    for zone, placed in world.start_zones_items.items():
        for stack in placed:
            start[standing(zone, stack)] = stack.quantity
    all_of_them = world.transformations
    arrays = Arrays(
        len(items),
        len(things),
        np.array([zone_of(each.zone) for each in all_of_them]),
        np.array([zone_of(each.destination) for each in all_of_them]),
        *_rows([list(stacks(each, "min")) for each in all_of_them]),
        *_rows([list(changes(each)) for each in all_of_them]),
    )
    names = (tuple(items), tuple(things), tuple(zones), tuple(each.name for each in all_of_them))
    return Rules(*names, start, zone_of(world.start_zone), arrays)


def _rows(lists: list[list[tuple[int, int]]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return where each list begins, and all their first and second numbers."""
    starts = np.cumsum([0, *map(len, lists)])
    pairs = np.array([pair for each in lists for pair in each], dtype=np.int64)
    return starts, pairs[:, 0].copy(), pairs[:, 1].copy()
