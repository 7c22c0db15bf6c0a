"""Everything that can be set about a run, and the presets: methods and scales."""

from dataclasses import dataclass, fields, replace
from typing import Any

from hal.envs.options import REWARDS
from hal.envs.rules import game_of_task

MASKS = ("learned", "oracle", "none")
DEVICES = ("cpu", "cuda", "auto")
SHARES = (
    "controller_epsilon",
    "meta_epsilon",
    "mask_epsilon",
    "event_share",
    "same_lane_share",
    "final_rate_share",
    "target_rate",
    "discount",
    "flat_discount",
    "meta_discount",
    "trace",
    "step_penalty",
    "aff_threshold",
    "fnf_conf",
    "fnf_perc",
)


@dataclass(frozen=True)
class Config:
    """A run's settings. The comment of a field is its help text."""

    task: str = "treasure"  # the final milestone
    method: str = "hal"  # which method's switches are set, see METHODS
    seed: int = 0  # of everything random
    steps: int = 2_000_000  # environment steps of training, over all lanes
    num_lanes: int = 256  # environments stepped together
    horizon: int = 1000  # steps after which an episode of training is cut
    device: str = "cpu"  # cpu, cuda or auto

    # What a method is
    is_flat: bool = False  # no subtasks: one policy for the whole task
    reward: str = "sparse"  # the environment's: sparse, or dense for the flat baseline
    mask: str = "learned"  # which affordances prune subtasks: learned, oracle or none
    use_hindsight: bool = True  # steps also train the head of the milestone they led to
    use_filter: bool = True  # leave likely false negatives out of the classifier's examples
    use_contrast: bool = True  # train the context by the contrastive loss
    tune_context: bool = True  # let the classifier's loss change the context too

    # Options
    max_option_steps: int = 25  # steps until an option times out
    avoid_repeat: bool = True  # the greedy choice is not what has just timed out
    prune_unachieved: bool = True  # the learned mask prunes what was never collected
    count_weighted: bool = True  # the random choice within the mask prefers rare milestones

    # Exploration, from the first to the second value
    controller_epsilon: tuple[float, float] = (0.5, 0.05)  # random actions
    meta_epsilon: tuple[float, float] = (0.2, 0.05)  # random subtasks
    mask_epsilon: tuple[float, float] = (0.8, 0.0)  # random subtasks within the mask
    controller_anneal_steps: int = 300_000  # environment steps from first to second
    first_successes: int = 10  # successes before the choice of subtasks gets greedier
    meta_anneal_successes: int = 300  # further successes until it is as greedy as it gets

    # Replay
    replay_steps: int = 512_000  # environment steps kept
    batch_windows: int = 20  # runs of steps per controller update
    window: int = 16  # steps per run
    event_share: float = 0.5  # share of the runs drawn around milestones
    warmup_steps: int = 10_000  # environment steps before the first update

    # Networks and optimisation
    width: int = 128  # of the controller's layers
    meta_width: int = 64  # of the meta-controller's layers
    context_width: int = 128  # of the context network's layers
    context_size: int = 32  # dimensions of a context
    learning_rate: float = 4e-3  # of the controller
    meta_learning_rate: float = 1e-3  # of the meta-controller
    context_learning_rate: float = 3e-3  # of the context and the classifier
    final_rate_share: float = 0.1  # learning rates end at this share
    clip: float = 10.0  # largest norm of a gradient
    target_rate: float = 0.01  # how far the target network moves per update
    discount: float = 0.9  # of the controller
    flat_discount: float = 0.97  # of the flat baseline, whose episodes are longer than options
    meta_discount: float = 0.95  # of the meta-controller, per option
    trace: float = 0.9  # lambda of the controller's returns
    step_penalty: float = 0.01  # of the milestone reward

    # Meta-controller
    meta_every: int = 2  # vector steps per update
    meta_batch: int = 128  # transitions per update
    meta_replay: int = 100_000  # transitions kept
    meta_hindsight: bool = True  # any unintended milestone is stored as intended, not only the last
    ignore_penalties: bool = True  # negative rewards do not count: the discount makes it hurry
    bootstrap_truncation: bool = False  # a truncated episode has a future for the meta-controller

    # Affordances
    context_every: int = 2  # vector steps per update of context and classifier
    triplets: int = 128  # anchors per update
    num_negatives: int = 4  # candidates per anchor, the hardest counts
    same_lane_share: float = 0.6  # share of the negatives from the anchor's own lane
    sigma: float = 7.0  # distance in time of contrastive positives
    triplet_margin: float = 1.0
    examples: int = 4_000  # labelled states kept per milestone and label
    classifier_batch: int = 16  # positives per head and update, and as many negatives
    aff_threshold: float = 0.5  # a milestone is afforded above this probability
    knn_n: int = 500  # states in the filter's population, and as many reference ones
    knn_k: int = 1  # nearest neighbours whose distance counts
    fnf_conf: float = 0.95  # confidence of the filter's bound
    fnf_perc: float = 0.98  # share of positives that the bound covers
    filter_every_steps: int = 20_000  # environment steps between refreshed bounds

    def __post_init__(self) -> None:
        """Refuse values that make no sense, before anything is made."""
        game_of_task(self.task)
        if self.mask not in MASKS:
            raise ValueError(f"unknown mask {self.mask!r}; legal: {', '.join(MASKS)}")
        if self.reward not in REWARDS:
            raise ValueError(f"unknown reward {self.reward!r}; legal: {', '.join(REWARDS)}")
        if self.device not in DEVICES:
            raise ValueError(f"unknown device {self.device!r}; legal: {', '.join(DEVICES)}")
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in SHARES:
                for share in value if isinstance(value, tuple) else (value,):
                    if not 0 <= share <= 1:
                        raise ValueError(f"{field.name} {value}; legal: from 0 to 1")
            elif field.name == "seed":
                if value < 0:
                    raise ValueError(f"seed {value}; legal: whole numbers from 0")
            elif isinstance(value, int | float) and not isinstance(value, bool) and not value > 0:
                raise ValueError(f"{field.name} {value}; legal: above 0")
        fewest = self.num_lanes * (max(self.window, self.max_option_steps) + 2)
        if self.replay_steps < fewest:
            raise ValueError(f"replay_steps {self.replay_steps}; legal: from {fewest}")


METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "oracle": ("subtasks masked by the true affordances", {"mask": "oracle"}),
    "hal": ("subtasks masked by learned affordances (the paper's HAL)", {}),
    "hal-fnf": ("hal without the filter of false negatives", {"use_filter": False}),
    "hal-rt": ("hal whose classifier does not tune the context", {"tune_context": False}),
    "hal-cl": ("hal without the contrastive loss", {"use_contrast": False}),
    "hr": (
        "no mask, no hindsight (the paper's H-Rainbow)",
        {"mask": "none", "use_hindsight": False, "count_weighted": False},
    ),
    "hr+her": ("no mask (H-Rainbow with hindsight)", {"mask": "none", "count_weighted": False}),
    "rainbow": (
        "no subtasks, a reward for each milestone's first time (the paper's Rainbow)",
        {"is_flat": True, "reward": "dense", "mask": "none"},
    ),
}


def between(ends: tuple[float, float], progress: float) -> float:
    """Return what lies between two values after a share of the way, 1 and above being the end."""
    return ends[0] + (ends[1] - ends[0]) * min(progress, 1.0)


def make_config(task: str, method: str, **overrides: Any) -> Config:
    """Return a method's config with some fields overridden."""
    if method not in METHODS:
        raise ValueError(f"unknown method {method!r}; legal methods: {', '.join(METHODS)}")
    legal = [field.name for field in fields(Config)]
    for name in overrides:
        if name not in legal:
            raise ValueError(f"unknown field {name!r}; legal fields: {', '.join(legal)}")
    _, switches = METHODS[method]
    return replace(Config(task=task, method=method), **switches, **overrides)
