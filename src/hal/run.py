"""One run on disk: train, print progress, write metrics, evaluate."""

import json
import os
from pathlib import Path
from typing import Any

from hal.config import Config
from hal.evaluate import evaluate
from hal.log import MetricsFile
from hal.train import Agent, train


def run_training(config: Config, num_episodes: int, folder: Path) -> dict[str, Any]:
    """Train and evaluate; leave `metrics.jsonl` and `evaluation.json` in a new folder."""
    if num_episodes < 1:
        raise ValueError(f"episodes {num_episodes}; legal: whole numbers from 1")
    if folder.exists():
        raise ValueError(f"{folder} exists already; choose another folder with --out")
    metrics = MetricsFile(folder / "metrics.jsonl")

    def report(values: dict[str, Any], agent: Agent) -> None:
        metrics.write(values)
        print(progress_line(config, values), flush=True)

    agent = train(config, report, report_every=max(config.steps // 40, 1))
    metrics.close()
    result = {
        "task": config.task,
        "method": config.method,
        "seed": config.seed,
        "steps": config.steps,
        "episodes": num_episodes,
        **evaluate(agent, num_episodes).summary(agent.milestones),
    }
    write_json(folder / "evaluation.json", result)
    print(
        f"greedy success {result['success']:.1%} (95% interval {result['success_low']:.1%}"
        f" to {result['success_high']:.1%}, {num_episodes} episodes),"
        f" length {result['length']:.0f}; see {folder}"
    )
    return result


def progress_line(config: Config, values: dict[str, Any]) -> str:
    """Return the most telling metrics in one line."""
    parts = [
        f"{values['steps'] / config.steps:4.0%}",
        f"{values['steps']:,} steps",
        f"{values['steps_per_second']:,}/s",
        f"online success {values.get('episode/success', 0):.2f}",
        f"subpolicy success {values.get('subpolicy/success', 0):.2f}",
    ]
    if "mask/accuracy" in values and config.mask == "learned":
        parts.append(f"mask accuracy {values['mask/accuracy']:.2f}")
    return "  ".join(parts)


def write_json(path: Path, values: dict[str, Any]) -> None:
    """Write a file all or nothing."""
    part = path.with_name(path.name + ".part")
    part.write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")
    os.replace(part, path)
