"""How fast this machine is: some seconds of training, before anybody promises an end."""

from collections.abc import Iterable
from contextlib import closing
from statistics import median

from hal.config.presets import make_config
from hal.config.settings import Config
from hal.runs.training import Training

NUM_MEASURED = 3  # rates, the median of which counts: machines are shared
# Steps of all lanes, first those that fill replay and caches, then those of one rate; and the
# rate, in environment steps per CPU second, on the machine where whole runs were measured.
WARMUP = {"fast": 40, "paper": 110}
STEPS = {"fast": 40, "paper": 30}
REFERENCE = {"fast": 18_500.0, "paper": 115.0}


def scale_of(preset: str) -> str:
    """Return which of the two sizes of networks and batches a preset has."""
    return "paper" if preset == "paper" else "fast"


def calibrate(presets: Iterable[str]) -> dict[str, float]:
    """Return how many times as fast as the reference this machine trains, by scale."""
    return {scale: _rate(scale) / REFERENCE[scale] for scale in sorted(set(map(scale_of, presets)))}


def _rate(scale: str) -> float:
    training = Training(make_config(Config.task, preset=scale))
    with closing(training.env):
        _steps_per_second(training, WARMUP[scale])
        return median(_steps_per_second(training, STEPS[scale]) for _ in range(NUM_MEASURED))


def _steps_per_second(training: Training, num_steps: int) -> float:
    first, start = training.agent.num_steps, training.cpu_seconds
    for _ in range(num_steps):
        training.step()
    return (training.agent.num_steps - first) / (training.cpu_seconds - start)
