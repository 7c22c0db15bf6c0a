"""One run on disk: train, print progress, write metrics, keep the agent, evaluate."""

import json
from pathlib import Path
from typing import Any

from hal.agent.networks import device_of
from hal.checkpoint import save_agent, save_config, write_whole
from hal.config import Config
from hal.evaluate import evaluate
from hal.log import MetricsFile
from hal.train import Agent, train


def run_training(config: Config, num_episodes: int, folder: Path) -> dict[str, Any]:
    """Train and evaluate; leave config, metrics, weights and evaluation in a new folder."""
    check_episodes(num_episodes)
    device_of(config.device)
    if folder.exists():
        raise ValueError(f"{folder} exists already; choose another folder with --out")
    metrics = MetricsFile(folder / "metrics.jsonl")
    save_config(config, folder)

    def report(values: dict[str, Any], agent: Agent) -> None:
        metrics.write(values)
        print(progress_line(config, values), flush=True)

    agent = train(config, report, report_every=max(config.steps // 40, 1))
    metrics.close()
    save_agent(agent, folder)
    result = evaluate_agent(agent, num_episodes)
    text = json.dumps(result, indent=2) + "\n"
    write_whole(folder / "evaluation.json", lambda part: part.write_text(text, encoding="utf-8"))
    print(f"{success_line(result)}; see {folder}")
    return result


def evaluate_agent(agent: Agent, num_episodes: int) -> dict[str, Any]:
    """Return what a run was and how its agent does, greedily and in fresh episodes."""
    check_episodes(num_episodes)
    config = agent.config
    return {
        "task": config.task,
        "method": config.method,
        "preset": config.preset,
        "seed": config.seed,
        "steps": config.steps,
        "episodes": num_episodes,
        **evaluate(agent, num_episodes).summary(agent.milestones),
    }


def check_episodes(num_episodes: int) -> None:
    """Refuse to evaluate nothing."""
    if num_episodes < 1:
        raise ValueError(f"episodes {num_episodes}; legal: whole numbers from 1")


def success_line(result: dict[str, Any]) -> str:
    """Return the success rate with its interval, in one line."""
    return (
        f"greedy success {result['success']:.1%} (95% interval {result['success_low']:.1%}"
        f" to {result['success_high']:.1%}, {result['episodes']} episodes),"
        f" length {result['length']:.0f}"
    )


def evaluation_table(result: dict[str, Any], milestones: tuple[str, ...]) -> str:
    """Return an evaluation as lines: the success rate, the mask, and each milestone's coverage."""
    lines = [success_line(result)]
    if "mask/accuracy" in result:
        lines.append(
            f"mask accuracy {result['mask/accuracy']:.1%}, overpruned"
            f" {result.get('mask/overpruned', 0):.1%}, underpruned"
            f" {result.get('mask/underpruned', 0):.1%}"
        )
    lines += [f"{name:15} in {result[f'coverage/{name}']:6.1%} of episodes" for name in milestones]
    return "\n".join(lines)


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
