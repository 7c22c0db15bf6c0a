"""Everything that can be set about a run."""

import math
from dataclasses import dataclass, fields, replace
from importlib.util import find_spec
from typing import Annotated, Any

import numpy as np
from tyro.conf import Positional, arg

from hal.envs.options import REWARDS, Options, check_choice
from hal.envs.rules import DEFAULT_TASK

MOST_LANES = 1_000  # a run's lanes have seeds of their own; those of evaluation are above all
MOST_SEEDS = 1_000_000
EVALUATION_SEED = MOST_SEEDS * MOST_LANES  # above all seeds of training
RARITIES = {
    "inverse": "1 / (1 + how often it was collected)",
    "difference": "most often collected - how often it was + 1",
    "none": "all alike",
}
CHOICES: dict[str, tuple[str, ...]] = {
    "preset": ("fast", "paper"),
    "device": ("cpu", "cuda", "auto"),
    "mask": ("learned", "oracle", "none"),
    "torso": ("embedding", "convolution"),
    "rarity": tuple(RARITIES),
}
SHARES = (
    "controller_epsilon",
    "meta_epsilon",
    "mask_epsilon",
    "anneal_share",
    "event_share",
    "alpha",
    "importance",
    "same_lane_share",
    "final_rate_share",
    "target_rate",
    "discount",
    "flat_discount",
    "meta_discount",
    "trace",
    "step_penalty",
    "stray_penalty",
    "aff_threshold",
    "disappear_rate",
)
FROM_ZERO = (
    "goal_anneal_events",
    "seed",
    "weight_decay",
    "warmup_steps",
    "first_successes",
    "meta_anneal_successes",
)
INSIDE = ("fnf_conf", "fnf_perc")  # a bound that covers nothing or everything is none


@dataclass(frozen=True)
class Exploration:
    """Shares of random choices."""

    controller: float  # actions
    meta: float  # subtasks, among all
    mask: float  # subtasks, within the mask


# How to train where there is no final milestone.
WITHOUT_TASK = "--is-agnostic, or --no-meta-waits --meta-anneal-successes 0 to learn for the reward"
GREEDY = Exploration(controller=0.0, meta=0.0, mask=0.0)


@dataclass(frozen=True)
class Config:
    """A run's settings, by default the `fast` preset's. The comment of a field is its help text."""

    task: Annotated[Positional[str], arg(metavar="TASK")] = DEFAULT_TASK  # of `hal tasks`, or --env
    method: str = "hal"  # what it learns by, see `hal methods`
    preset: str = "fast"  # scale: fast (learns soonest on a core) or paper (the paper's settings)
    seed: int = 0  # of everything random
    steps: int = 3_000_000  # environment steps of training, over all lanes
    device: str = "cpu"  # cpu, cuda or auto

    # The environment
    num_lanes: int = 512  # environments stepped together
    horizon: int = 3630  # steps after which an episode of training is cut; the game's own
    milestones: tuple[str, ...] = ()  # the milestone set; all of the task's if empty
    disappear_rate: float = 0.0  # chance per step that a unit of a held item disappears
    reward: str = "sparse"  # sparse, or dense for the flat baseline

    # What a method is
    is_flat: bool = False  # no subtasks: one policy for the whole task
    is_agnostic: bool = False  # no task: subtasks are chosen at random, within the mask
    mask: str = "learned"  # which affordances prune subtasks: learned, oracle or none
    use_hindsight: bool = True  # steps also train the head of the milestone they led to
    use_filter: bool = True  # leave likely false negatives out of the classifier's examples
    use_contrast: bool = True  # train the context by the contrastive loss
    tune_context: bool = True  # let the classifier's loss change the context too
    classify_context: bool = True  # the classifier reads the context, not the raw state

    # Options
    max_option_steps: int = 25  # steps until an option times out
    avoid_failed: bool = True  # what timed out since a milestone is only chosen to explore
    prune_unachieved: bool = True  # the learned mask prunes what was never collected
    rarity: str = "inverse"  # weights of the mask's random choice: inverse, difference, none
    explore_rare: bool = False  # the random choice among all has these weights too

    # Exploration, from the first to the second value
    controller_epsilon: tuple[float, float] = (0.5, 0.05)  # random actions
    meta_epsilon: tuple[float, float] = (0.2, 0.05)  # random subtasks
    mask_epsilon: tuple[float, float] = (0.8, 0.0)  # random subtasks within the mask
    anneal_share: float = 0.0  # share of the run that all three take; 0: as the next four say
    controller_anneal_steps: int = 300_000  # environment steps from first to second
    goal_anneal_events: int = 0  # of a milestone, until actions towards it are as random as others
    first_successes: int = 10  # successes before the choice of subtasks gets greedier
    meta_anneal_successes: int = 300  # further ones until it is greediest; 0: by steps, as actions

    # Replay
    replay_steps: int = 1_024_000  # environment steps kept
    warmup_steps: int = 10_000  # environment steps before the first update
    batch_windows: int = 20  # runs of steps per controller update
    window: int = 16  # steps per run
    trained_steps: int = 16  # of each run, from its first; 1 and trace 1 are n-step returns
    event_share: float = 0.5  # share of the runs drawn around milestones
    prioritised: bool = False  # draw runs and options by their errors instead
    alpha: float = 0.4  # exponent of priorities
    importance: tuple[float, float] = (0.6, 1.0)  # exponent of their correction, over the run

    # Networks and optimisation
    torso: str = "embedding"  # how views are read: embedding or convolution
    width: int = 128  # of the controller's layers
    meta_width: int = 128  # of the meta-controller's layers
    context_width: int = 128  # of the context network's layers
    context_size: int = 32  # dimensions of a context
    count_scale: float = 3.0  # weight of counts in the context: few among many cells
    learning_rate: float = 4e-3  # of the controller
    meta_learning_rate: float = 1e-3  # of the meta-controller
    context_learning_rate: float = 3e-3  # of the context and the classifier
    final_rate_share: float = 0.1  # learning rates end at this share
    adam_eps: float = 1e-8  # Adam's small number
    weight_decay: float = 0.0  # Adam's L2 penalty
    clip: float = 10.0  # largest norm of a gradient
    target_rate: float = 0.01  # how far a target network moves when it does
    target_every: int = 512  # environment steps between its moves

    # Controller
    update_every: int = 512  # environment steps per update
    discount: float = 0.9  # per step, of the controller
    flat_discount: float = 0.97  # of the flat baseline, whose episodes are longer than options
    trace: float = 0.9  # lambda of the returns
    step_penalty: float = 0.0  # of the milestone reward, per step
    stray_penalty: float = 0.0  # of the milestone reward, for a milestone that was not pursued
    average_actions: bool = True  # evaluation acts by the target network, an average of the past
    double_q: bool = False  # the network picks the next action, its target judges it

    # Meta-controller
    meta_every: int = 512  # environment steps per update
    meta_batch: int = 256  # transitions per update
    meta_replay: int = 100_000  # transitions kept
    meta_discount: float = 0.95  # per option, of the meta-controller
    meta_waits: bool = True  # not trained before the first success
    meta_hindsight: bool = True  # options are stored as if what they collected had been intended
    use_lower_bound: bool = True  # the return of a success bounds its options' values from below
    ignore_penalties: bool = True  # negative rewards do not count: the discount makes it hurry
    bootstrap_truncation: bool = False  # a truncated episode has a future for the meta-controller

    # Affordances
    context_every: int = 1024  # environment steps per update of context and classifier
    triplets: int = 128  # anchors per update
    num_negatives: int = 4  # candidates per anchor, the hardest counts
    same_lane_share: float = 0.6  # share of the negatives from the anchor's own lane
    sigma: float = 7.0  # distance in time of contrastive positives
    triplet_margin: float = 1.0  # by which negatives must be further than positives
    examples: int = 4_000  # labelled states kept per milestone and label
    classifier_batch: int = 32  # examples per head and update, half of them positives
    weigh_failures: bool = True  # negatives count no more than options fail
    aff_threshold: float = 0.5  # a milestone is afforded above this probability
    knn_n: int = 500  # states in the filter's population, and as many reference ones
    knn_k: int = 1  # nearest neighbours whose distance counts
    fnf_conf: float = 0.95  # confidence of the filter's bound
    fnf_perc: float = 0.98  # share of positives that the bound covers
    filter_every: int = 20_000  # environment steps between refreshed bounds

    def __post_init__(self) -> None:
        """Refuse values that make no sense, before anything is made."""
        self._check_env()
        for name, legal in CHOICES.items():
            if getattr(self, name) not in legal:
                value = getattr(self, name)
                raise ValueError(f"unknown {name} {value!r}; legal: {', '.join(legal)}")
        for field in fields(self):
            _check_type(field.name, getattr(self, field.name), field.default)
            _check_range(field.name, getattr(self, field.name))
        if self.num_lanes > MOST_LANES:
            raise ValueError(f"num_lanes {self.num_lanes}; legal: up to {MOST_LANES}")
        if self.seed >= MOST_SEEDS:
            raise ValueError(f"seed {self.seed}; legal: below {MOST_SEEDS}")
        fewest = self.num_lanes * (max(self.window, self.max_option_steps) + 2)
        if self.replay_steps < fewest:
            raise ValueError(f"replay_steps {self.replay_steps}; legal: from {fewest}")
        if self.trained_steps > self.window:
            value = self.trained_steps
            raise ValueError(f"trained_steps {value}; legal: up to the window, {self.window}")
        if self.classifier_batch % 2:
            raise ValueError(f"classifier_batch {self.classifier_batch}; legal: even numbers")

    def _check_env(self) -> None:
        if not is_foreign(self.task):
            self.env_options()
            return
        check_choice("reward", self.reward, REWARDS)
        if self.disappear_rate != 0:
            raise ValueError(f"disappear_rate {self.disappear_rate} in {self.task}; legal: 0")

    def env_options(self) -> Options:
        """Return what the environment is made with for training."""
        return Options(
            task=self.task,
            milestones=self.milestones or None,
            disappear_rate=self.disappear_rate,
            max_steps=self.horizon,
            reward=self.reward,
        )

    def play_options(self) -> Options:
        """Return what it is made with to judge or watch an agent: the game to its full length."""
        return replace(self.env_options(), max_steps=None, reward="sparse")

    @property
    def anneals_by_success(self) -> bool:
        """Whether the choice of subtasks gets greedier with successes, not with steps."""
        by_steps = self.is_agnostic or self.meta_anneal_successes == 0 or self.anneal_share > 0
        return not by_steps

    def is_due(self, every: int, num_vector_steps: int) -> bool:
        """Tell whether so many environment steps have passed, to a step of all lanes."""
        return num_vector_steps % max(every // self.num_lanes, 1) == 0

    def beta(self, num_steps: int) -> float:
        """Return the exponent of importance weights after so many steps."""
        return between(self.importance, num_steps / self.steps / (self.anneal_share or 1.0))

    def goal_epsilon(self, num_steps: int, num_events: np.ndarray) -> np.ndarray:
        """Return the share of random actions by subtask, after so many steps and events of each."""
        by_steps = self.exploration(num_steps, 0).controller
        if self.goal_anneal_events == 0 or self.anneal_share > 0:
            return np.full(num_events.size, by_steps)
        first, last = self.controller_epsilon
        by_events = first + (last - first) * np.minimum(num_events / self.goal_anneal_events, 1.0)
        return np.maximum(by_steps, by_events)

    def exploration(self, num_steps: int, num_successes: int) -> Exploration:
        """Return the shares of random choices after so many steps and successes."""
        by_steps = num_steps / self.controller_anneal_steps
        if self.anneal_share > 0:
            by_steps = num_steps / self.steps / self.anneal_share
        by_successes = by_steps
        if self.anneals_by_success:
            by_successes = max(num_successes - self.first_successes, 0) / self.meta_anneal_successes
        return Exploration(
            between(self.controller_epsilon, by_steps),
            between(self.meta_epsilon, by_successes),
            between(self.mask_epsilon, by_successes),
        )


def is_foreign(task: str) -> bool:
    """Tell whether a task is an environment not of this package: module:function, or an adapter."""
    adapter = task.partition("/")[0]
    is_name = adapter.isidentifier() and not adapter.startswith("_")
    has_adapter = is_name and find_spec(f"hal.adapters.{adapter}") is not None
    return ":" in task or has_adapter


def _check_type(name: str, value: Any, default: Any) -> None:
    """Refuse a value of another kind than the default's; a whole number may be a decimal one."""
    kinds = int | float if isinstance(default, float) else type(default)
    is_pair = isinstance(default, tuple) and len(default) == 2
    is_bad = isinstance(value, bool) != isinstance(default, bool) or not isinstance(value, kinds)
    if is_bad or (is_pair and len(value) != 2):
        like = "a pair of numbers" if is_pair else f"like {default!r}"
        raise ValueError(f"{name} {value!r}; legal: {like}")


def _check_range(name: str, value: Any) -> None:
    if isinstance(value, bool | str):
        return
    for number in value if isinstance(value, tuple) else (value,):
        if isinstance(number, str):
            continue
        if not math.isfinite(number):
            raise ValueError(f"{name} {value}; legal: finite numbers")
        if name in SHARES and not 0 <= number <= 1:
            raise ValueError(f"{name} {value}; legal: from 0 to 1")
        if name in FROM_ZERO and not number >= 0:
            raise ValueError(f"{name} {value}; legal: from 0")
        if name in INSIDE and not 0 < number < 1:
            raise ValueError(f"{name} {value}; legal: between 0 and 1")
        if name not in (*SHARES, *FROM_ZERO, *INSIDE) and not number > 0:
            raise ValueError(f"{name} {value}; legal: above 0")


def between(ends: tuple[float, float], progress: float) -> float:
    """Return what lies between two values after a share of the way, 1 and above being the end."""
    return ends[0] + (ends[1] - ends[0]) * min(progress, 1.0)
