"""Presets of a config: the methods, and the scales `fast` (the defaults), `faithful`, `paper`."""

from typing import Any, NamedTuple

from hal.config.names import path_of
from hal.config.settings import Config, with_values
from hal.envs.external.find import is_external
from hal.envs.grid.rules import GAMES, game_of_task


class Method(NamedTuple):
    """A preset of the agent."""

    title: str
    switches: dict[str, Any]  # what it sets, by path


METHODS = {
    # Where the truth leaves but one subtask, nothing else gets an agent to a milestone unknown yet.
    "oracle": Method(
        "subtasks masked by the true affordances",
        {"affordances.mask": "oracle", "exploration.goal_anneal_events": 100},
    ),
    "hal": Method("subtasks masked by learned affordances (the paper's HAL)", {}),
    "halo": Method(
        "hal, and a flat policy that leads where it does better (ours)",
        {"options.has_task": True},
    ),
    "hal-fnf": Method("hal without the filter of false negatives", {"affordances.filter": "none"}),
    "hal-rai": Method(
        "hal whose classifier reads the raw state", {"affordances.classify_context": False}
    ),
    "hal-rt": Method(
        "hal whose classifier does not tune the context", {"affordances.tune_context": False}
    ),
    "hal-cl": Method("hal without the contrastive loss", {"affordances.use_contrast": False}),
    "hr": Method(
        "no mask, no hindsight (the paper's H-Rainbow)",
        {
            "affordances.mask": "none",
            "controller.use_hindsight": False,
            "meta.hindsight": False,
            "options.rarity": "none",
        },
    ),
    # Fewer random subtasks at first than others: by online success the better of two.
    "hr+her": Method(
        "no mask (H-Rainbow with hindsight)",
        {
            "affordances.mask": "none",
            "options.rarity": "none",
            "exploration.mask_epsilon": (0.0, 0.0),
        },
    ),
    "rainbow": Method(
        "no subtasks, a reward for each milestone's first time (the paper's Rainbow)",
        {"options.is_flat": True, "environment.reward": "dense", "affordances.mask": "none"},
    ),
}

# The paper's table of hyperparameters, and what its text says beside it.
PAPER: dict[str, Any] = {
    "environment.num_envs": 4,
    "options.max_steps": 50,
    "options.avoid_failed": False,
    "affordances.prune_unachieved": False,
    "options.rarity": "none",
    "exploration.anneal_share": 0.8,
    "replay.capacity": 512_000,
    "replay.warmup_steps": 400,
    "replay.batch_windows": 32,
    "replay.window": 10,
    "controller.trained_steps": 1,
    "controller.td_lambda": 1.0,
    "replay.prioritised": True,
    "networks.torso": "convolution",
    "controller.hidden_size": 512,
    "meta.hidden_size": 512,
    "affordances.hidden_size": 512,
    "affordances.context_size": 128,
    "affordances.count_scale": 1.0,
    "controller.learning_rate": 6.25e-4,
    "meta.learning_rate": 6.25e-4,
    "affordances.learning_rate": 6.25e-4,
    "networks.final_rate_share": 1.0,
    "networks.adam_eps": 1.5e-4,
    "networks.weight_decay": 1e-5,
    "networks.target_rate": 1.0,
    "networks.target_every": 1_000,
    "controller.every": 4,
    "controller.discount": 0.99,
    "controller.flat_discount": 0.99,
    "controller.step_penalty": 0.01,
    "controller.average_actions": False,
    "controller.double_q": True,
    "meta.every": 40,
    "meta.batch_size": 32,
    "meta.discount": 0.99,
    "meta.waits": False,
    "meta.hindsight": False,
    "meta.use_lower_bound": False,
    "meta.ignore_penalties": False,
    "meta.bootstrap_truncation": True,
    "meta.mask_target": False,
    "affordances.every": 40,
    "affordances.triplets": 32,
    "affordances.num_negatives": 1,
    "affordances.same_lane_share": 0.0,
    "affordances.weigh_failures": False,
    "affordances.knn_n": 1_000,
    "affordances.filter_percentile": 0.9,
    "affordances.filter_every": 600,
}
# How `fast` departs from the paper's algorithm: what belongs together, by path. All else that it
# differs in is compute: networks, lanes, batches, and how often what is trained.
DEPARTURES: dict[str, tuple[str, ...]] = {
    "10-step returns": (
        "replay.window",
        "replay.batch_windows",
        "controller.trained_steps",
        "controller.td_lambda",
    ),
    "priorities": ("replay.prioritised",),
    "double Q": ("controller.double_q",),
    "target copied": ("networks.target_rate", "networks.target_every"),
    "optimiser": ("networks.adam_eps", "networks.weight_decay", "networks.final_rate_share"),
    "discount 0.99": ("controller.discount", "meta.discount"),
    "step penalty": ("controller.step_penalty",),
    "options of 50 steps": ("options.max_steps",),
    "failed chosen again": ("options.avoid_failed",),
    "newest network judged": ("controller.average_actions",),
    "unachieved not pruned": ("affordances.prune_unachieved",),
    "uniform within the mask": ("options.rarity",),
    "greedy by steps": ("exploration.anneal_share",),
    "meta from the start": ("meta.waits",),
    "meta without hindsight": ("meta.hindsight",),
    "no lower bound": ("meta.use_lower_bound",),
    "penalties and truncation": ("meta.ignore_penalties", "meta.bootstrap_truncation"),
    "target over all": ("meta.mask_target",),
    "random negatives": ("affordances.num_negatives", "affordances.same_lane_share"),
    "counts unscaled": ("affordances.count_scale",),
    "failures in full": ("affordances.weigh_failures",),
    "filter at 90%": ("affordances.filter_percentile",),
}
# Of the paper's values those that go with its lanes and batches, for ours: 250 updates between
# copies, and windows for as many trained steps as 20 windows of 16 have.
ON_OUR_LANES = {"networks.target_every": 250 * 512, "replay.batch_windows": 320}
PAPER_STEPS = {"crafting": 6_000_000, "treasure": 4_000_000}  # 1.5M and 1M updates
# Environments that this package did not write take thousands of steps a second, not millions: the
# agent has the time to learn more from each.
EXTERNAL: dict[str, Any] = {
    "steps": 1_000_000,
    "environment.num_envs": 64,
    "environment.horizon": 10_000,
    "controller.every": 64,
    "meta.every": 64,
    "affordances.every": 128,
    "networks.target_every": 64,
    "networks.num_interests": 4,
    "exploration.controller_anneal_steps": 100_000,
    "exploration.meta_anneal_successes": 60,
    "replay.capacity": 500_000,
    "replay.warmup_steps": 2_000,
}
FOR_REWARD: dict[str, Any] = {  # without a task, and of some twenty milestones most are rare
    "meta.waits": False,  # what it has of a task is the reward, for firsts
    "exploration.meta_anneal_successes": 0,
    "exploration.mask_epsilon": (0.8, 0.2),
    "exploration.goal_anneal_events": 100,
    "options.explore_rare": True,
    "controller.stray_penalty": 0.1,
    "affordances.filter_confidence": 0.5,
    "affordances.filter_percentile": 0.9,
}
ADAPTED: dict[str, dict[str, Any]] = {
    # Most tries at what comes last fail at first: a mask that prunes at every doubt prunes it.
    # And a handful of subtasks do the task: going round in circles should cost.
    "minigrid": {"affordances.threshold": 0.2, "meta.discount": 0.8},
    "crafter": {  # a few hundred steps a second
        **FOR_REWARD,
        "environment.num_envs": 16,
        "controller.every": 16,
        "meta.every": 16,
        "networks.target_every": 16,
        "affordances.every": 32,
        "affordances.filter_every": 5_000,
    },
    "crafter/pixels": {
        "replay.capacity": 100_000,
        "meta.capacity": 1_000,
        "affordances.examples": 500,
    },
    "craftax": FOR_REWARD,
}
# How to train where there is no final milestone.
WITHOUT_TASK = "--is-agnostic, or --no-meta-waits --meta-anneal-successes 0 to learn for the reward"
STOCHASTIC_SIGMA = 2.0  # the paper's, where items disappear


def put_back(departure: str) -> dict[str, Any]:
    """Return the paper's values of what `fast` departs in, by path, on our lanes."""
    return {path: (PAPER | ON_OUR_LANES)[path] for path in DEPARTURES[departure]}


def make_config(task: str, method: str = "hal", preset: str = "fast", **overrides: Any) -> Config:
    """Return the config of a method at a scale, with some fields overridden.

    A field has its path or a plain name: `**{"meta.discount": 0.9}` is `meta_discount=0.9`.
    """
    if method not in METHODS:
        raise ValueError(f"unknown method {method!r}; legal methods: {', '.join(METHODS)}")
    wanted = {path_of(name): value for name, value in overrides.items()}
    values: dict[str, Any] = {"task": task, "method": method, "preset": preset}
    values |= _external(task, preset) if is_external(task) else _own(task, preset)
    if wanted.get("environment.disappear_rate"):
        values |= {"affordances.sigma": STOCHASTIC_SIGMA}
    if wanted.get("options.is_agnostic"):  # at random means uniformly, for every method
        values |= {"options.rarity": "none"}
    return with_values(Config(), values | METHODS[method].switches | wanted)


def _own(task: str, preset: str) -> dict[str, Any]:
    game = GAMES[game_of_task(task)]
    steps = {"steps": PAPER_STEPS[game.name]} if preset == "paper" else {}
    return {"environment.horizon": game.max_steps, **_scale(preset), **steps}


def _external(task: str, preset: str) -> dict[str, Any]:
    adapter = task.partition("/")[0]
    own = EXTERNAL | ADAPTED.get(adapter, {}) | ADAPTED.get(task, {})
    return own | _scale(preset)


def _scale(preset: str) -> dict[str, Any]:
    if preset == "faithful":
        return {path: value for name in DEPARTURES for path, value in put_back(name).items()}
    return PAPER if preset == "paper" else {}
