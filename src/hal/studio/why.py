"""Why an agent takes a milestone for possible: nearest positives, and what its answer rests on.

Distances are the filter's own: of contexts z(s), to known positives, against its margin. What a
part of an observation matters is measured by leaving it out.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from hal.agent.affordances import Affordances
from hal.agent.filter import ToleranceFilter
from hal.agent.losses import nearest_distances
from hal.envs.observations import Obs, Part, batch_size, pick

NUM_NEAREST = 5
MOST_PATCHES = 16  # of a picture, a side


class Nearest(NamedTuple):
    """Where a state is among the known positives of a milestone."""

    distance: float | None  # the filter's, to its population; None if it has none
    margin: float | None
    num_known: int
    at: np.ndarray  # (n,) the nearest positives, by their numbers among the examples
    distances: np.ndarray  # (n,)


@torch.no_grad()
def contexts_of(affordances: Affordances, obs: Obs) -> Tensor:
    """Return z(s) of states, (n, size)."""
    contexts: Tensor = affordances.context(affordances.encoder(obs, affordances.device))
    return contexts


@torch.no_grad()
def nearest(affordances: Affordances, obs: Obs, milestone: int) -> Nearest:
    """Return where one state, a batch of one, is among a milestone's positives."""
    own = affordances.positives
    known = pick(own.obs, milestone, np.arange(own.sizes[milestone]))
    here = contexts_of(affordances, obs)
    distance = margin = None
    judge = affordances.filter
    if isinstance(judge, ToleranceFilter) and judge.has_population[milestone]:
        population, k = judge.populations[milestone], affordances.settings.knn_k
        distance = float(nearest_distances(here, population, k)[0])
        margin = float(judge.margins[milestone])
    size = batch_size(known)
    if not size:
        return Nearest(distance, margin, 0, np.zeros(0, dtype=np.int64), np.zeros(0))
    distances = torch.cdist(here, contexts_of(affordances, known))[0].numpy()
    # Steps of one option are often alike: a state is shown once.
    _, first = np.unique(distances, return_index=True)
    return Nearest(distance, margin, size, first[:NUM_NEAREST], distances[first[:NUM_NEAREST]])


class Influence(NamedTuple):
    """What a part of an observation matters: the change of f(s) if an entry were empty."""

    part: str
    kind: str
    shape: tuple[int, ...]  # of the changes
    changes: np.ndarray


def influences(
    affordances: Affordances, obs: Obs, parts: tuple[Part, ...], milestone: int, floor: int | None
) -> tuple[float, list[Influence]]:
    """Return f(s) of a milestone, and how it changes where each cell, count or patch is emptied.

    An empty cell has this code or, where nobody knows of one, what is most frequent.
    """
    now = float(affordances.probabilities(obs)[0, milestone])
    found = []
    for part in parts:
        values, shape = emptied(obs[part.name][0], part, _empty_codes(affordances, part, floor))
        without = {name: np.repeat(one, len(values), axis=0) for name, one in obs.items()}
        without[part.name] = values
        changes = affordances.probabilities(without)[:, milestone] - now
        found.append(Influence(part.name, part.kind, shape, changes.reshape(shape)))
    return now, found


def _empty_codes(affordances: Affordances, part: Part, floor: int | None) -> np.ndarray:
    """Return what an empty cell has, by channel."""
    if part.kind != "cells":
        return np.zeros(1)
    if floor is not None:
        return np.full(part.low.size, floor)
    own = affordances.positives
    head = int(own.counts.argmax())
    seen = part.channels_last(own.obs[part.name][head, : max(int(own.sizes[head]), 1)])
    columns = seen.reshape(-1, part.low.size).astype(np.int64) - part.low
    codes = [np.bincount(column).argmax() for column in columns.T]
    return np.array(codes) + part.low


def emptied(
    values: np.ndarray, part: Part, empty: np.ndarray
) -> tuple[np.ndarray, tuple[int, ...]]:
    """Return copies of a part, each with one place emptied, and the shape of the places."""
    if part.kind == "pixels":
        return _without_patches(part.channels_last(values[np.newaxis])[0], part)
    has_channels = part.channel_axis is not None and len(part.shape) > 1
    channels = part.channel_axis if has_channels else None
    shape = tuple(side for axis, side in enumerate(part.shape) if axis != channels) or (1,)
    copies = np.repeat(values[np.newaxis], int(np.prod(shape)), axis=0)
    for number, place in enumerate(np.ndindex(shape)):
        at: list[int | slice] = list(place) if part.shape else []
        if channels is not None:
            at.insert(channels, slice(None))
        filling = empty if channels is not None else empty[number % empty.size]
        copies[(number, *at)] = filling
    return copies, shape


def _without_patches(picture: np.ndarray, part: Part) -> tuple[np.ndarray, tuple[int, ...]]:
    rows, columns = picture.shape[:2]
    side = max(-(-max(rows, columns) // MOST_PATCHES), 1)
    shape = (-(-rows // side), -(-columns // side))
    mean = picture.mean(axis=(0, 1)).astype(picture.dtype)
    copies = np.repeat(picture[np.newaxis], shape[0] * shape[1], axis=0)
    for number, (row, column) in enumerate(np.ndindex(shape)):
        copies[number, row * side : (row + 1) * side, column * side : (column + 1) * side] = mean
    if part.channel_axis is None:
        return copies[..., 0], shape
    return np.moveaxis(copies, -1, 1 + part.channel_axis), shape
