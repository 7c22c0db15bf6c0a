"""Curves of all runs, along steps and along CPU seconds."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from benchmarks.others.running import Lines
from hal.experiments.curves import COLOURS, SECONDS, STEPS, mean_curve

ALONG = {STEPS: "steps", SECONDS: "CPU seconds of training"}
ACHIEVED = "achieved_per_episode"


def draw(runs: Mapping[str, Mapping[str, list[Lines]]], path: Path) -> None:
    """Draw runs by testbed and method: online success, or achievements where there is no task."""
    figure = Figure(figsize=(10, 2.8 * len(runs)), layout="constrained")
    panels = figure.subplots(len(runs), 2, squeeze=False, sharey="row")
    for row, (testbed, methods) in zip(panels, runs.items(), strict=True):
        has_task = any("e0" in lines[-1] for each in methods.values() for lines in each)
        for panel, along in zip(row, ALONG, strict=True):
            for method, each in methods.items():
                _draw_method(panel, method, each, "online" if has_task else ACHIEVED, along)
            panel.set_xlabel(ALONG[along])
        row[0].set_title(testbed, loc="left")
        row[0].set_ylabel("online success" if has_task else "achievements per episode")
    panels[0, 0].legend()
    figure.savefig(path, dpi=120)


def _draw_method(panel: Any, method: str, runs: list[Lines], name: str, along: str) -> None:
    told = [[{**line, ACHIEVED: _achieved(line)} for line in lines] for lines in runs]
    curve = mean_curve(told, name, along)
    panel.plot(curve.steps, curve.mean, color=COLOURS.get(method, "grey"), label=method)
    panel.fill_between(
        curve.steps, curve.low, curve.high, color=COLOURS.get(method, "grey"), alpha=0.15, lw=0
    )


def _achieved(line: Mapping[str, Any]) -> float:
    return sum(line["achieved"].values()) / line["episodes"] if line["episodes"] else np.nan
