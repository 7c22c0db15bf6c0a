"""What each departure from the paper changes: results -> figure and table.

Every variant differs from HAL at `fast` in one thing, which is as in the paper; `faithful` in all.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hal.experiments.results import Results, averages, finals, first_steps
from hal.experiments.stats import Interval, contrast
from hal.experiments.suite import EXPERIMENTS
from hal.experiments.verdicts import REACHED

NAME, BASE = "departures", "hal, fast"
SUCCESS, ACCURACY = "episode/success", "mask/accuracy"
COLUMNS = (
    "as in the paper",
    "greedy success less fast's",
    "online success less fast's",
    "mask accuracy less fast's",
    f"steps to {REACHED:.0%} online, median",
    "matters",
)


@dataclass(frozen=True)
class Effect:
    """What a variant has less what HAL at `fast` has: means over seeds, Welch's intervals."""

    name: str
    greedy: Interval  # success at the end
    online: Interval  # mean success over training
    accuracy: Interval  # of the mask, mean over training
    steps: np.ndarray  # (seeds,) until online success reaches 95%; infinite if it does not

    @property
    def matters(self) -> bool:
        """Whether an interval of a difference in success leaves out 0."""
        return any(one.low > 0 or one.high < 0 for one in (self.greedy, self.online))

    @property
    def is_worse(self) -> bool:
        """Whether the paper's way did worse, if it matters."""
        return self.greedy.high < 0 or self.online.high < 0


def effects(results: Results, task: str) -> list[Effect]:
    """Return the effect of each variant of a task that has runs; none without HAL at `fast`."""
    if not finals(results, task, BASE).size:
        return []
    own = [v.name for v in EXPERIMENTS[NAME].variants if v.task == task and v.name != BASE]
    return [_effect(results, task, name) for name in own if finals(results, task, name).size]


def _effect(results: Results, task: str, variant: str) -> Effect:
    def less(values: Sequence[np.ndarray]) -> Interval:
        return contrast(values, (1.0, -1.0))

    pair = (variant, BASE)
    return Effect(
        variant.removeprefix("hal, "),
        less([finals(results, task, name) for name in pair]),
        less([averages(results, task, name, SUCCESS) for name in pair]),
        less([averages(results, task, name, ACCURACY) for name in pair]),
        first_steps(results, task, variant, SUCCESS, REACHED),
    )


def effect_row(effect: Effect) -> list[str]:
    """Return an effect as a row below `COLUMNS`."""
    reached = np.isfinite(effect.steps)
    median = np.median(effect.steps)
    steps = f"{median:,.0f}" if np.isfinite(median) else "never"
    verdict = ("yes, worse" if effect.is_worse else "yes, better") if effect.matters else "no"
    differences = [_signed(one) for one in (effect.greedy, effect.online, effect.accuracy)]
    return [effect.name, *differences, f"{steps} ({reached.sum()} of {reached.size})", verdict]


def _signed(interval: Interval) -> str:
    if not np.isfinite(interval.low):
        return f"{interval.estimate:+.3f}"
    return f"{interval.estimate:+.3f} ({interval.low:+.3f} to {interval.high:+.3f})"
