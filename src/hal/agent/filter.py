"""The filter of false negatives: which failed options were in states that do afford the subtask.

A negative whose context is as near to known positives as other positives are is likely one of them
(Sect. 6, "False negative filtering"). `affordances.py` leaves what a filter flags out of its
examples.
"""

from collections.abc import Callable
from typing import ClassVar, Protocol

import numpy as np
import torch
from torch import Tensor

from hal.agent.losses import nearest_distances, tolerance_bound
from hal.agent.metrics import Tally
from hal.config.settings import AffordanceSettings

ContextsOf = Callable[[np.ndarray], Tensor]  # of a milestone's positives, by their numbers


class Filter(Protocol):
    """What the classifier asks of a filter."""

    KEPT: ClassVar[tuple[str, ...]]  # what a run keeps to go on exactly

    def refresh(
        self,
        milestone: int,
        parity: np.ndarray,
        contexts_of: ContextsOf,
        rng: np.random.Generator,
        tally: Tally,
    ) -> None:
        """Look anew at a milestone's positives, of which there are (parity.size,).

        All states of one option have one parity, 0 or 1.
        """

    def is_false(self, milestones: np.ndarray, contexts: Tensor) -> np.ndarray:
        """Tell which negatives of these milestones, sorted, are likely false, (n,) bool."""


class ToleranceFilter:
    """Flags what is nearer to known positives than the tolerance bound of other positives."""

    KEPT: ClassVar[tuple[str, ...]] = ("margins", "populations", "has_population")

    def __init__(
        self,
        settings: AffordanceSettings,
        milestones: tuple[str, ...],
        device: torch.device,
    ) -> None:
        self.settings = settings
        self.milestones = milestones
        self.margins = np.zeros(len(milestones))
        size = (len(milestones), settings.knn_n, settings.context_size)
        self.populations = torch.zeros(size, device=device)  # contexts of known positives
        self.has_population = np.zeros(len(milestones), dtype=np.bool_)

    def refresh(
        self,
        milestone: int,
        parity: np.ndarray,
        contexts_of: ContextsOf,
        rng: np.random.Generator,
        tally: Tally,
    ) -> None:
        """Draw a population and, from other options, reference positives; set the bound, rho."""
        settings = self.settings
        sides = [np.flatnonzero(parity == side) for side in (0, 1)]
        self.has_population[milestone] = min(side.size for side in sides) > 0
        if not self.has_population[milestone]:
            return
        population, reference = (contexts_of(rng.choice(side, settings.knn_n)) for side in sides)
        distances = nearest_distances(reference, population, settings.knn_k).cpu().numpy()
        self.margins[milestone] = tolerance_bound(
            distances, settings.filter_percentile, settings.filter_confidence
        )
        self.populations[milestone] = population
        at = np.array([milestone])
        tally.add_columns("filter/margin", at, self.margins[at], self.milestones)

    def is_false(self, milestones: np.ndarray, contexts: Tensor) -> np.ndarray:
        """Tell which negatives are closer to positives than the bound: d_q^k < rho."""
        is_flagged = np.zeros(len(contexts), dtype=np.bool_)
        heads, starts, counts = np.unique(milestones, return_index=True, return_counts=True)
        for head, start, count in zip(heads, starts, counts, strict=True):
            if self.has_population[head]:
                mine = slice(start, start + count)
                distances = nearest_distances(
                    contexts[mine], self.populations[head], self.settings.knn_k
                )
                is_flagged[mine] = distances.cpu().numpy() < self.margins[head]
        return is_flagged


Make = Callable[[AffordanceSettings, tuple[str, ...], torch.device], Filter | None]
FILTERS: dict[str, Make] = {"tolerance": ToleranceFilter, "none": lambda *_: None}


def tally_filter(
    tally: Tally,
    milestones: tuple[str, ...],
    head: np.ndarray,
    is_flagged: np.ndarray | None,
    is_afforded: np.ndarray | None,
) -> None:
    """Count what a filter flags among negatives and, if the truth is told, its hits and misses."""
    kinds = {}
    if is_flagged is not None:
        kinds["flagged"] = (head, is_flagged)
    if is_afforded is not None:
        kinds["false_negatives"] = (head, is_afforded)
    if is_flagged is not None and is_afforded is not None:
        kinds["false_negative_accuracy"] = (head[is_afforded], is_flagged[is_afforded])
        kinds["true_negative_accuracy"] = (head[~is_afforded], ~is_flagged[~is_afforded])
    for kind, (columns, values) in kinds.items():
        tally.add_columns(f"filter/{kind}", columns, values, milestones)
