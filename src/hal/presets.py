"""Presets of a config: the methods, and two scales, `fast` (the defaults) and `paper`."""

from dataclasses import fields
from typing import Any

from hal.config import Config, is_foreign
from hal.envs.rules import GAMES, game_of_task

METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    # Where the truth leaves but one subtask, nothing else gets an agent to a milestone unknown yet.
    "oracle": (
        "subtasks masked by the true affordances",
        {"mask": "oracle", "goal_anneal_events": 100},
    ),
    "hal": ("subtasks masked by learned affordances (the paper's HAL)", {}),
    "hal-fnf": ("hal without the filter of false negatives", {"use_filter": False}),
    "hal-rai": ("hal whose classifier reads the raw state", {"classify_context": False}),
    "hal-rt": ("hal whose classifier does not tune the context", {"tune_context": False}),
    "hal-cl": ("hal without the contrastive loss", {"use_contrast": False}),
    "hr": (
        "no mask, no hindsight (the paper's H-Rainbow)",
        {"mask": "none", "use_hindsight": False, "meta_hindsight": False, "rarity": "none"},
    ),
    "hr+her": ("no mask (H-Rainbow with hindsight)", {"mask": "none", "rarity": "none"}),
    "rainbow": (
        "no subtasks, a reward for each milestone's first time (the paper's Rainbow)",
        {"is_flat": True, "reward": "dense", "mask": "none"},
    ),
}

# Table 3 of the paper, and what its text says beside it.
PAPER: dict[str, Any] = {
    "num_lanes": 4,
    "max_option_steps": 50,
    "avoid_failed": False,
    "prune_unachieved": False,
    "rarity": "difference",
    "anneal_share": 0.8,
    "replay_steps": 512_000,
    "warmup_steps": 400,
    "batch_windows": 32,
    "window": 10,
    "trained_steps": 1,
    "trace": 1.0,
    "prioritised": True,
    "torso": "convolution",
    "width": 512,
    "meta_width": 512,
    "context_width": 512,
    "context_size": 128,
    "count_scale": 1.0,
    "learning_rate": 6.25e-4,
    "meta_learning_rate": 6.25e-4,
    "context_learning_rate": 6.25e-4,
    "final_rate_share": 1.0,
    "adam_eps": 1.5e-4,
    "weight_decay": 1e-5,
    "target_rate": 1.0,
    "target_every": 1_000,
    "update_every": 4,
    "discount": 0.99,
    "flat_discount": 0.99,
    "step_penalty": 0.01,
    "average_actions": False,
    "double_q": True,
    "meta_every": 40,
    "meta_batch": 32,
    "meta_discount": 0.99,
    "meta_waits": False,
    "meta_hindsight": False,
    "use_lower_bound": False,
    "ignore_penalties": False,
    "bootstrap_truncation": True,
    "context_every": 40,
    "triplets": 32,
    "num_negatives": 1,
    "same_lane_share": 0.0,
    "weigh_failures": False,
    "knn_n": 1_000,
    "fnf_perc": 0.9,
    "filter_every": 600,
}
PAPER_STEPS = {"crafting": 6_000_000, "treasure": 4_000_000}  # 1.5M and 1M updates
# Environments that this package did not write take thousands of steps a second, not millions: the
# agent has the time to learn more from each.
FOREIGN: dict[str, Any] = {
    "steps": 1_000_000,
    "num_lanes": 64,
    "horizon": 10_000,
    "update_every": 64,
    "meta_every": 64,
    "context_every": 128,
    "target_every": 64,
    "controller_anneal_steps": 100_000,
    "meta_anneal_successes": 60,
    "replay_steps": 500_000,
    "warmup_steps": 2_000,
}
ADAPTED: dict[str, dict[str, Any]] = {
    # Most tries at what comes last fail at first: a mask that prunes at every doubt prunes it.
    # And a handful of subtasks do the task: going round in circles should cost.
    "minigrid": {"aff_threshold": 0.2, "meta_discount": 0.8},
    "crafter": {  # a few hundred steps a second, and 22 milestones, most of them rare
        "meta_waits": False,  # what it has of a task is its reward, for firsts
        "meta_anneal_successes": 0,
        "mask_epsilon": (0.8, 0.2),
        "explore_rare": True,
        "stray_penalty": 0.1,
        "fnf_conf": 0.5,
        "fnf_perc": 0.9,
        "num_lanes": 16,
        "update_every": 16,
        "meta_every": 16,
        "target_every": 16,
        "context_every": 32,
        "filter_every": 5_000,
        "goal_anneal_events": 100,
    },
    "crafter/pixels": {"replay_steps": 100_000, "meta_replay": 1_000, "examples": 500},
}
STOCHASTIC_SIGMA = 2.0  # the paper's, where items disappear


def make_config(task: str, method: str = "hal", preset: str = "fast", **overrides: Any) -> Config:
    """Return the config of a method at a scale, with some fields overridden."""
    if method not in METHODS:
        raise ValueError(f"unknown method {method!r}; legal methods: {', '.join(METHODS)}")
    legal = [field.name for field in fields(Config)]
    for name in overrides:
        if name not in legal:
            raise ValueError(f"unknown field {name!r}; legal fields: {', '.join(legal)}")
    settings: dict[str, Any] = {"task": task, "method": method, "preset": preset}
    settings |= _foreign(task, preset) if is_foreign(task) else _own(task, preset)
    if overrides.get("disappear_rate"):
        settings |= {"sigma": STOCHASTIC_SIGMA}
    _, switches = METHODS[method]
    return Config(**(settings | switches | overrides))


def _own(task: str, preset: str) -> dict[str, Any]:
    game = GAMES[game_of_task(task)]
    scale = PAPER | {"steps": PAPER_STEPS[game.name]} if preset == "paper" else {}
    return {"horizon": game.max_steps, **scale}


def _foreign(task: str, preset: str) -> dict[str, Any]:
    adapter = task.partition("/")[0]
    scale = PAPER if preset == "paper" else {}
    return FOREIGN | ADAPTED.get(adapter, {}) | ADAPTED.get(task, {}) | scale
