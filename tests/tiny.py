"""Runs that take seconds; `python -m tests.tiny` is `hal` with experiments of such runs."""

import signal
from dataclasses import replace
from functools import partial
from typing import Any

import hal.experiments.costs
import hal.runs.lifecycle
from hal.cli.entry import main
from hal.experiments.suite import BUDGETS, EXPERIMENTS, Experiment

TINY: dict[str, Any] = {
    "num_lanes": 16,
    "steps": 2_400,
    "warmup_steps": 500,
    "replay_steps": 1_000,  # is overwritten within the run
    "meta_replay": 100,
    "examples": 200,
    "filter_every": 200,
    "width": 16,
    "meta_width": 16,
    "context_width": 16,
    "context_size": 4,
    "knn_n": 20,
    "triplets": 16,
    "classifier_batch": 8,
    "horizon": 60,
    "update_every": 32,
    "target_every": 32,
    "meta_every": 32,
    "context_every": 32,
    "meta_waits": False,
}


def shrunk(name: str, which: slice) -> Experiment:
    """Return some of an experiment's variants with small networks on an easy task."""
    settings = {name: value for name, value in TINY.items() if name != "steps"}
    experiment = EXPERIMENTS[name]
    variants = tuple(
        replace(
            variant,
            task="stick",
            settings={**variant.settings, **settings},
            num_removed=min(variant.num_removed, 1),
            preset="",
            steps=0,
        )
        for variant in experiment.variants[which]
    )
    return replace(experiment, variants=variants)


if __name__ == "__main__":
    # A shell has what it runs in the background ignore Ctrl-C, tests of it among that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    BUDGETS["stick"] = TINY["steps"]
    EXPERIMENTS.update({name: shrunk(name, slice(2)) for name in EXPERIMENTS})
    # Kept as often as can be, so that whatever stops a run finds a checkpoint.
    hal.runs.lifecycle.Keeping = partial(hal.runs.lifecycle.Keeping, checkpoint_seconds=0.3)  # type: ignore[assignment,misc]
    # Nor is it told what runs cost, as to measure that costs more than the runs.
    hal.experiments.costs.calibrate = lambda presets: {}  # type: ignore[attr-defined]
    main()
