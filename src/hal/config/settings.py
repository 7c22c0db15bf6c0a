"""Everything that can be set about a run, in the groups of those who use it.

A field's comment is its help text, its annotation says what is legal. The defaults are the `fast`
preset's; `presets.py` has the others.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from typing import Annotated, Any

from hal.config.ranges import (
    Choice,
    Count,
    CountOrNone,
    Inside,
    NotNegative,
    Positive,
    Share,
    Shares,
    check_field,
    kinds_of,
)
from hal.envs.external.find import check_name, is_external
from hal.envs.grid.rules import DEFAULT_TASK
from hal.envs.grid.settings import REWARDS, GridSettings

MOST_ENVS = 1_000  # a run's lanes have seeds of their own; those of evaluation are above all
MOST_SEEDS = 1_000_000
EVALUATION_SEED = MOST_SEEDS * MOST_ENVS  # above all seeds of training

PRESETS = ("fast", "faithful", "paper")
Preset = Annotated[str, Choice(PRESETS)]
Device = Annotated[str, Choice(("cpu", "cuda", "auto"))]
Reward = Annotated[str, Choice(REWARDS)]
Rarity = Annotated[str, Choice(("inverse", "difference", "none"))]
Torso = Annotated[str, Choice(("embedding", "convolution"))]
Mask = Annotated[str, Choice(("learned", "oracle", "none"))]
FilterName = Annotated[str, Choice(("tolerance", "none"))]


@dataclass(frozen=True)
class EnvironmentSettings:
    """What is trained in."""

    num_envs: Count = 512  # environments stepped together
    horizon: Count = 3630  # steps after which an episode of training is cut; the game's own
    milestones: tuple[str, ...] = ()  # the milestone set; all of the task's if empty
    disappear_rate: Share = 0.0  # chance per step that a unit of a held item disappears
    reward: Reward = "sparse"  # sparse, or dense for the flat baseline


@dataclass(frozen=True)
class OptionSettings:
    """What an option is, and how the next subtask is chosen."""

    is_flat: bool = False  # no subtasks: one policy for the whole task
    is_agnostic: bool = False  # no task: subtasks are chosen at random, within the mask
    max_steps: Count = 25  # steps until an option times out
    avoid_failed: bool = True  # what timed out since a milestone is only chosen to explore
    # weights of the mask's random choice: inverse (1 / (1 + how often it was collected)),
    # difference (most often collected - how often it was + 1), none (all alike)
    rarity: Rarity = "inverse"
    explore_rare: bool = False  # the random choice among all has these weights too
    has_task: bool = False  # a flat policy for the whole task leads where it brings more
    # least share of stints (episodes, or 500 steps) for either of the two
    trailing_share: Share = 0.1


@dataclass(frozen=True)
class ExplorationSettings:
    """Shares of random choices, from the first to the second value."""

    controller_epsilon: Shares = (0.5, 0.05)  # random actions
    meta_epsilon: Shares = (0.2, 0.05)  # random subtasks
    mask_epsilon: Shares = (0.8, 0.0)  # random subtasks within the mask
    anneal_share: Share = 0.0  # share of the run that all three take; 0: as the next four say
    controller_anneal_steps: Count = 300_000  # environment steps from first to second
    # of a milestone, until actions towards it are as random as others
    goal_anneal_events: CountOrNone = 0
    first_successes: CountOrNone = 10  # successes before the choice of subtasks gets greedier
    meta_anneal_successes: CountOrNone = 300  # further ones until it is greediest; 0: by steps


@dataclass(frozen=True)
class ReplaySettings:
    """What is remembered of steps, and what is drawn from that."""

    capacity: Count = 1_024_000  # environment steps kept
    warmup_steps: CountOrNone = 10_000  # environment steps before the first update
    batch_windows: Count = 20  # windows of steps per controller update
    window: Count = 16  # steps in a row
    event_share: Share = 0.5  # share of the windows drawn around milestones
    prioritised: bool = False  # draw windows and options by their errors instead
    alpha: Share = 0.4  # exponent of priorities
    importance: Shares = (0.6, 1.0)  # exponent of their correction, over the run


@dataclass(frozen=True)
class NetworkSettings:
    """How networks read observations and are trained."""

    torso: Torso = "embedding"  # how views are read: embedding or convolution
    num_interests: Count = 1  # ways in which a goal weighs codes, alike in all places (embedding)
    final_rate_share: Share = 0.1  # learning rates end at this share
    adam_eps: Positive = 1e-8  # Adam's small number
    weight_decay: NotNegative = 0.0  # Adam's L2 penalty
    max_grad_norm: Positive = 10.0  # largest norm of a gradient
    target_rate: Share = 0.01  # how far a target network moves when it does
    target_every: Count = 512  # environment steps between its moves


@dataclass(frozen=True)
class ControllerSettings:
    """Actions that pursue a subtask."""

    every: Count = 512  # environment steps per update
    hidden_size: Count = 128  # of its layers
    learning_rate: Positive = 4e-3  # at first
    discount: Share = 0.9  # per step
    flat_discount: Share = 0.97  # of the flat baseline, whose episodes are longer than options
    td_lambda: Share = 0.9  # of the returns
    trained_steps: Count = 16  # of each window, from its first; 1 and td_lambda 1: n-step returns
    step_penalty: Share = 0.0  # of the milestone reward, per step
    stray_penalty: Share = 0.0  # of the milestone reward, for a milestone that was not pursued
    use_hindsight: bool = True  # steps also train the head of the milestone they led to
    average_actions: bool = True  # evaluation acts by the target network, an average of the past
    double_q: bool = False  # the network picks the next action, its target judges it


@dataclass(frozen=True)
class MetaSettings:
    """Values of subtasks."""

    every: Count = 512  # environment steps per update
    hidden_size: Count = 128  # of its layers
    learning_rate: Positive = 1e-3  # at first
    batch_size: Count = 256  # transitions per update
    capacity: Count = 100_000  # transitions kept
    discount: Share = 0.95  # per option
    step_discount: Share = 1.0  # of an option's rewards and its future, per step
    waits: bool = True  # not trained before the first success
    hindsight: bool = True  # options are stored as if what they collected had been intended
    use_lower_bound: bool = True  # the return of a success bounds its options' values from below
    ignore_penalties: bool = True  # negative rewards do not count: the discount makes it hurry
    bootstrap_truncation: bool = False  # a truncated episode has a future
    mask_target: bool = True  # the best next subtask is looked for within the mask, not among all


@dataclass(frozen=True)
class AffordanceSettings:
    """What is possible: context, classifier, filter of false negatives, mask."""

    mask: Mask = "learned"  # which affordances prune subtasks: learned, oracle or none
    threshold: Share = 0.5  # a milestone is afforded above this probability
    prune_unachieved: bool = True  # the learned mask prunes what was never collected
    use_contrast: bool = True  # train the context by the contrastive loss
    tune_context: bool = True  # let the classifier's loss change the context too
    classify_context: bool = True  # the classifier reads the context, not the raw state
    every: Count = 1024  # environment steps per update of context and classifier
    hidden_size: Count = 128  # of the context network's layers
    context_size: Count = 32  # dimensions of a context
    count_scale: Positive = 3.0  # weight of counts in the context: few among many cells
    learning_rate: Positive = 3e-3  # at first
    triplets: Count = 128  # anchors per update
    num_negatives: Count = 4  # candidates per anchor, the hardest counts
    same_lane_share: Share = 0.6  # share of the negatives from the anchor's own lane
    sigma: Positive = 7.0  # distance in time of contrastive positives
    triplet_margin: Positive = 1.0  # by which negatives must be further than positives
    examples: Count = 4_000  # labelled states kept per milestone and label
    classifier_batch: Count = 32  # examples per head and update, half of them positives
    weigh_failures: bool = True  # negatives count no more than options fail
    # what leaves likely false negatives out of the classifier's examples: tolerance (a bound on
    # the distance to known positives) or none
    filter: FilterName = "tolerance"
    filter_every: Count = 20_000  # environment steps between refreshed bounds
    filter_confidence: Inside = 0.95  # of the bound
    filter_percentile: Inside = 0.98  # share of positives that the bound covers
    knn_n: Count = 500  # states in the filter's population, and as many reference ones
    knn_k: Count = 1  # nearest neighbours whose distance counts


@dataclass(frozen=True)
class Config:
    """A run's settings."""

    task: str = DEFAULT_TASK  # the final milestone, see `hal tasks`; or an environment's name
    method: str = "hal"  # what it learns by, see `hal methods`
    # scale: fast (learns soonest on a core), faithful (the same networks, lanes and batches, the
    # paper's algorithm) or paper (its settings)
    preset: Preset = "fast"
    seed: CountOrNone = 0  # of everything random
    steps: Count = 3_000_000  # environment steps of training, over all lanes
    device: Device = "cpu"  # cpu, cuda or auto
    environment: EnvironmentSettings = field(default_factory=EnvironmentSettings)
    options: OptionSettings = field(default_factory=OptionSettings)
    exploration: ExplorationSettings = field(default_factory=ExplorationSettings)
    replay: ReplaySettings = field(default_factory=ReplaySettings)
    networks: NetworkSettings = field(default_factory=NetworkSettings)
    controller: ControllerSettings = field(default_factory=ControllerSettings)
    meta: MetaSettings = field(default_factory=MetaSettings)
    affordances: AffordanceSettings = field(default_factory=AffordanceSettings)

    def __post_init__(self) -> None:
        """Refuse values that make no sense, before anything is made."""
        check_values(values_of(self))
        _check_task(self)
        _check_sizes(self)

    @property
    def has_mask(self) -> bool:
        """Whether affordances are learned."""
        return self.affordances.mask == "learned" and not self.options.is_flat

    @property
    def anneals_by_success(self) -> bool:
        """Whether the choice of subtasks gets greedier with successes, not with steps."""
        explore = self.exploration
        by_steps = explore.meta_anneal_successes == 0 or explore.anneal_share > 0
        return not (by_steps or self.options.is_agnostic)


GROUPS = tuple(one.name for one in fields(Config) if is_dataclass(one.default_factory))


def values_of(config: Config) -> dict[str, Any]:
    """Return every field by its path, as in `meta.discount`."""
    values: dict[str, Any] = {}
    for name, value in asdict(config).items():
        values |= {f"{name}.{k}": v for k, v in value.items()} if name in GROUPS else {name: value}
    return values


def check_values(values: Mapping[str, Any]) -> None:
    """Refuse values, by path, that are not of their field's kind."""
    for path, value in values.items():
        group, _, name = path.rpartition(".")
        owner: type = kinds_of(Config)[group][0] if group else Config
        check_field(path, value, *kinds_of(owner)[name])


def with_values(config: Config, values: Mapping[str, Any]) -> Config:
    """Return a config with some fields set, by their paths."""
    groups: dict[str, dict[str, Any]] = {}
    top: dict[str, Any] = {}
    for path, value in values.items():
        group, _, name = path.rpartition(".")
        (groups.setdefault(group, {}) if group else top)[name] = value
    changed = {group: replace(getattr(config, group), **own) for group, own in groups.items()}
    return replace(config, **top, **changed)


def grid_settings(config: Config, to_play: bool = False) -> GridSettings:
    """Return what this package's games are made with.

    To train in; or to judge or watch an agent, which is the game to its full length.
    """
    env = config.environment
    return GridSettings(
        task=config.task,
        milestones=env.milestones or None,
        disappear_rate=env.disappear_rate,
        max_steps=None if to_play else env.horizon,
        reward="sparse" if to_play else env.reward,
    )


def _check_task(config: Config) -> None:
    if not is_external(config.task):
        grid_settings(config)
        return
    check_name(config.task)
    if config.environment.disappear_rate != 0:
        rate = config.environment.disappear_rate
        raise ValueError(f"environment.disappear_rate {rate} in {config.task}; legal: 0")


def _check_sizes(config: Config) -> None:
    """Refuse numbers that do not fit each other."""
    num_envs, window = config.environment.num_envs, config.replay.window
    if num_envs > MOST_ENVS:
        raise ValueError(f"environment.num_envs {num_envs}; legal: up to {MOST_ENVS}")
    if config.seed >= MOST_SEEDS:
        raise ValueError(f"seed {config.seed}; legal: below {MOST_SEEDS}")
    fewest = num_envs * (max(window, config.options.max_steps) + 2)
    if config.replay.capacity < fewest:
        raise ValueError(f"replay.capacity {config.replay.capacity}; legal: from {fewest}")
    trained, batch = config.controller.trained_steps, config.affordances.classifier_batch
    if trained > window:
        raise ValueError(f"controller.trained_steps {trained}; legal: up to the window, {window}")
    if batch % 2:
        raise ValueError(f"affordances.classifier_batch {batch}; legal: even numbers")
