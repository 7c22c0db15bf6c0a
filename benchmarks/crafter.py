"""Crafter's score of HAL, over all episodes of 1M steps of training: `make bench-others`.

Published figures are of agents that see pixels (or are people) and are not told of achievements;
ours sees symbols and is told, which counts as external knowledge on Crafter's scoreboard.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro

from hal.config.presets import make_config
from hal.envs.external.adapters.crafter import score
from hal.runs.training import Training

PUBLISHED = {  # percent
    "random": 1.6,
    "Rainbow": 4.3,
    "PPO": 4.6,
    "DreamerV2": 10.0,
    "DreamerV3": 14.5,
    "Achievement Distillation": 21.8,
    "human": 50.5,
}


@dataclass(frozen=True)
class Bench:
    """Which run."""

    env: str = "crafter/symbolic"
    """The environment."""
    method: str = "hal"
    """The method."""
    seed: int = 0
    """Seed."""
    steps: int = 1_000_000
    """Environment steps, as the scoreboard has it."""
    every: int = 50_000
    """Environment steps between two lines."""
    out: Path = Path("results/crafter")
    """Where the lines are kept."""


class EpisodeLog:
    """What every episode of training has achieved."""

    def __init__(self, num_lanes: int, num_milestones: int) -> None:
        self.present = np.zeros((num_lanes, num_milestones), dtype=np.bool_)
        self.is_resetting = np.zeros(num_lanes, dtype=np.bool_)
        self.num_episodes = 0
        self.counts = np.zeros(num_milestones)

    def add(self, collected: np.ndarray, has_ended: np.ndarray) -> None:
        """Count a step; what the step that only resets says is no episode's."""
        self.present |= collected & ~self.is_resetting[:, np.newaxis]
        self.counts += self.present[has_ended].sum(axis=0)
        self.num_episodes += int(has_ended.sum())
        self.present[has_ended] = False
        self.is_resetting = has_ended.copy()

    @property
    def rates(self) -> np.ndarray:
        """Shares of the episodes that achieved each."""
        return self.counts / max(self.num_episodes, 1)


def lines_of(bench: Bench) -> Iterator[dict[str, Any]]:
    """Train, and yield rates and score of all episodes so far."""
    config = make_config(bench.env, bench.method, seed=bench.seed, steps=bench.steps)
    training = Training(config, bench.every)
    log = EpisodeLog(config.environment.num_envs, len(training.agent.milestones))
    while not training.is_done:
        training.step()
        log.add(training.info["milestones"], training.agent.is_resetting)
        metrics = training.report()
        if metrics is not None:
            rates = dict(zip(training.agent.milestones, log.rates.tolist(), strict=True))
            yield {
                "steps": metrics["steps"],
                "cpu_seconds": metrics["cpu_seconds"],
                "episodes": log.num_episodes,
                "score": score(log.rates),
                "score_lately": score(
                    [metrics[f"episode/coverage/{name}"] for name in training.agent.milestones]
                ),
                "rates": rates,
            }


def table(bench: Bench, line: dict[str, Any]) -> str:
    """Return a run's last line beside the published scores."""
    rows = [f"{name:28}{rate:8.1%}" for name, rate in line["rates"].items()]
    ours = f"{bench.method}, {bench.env}"
    rows += ["", f"{ours:28}{line['score']:7.1f}%  told of achievements: external knowledge"]
    rows += ["", "published, from pixels, not told of achievements:"]
    rows += [f"  {name:26}{value:7.1f}%" for name, value in PUBLISHED.items()]
    return "\n".join(rows)


def main(bench: Bench) -> None:
    """Train, keep a line now and then, and print the table."""
    bench.out.mkdir(parents=True, exist_ok=True)
    name = f"{bench.env.partition('/')[2]}-{bench.method}-{bench.seed}"
    path = bench.out / f"{name}.jsonl"
    path.unlink(missing_ok=True)
    line: dict[str, Any] = {}
    for line in lines_of(bench):
        with path.open("a") as file:
            file.write(json.dumps(line) + "\n")
        print(
            f"{line['steps']:,} steps, {line['cpu_seconds']:,.0f} s: {line['score']:.1f}%",
            flush=True,
        )
    (bench.out / f"{name}.txt").write_text(table(bench, line) + "\n")
    print(table(bench, line))


if __name__ == "__main__":
    main(tyro.cli(Bench))
