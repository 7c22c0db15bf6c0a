"""The paper's experiments as lists of runs."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from hal.checks import check_whole_number
from hal.config.presets import DEPARTURES, make_config, put_back
from hal.config.settings import Config, values_of
from hal.config.versions import ADDED, FORMAT
from hal.envs.grid.settings import GridSettings

# Steps at `fast`: on the first two what HAL needs, twice.
BUDGETS = {"treasure": 2_500_000, "iron": 4_000_000, "diamond": 5_000_000}
RATES = {"1/100": 1 / 100, "1/50": 1 / 50, "1/30": 1 / 30}  # at which items disappear
LEARNING = ("oracle", "hal", "hal-fnf", "hr+her", "hr", "rainbow")
COMPONENTS = ("hal", "hal-rai", "hal-rt", "hal-cl", "hal-fnf")
SWEEPS: dict[str, tuple[float, ...]] = {
    "filter_percentile": (0.5, 0.7, 0.9, 0.98, 0.999),
    "sigma": (2.0, 4.0, 7.0, 10.0, 14.0),
    "threshold": (0.1, 0.3, 0.5, 0.7, 0.9),
}
SIGMAS = (1.0, 2.0, 4.0, 8.0, 16.0)


@dataclass(frozen=True)
class Variant:
    """What is run with every seed: a method on a task, with some settings."""

    task: str
    name: str
    method: str
    settings: dict[str, Any] = field(default_factory=dict)
    num_removed: int = 0  # milestones, others with every seed
    times: int = 1  # the usual budget
    preset: str = ""  # a scale of its own, whatever the others have
    steps: int = 0  # a budget of its own

    def config(self, seed: int, preset: str, steps: int | None) -> Config:
        """Return the config of one run; without steps, the task's budget at the preset."""
        preset = self.preset or preset
        settings = {**self.settings, "seed": seed}
        if self.num_removed:
            settings["milestones"] = milestones_left(self.task, self.num_removed, seed)
        if steps is None and preset != "paper":
            steps = self.steps or BUDGETS[self.task]
        if steps is not None:
            settings["steps"] = steps
        config = make_config(self.task, self.method, preset, **settings)
        return replace(config, steps=config.steps * self.times)


@dataclass(frozen=True)
class Experiment:
    """One of the paper's."""

    title: str
    figure: str  # the paper's
    variants: tuple[Variant, ...]
    num_seeds: int = 5  # at most: what is about one method, or takes days, has fewer

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks, in order."""
        return tuple(dict.fromkeys(variant.task for variant in self.variants))


@dataclass(frozen=True)
class RunSpec:
    """One run of an experiment."""

    experiment: str
    variant: Variant
    config: Config

    @property
    def folder(self) -> str:
        """The run's name on disk; one config, wherever it is asked for, is one run."""
        config = self.config
        return f"{config.task}-{config.method}-{digest(config)}-{config.seed}"

    @property
    def title(self) -> str:
        """The run's name for people."""
        return f"{self.config.task} {self.variant.name}, seed {self.config.seed}"


def digest(config: Config) -> str:
    """Return a short name for all of a config but its seed.

    A field that was added later does not count as long as it does what was done before.
    """
    values = {k: v for k, v in values_of(config).items() if k not in ("seed", "device")}
    for name, before in ADDED[FORMAT].items():
        if values[name] == before:
            del values[name]
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:8]


def milestones_removed(task: str, num_removed: int, seed: int) -> tuple[str, ...]:
    """Return random milestones of a task, never its final; more are the same ones and others."""
    *others, _ = GridSettings(task=task).milestones or ()
    order = np.random.default_rng(seed).permutation(len(others))
    return tuple(others[i] for i in order[:num_removed])


def milestones_left(task: str, num_removed: int, seed: int) -> tuple[str, ...]:
    """Return a task's milestones without some random ones."""
    removed = milestones_removed(task, num_removed, seed)
    return tuple(name for name in GridSettings(task=task).milestones or () if name not in removed)


def _on(task: str, methods: Iterable[str], suffix: str = "", **settings: Any) -> list[Variant]:
    return [Variant(task, method + suffix, method, settings) for method in methods]


def _milestones() -> tuple[Variant, ...]:
    removed = [
        Variant("iron", f"hal, {number} removed", "hal", num_removed=number)
        for number in range(1, 6)
    ]
    longer = [
        Variant("iron", f"{method}, 5 removed, twice as long", method, num_removed=5, times=2)
        for method in ("hal", "hr+her")
    ]
    return (*_on("iron", ("hal", "hr+her")), *removed, *longer)


def _stochastic() -> tuple[Variant, ...]:
    pair = ("hal", "hr+her")
    rates = [
        variant
        for name, rate in RATES.items()
        for variant in _on("iron", pair, f", p = {name}", disappear_rate=rate)
    ]
    return (*_on("iron", pair), *rates)


def _hyperparameters() -> tuple[Variant, ...]:
    sweeps = [
        Variant("treasure", f"hal, {name} = {value:g}", "hal", {name: value})
        for name, values in SWEEPS.items()
        for value in values
    ]
    return (*_on("treasure", ("hr+her",)), *sweeps)


def _sigma() -> tuple[Variant, ...]:
    rate: dict[str, Any] = {"disappear_rate": RATES["1/50"]}
    sigmas = [
        Variant("iron", f"hal, sigma = {value:g}", "hal", rate | {"sigma": value})
        for value in SIGMAS
    ]
    return (*_on("iron", ("hr+her",), ", p = 1/50", **rate), *sigmas)


def _agnostic() -> tuple[Variant, ...]:
    """To the plateau, and as long as the paper's."""
    pair: tuple[str, ...] = ("hal", "hr+her")
    settings: dict[str, Any] = {"is_agnostic": True}
    short = [Variant("diamond", f"{m}, 1M steps", m, settings, steps=1_000_000) for m in pair]
    return (*_on("diamond", pair, **settings), *short)


def _departures() -> tuple[Variant, ...]:
    scales = [
        Variant(task, f"hal, {preset}", "hal", preset=preset)
        for task in ("treasure", "iron")
        for preset in ("fast", "faithful")
    ]
    single = [
        Variant(task, f"hal, {name}", "hal", put_back(name), preset="fast")
        for name in DEPARTURES
        for task in ("treasure", "iron")
    ]
    return (*scales, *single)


def _at(preset: str, task: str, methods: Iterable[str]) -> list[Variant]:
    return [Variant(task, method, method, preset=preset) for method in methods]


EXPERIMENTS = {
    "learning": Experiment(
        "Learning efficacy",
        "Figure 4",
        (*_on("iron", LEARNING), *_on("treasure", LEARNING)),
    ),
    "milestones": Experiment("Incomplete milestone sets", "Figure 5, left", _milestones()),
    "stochastic": Experiment("Edge stochasticity", "Figure 5, right", _stochastic()),
    "agnostic": Experiment(
        "Task-agnostic learning",
        "Figure 6",
        _agnostic(),
    ),
    "components": Experiment(
        "Component ablations", "Appendix, components", tuple(_on("treasure", COMPONENTS))
    ),
    "hyperparameters": Experiment(
        "Hyperparameter robustness", "Appendix, hyperparameters", _hyperparameters()
    ),
    "sigma": Experiment("Sigma under stochasticity", "Appendix, sigma", _sigma()),
    "departures": Experiment(
        "Departures from the paper", "Table 3 and text", _departures(), num_seeds=3
    ),
    "faithful": Experiment(
        "The paper's algorithm at our scale",
        "Figure 4 and appendix, components",
        (*_at("faithful", "iron", ("hal", "hal-fnf")), *_at("faithful", "treasure", COMPONENTS)),
    ),
    "paper": Experiment(
        "The paper's own settings",
        "Figure 4, right",
        tuple(_at("paper", "treasure", ("hal", "hr+her"))),
        num_seeds=2,
    ),
}


def specs_of(
    experiment: str, num_seeds: int = 5, preset: str = "fast", steps: int | None = None
) -> list[RunSpec]:
    """Return an experiment's runs, one seed after the other."""
    if experiment not in EXPERIMENTS:
        legal = ", ".join((*EXPERIMENTS, "all"))
        raise ValueError(f"unknown experiment {experiment!r}; legal: {legal}")
    check_whole_number("seeds", num_seeds, 1, max(e.num_seeds for e in EXPERIMENTS.values()))
    return [
        RunSpec(experiment, variant, variant.config(seed, preset, steps))
        for seed in range(min(num_seeds, EXPERIMENTS[experiment].num_seeds))
        for variant in EXPERIMENTS[experiment].variants
    ]
