"""What runs are worth: numbers from their lines."""

import math

import numpy as np

from benchmarks.learn import reached
from benchmarks.others.running import Lines
from hal.envs.external.adapters.crafter import NUM_ACHIEVEMENTS, score

LEVEL = 0.8  # of success, held in two evaluations in a row
LATE = 100_000  # steps at a run's end
RARE = "make_iron_pickaxe"

Measures = dict[str, float]  # those that a run has; infinite is what it has not reached

TITLES = {
    "steps": "steps to 80% with 5% exploration",
    "seconds": "CPU seconds to the same",
    "greedy_steps": "steps to 80%, greedy",
    "online": "online success at the end",
    "e05": "success with 5% exploration at the end",
    "e0": "success, greedy, at the end",
    "length": "steps of a greedy success",
    "mask": "mask accuracy by the rules",
    "score": "score over all episodes, %",
    "reward": "achievements per episode",
    "late_reward": "achievements per episode in the last 100k steps",
    "late_rare": f"episodes with {RARE} in the last 100k steps",
    "cpu": "CPU seconds of training",
}


def measures_of(lines: Lines) -> Measures:
    """Return what there is to say of a whole run."""
    end = lines[-1]
    of_its_kind = _of_a_task(lines) if "e0" in end else _of_achievements(lines)
    return {**of_its_kind, "cpu": end["cpu_seconds"]}


def _of_a_task(lines: Lines) -> Measures:
    end = lines[-1]
    hit, greedy = reached(lines, "e05", LEVEL), reached(lines, "e0", LEVEL)
    measures = {
        "steps": hit["steps"] if hit else math.inf,
        "seconds": hit["cpu_seconds"] if hit else math.inf,
        "greedy_steps": greedy["steps"] if greedy else math.inf,
        **{name: end[name] for name in ("online", "e05", "e0")},
    }
    others = {"length": "e0_length", "mask": "e05_mask"}
    return measures | {name: end[key] for name, key in others.items() if key in end}


def _of_achievements(lines: Lines) -> Measures:
    late = [line for line in lines if line["steps"] > lines[-1]["steps"] - LATE]
    rates, late_rates = rates_of(lines), rates_of(late)
    measures = {"reward": sum(rates.values()), "late_reward": sum(late_rates.values())}
    if RARE in rates:
        measures["late_rare"] = late_rates[RARE]
    if len(rates) == NUM_ACHIEVEMENTS:
        measures["score"] = score(np.array(list(rates.values())))
    return measures


def rates_of(lines: Lines) -> dict[str, float]:
    """Return the share of the episodes with each milestone."""
    num_episodes = max(sum(line["episodes"] for line in lines), 1)
    names = lines[0]["achieved"]
    return {name: sum(line["achieved"][name] for line in lines) / num_episodes for name in names}
