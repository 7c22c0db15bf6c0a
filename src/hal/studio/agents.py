"""An agent to be looked at: from a run's weights or from a checkpoint, with examples of its own.

A checkpoint has the examples that the agent has learned from. Weights alone have none: the agent
plays for a while, by the code of training, and what it collects are its examples.
"""

from contextlib import closing
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np

from hal.agent.affordances import Affordances
from hal.agent.hal import HierarchicalAgent
from hal.agent.metrics import Tally
from hal.agent.protocol import Agent
from hal.agent.replay.examples import Examples
from hal.config.file import load_config
from hal.config.settings import Config, with_values
from hal.envs.external.find import is_external
from hal.runs.checkpoint import agent_from_checkpoint, agent_from_weights, checkpoints_of
from hal.runs.folder import WEIGHTS, last_metrics
from hal.runs.lanes import make_lanes
from hal.runs.trust import check_consent

FINAL = "final"  # the stage of a run whose weights are written
NUM_LANES, NUM_STEPS, FEW_STEPS = 16, 400, 100  # of playing for examples; few where steps are slow
RATE = "subpolicy/success"


def stages_of(run: Path) -> list[str]:
    """Return at which moments of its training a run's agent can be had, the latest first."""
    final = [FINAL] if (run / WEIGHTS).is_file() else []
    return [*final, *(path.name for path in checkpoints_of(run))]


class Player:
    """An agent of a run at a stage of its training.

    Args:
        run: the run's folder.
        stage: one of `stages_of`.
        trust: whether the user agreed to import whatever environment the run names.
    """

    def __init__(self, run: Path, stage: str, trust: bool) -> None:
        config = load_config(run)
        check_consent(config.task, run, None, trust)
        self.run, self.stage = run, stage
        self.config = _to_look_at(config)
        self.agent = self._load()
        self.milestones = self.agent.milestones

    def _load(self) -> Agent:
        if self.stage == FINAL:
            return agent_from_weights(self.config, self.run)
        paths = {path.name: path for path in checkpoints_of(self.run)}
        if self.stage not in paths:
            raise ValueError(f"{self.stage} is there no more; legal: {stages_of(self.run)}")
        return agent_from_checkpoint(self.config, paths[self.stage])

    @property
    def hierarchical(self) -> HierarchicalAgent | None:
        """The agent, if it has subtasks."""
        return self.agent if isinstance(self.agent, HierarchicalAgent) else None

    @cached_property
    def _practised(self) -> tuple[Affordances | None, dict[str, float]]:
        """Return affordances with examples, and what was measured meanwhile, of one that plays."""
        other = self._load()
        assert isinstance(other, HierarchicalAgent)
        practise(other)
        return other.affordances, other.tally.take()

    @property
    def affordances(self) -> Affordances | None:
        """What the agent has learned of affordances; None where it learns none."""
        return None if self.hierarchical is None else self.hierarchical.affordances

    @property
    def examples(self) -> Affordances | None:
        """The same with examples; None where it learns none."""
        if self.affordances is None or self.stage != FINAL:
            return self.affordances
        return self._practised[0]

    @property
    def rates(self) -> list[float | None]:
        """How often each milestone's subpolicy succeeds, None where nobody tried."""
        own = self.affordances
        if own is not None and self.stage != FINAL:
            return list(own.success_rate.tolist())
        names = [f"{RATE}/{name}" for name in self.milestones]
        known: dict[str, float] = last_metrics(self.run)
        if self.hierarchical is not None and not any(name in known for name in names):
            known = self._practised[1]
        return [known.get(name) for name in names]


def _to_look_at(config: Config) -> Config:
    """Return a config of few lanes and small memories: nothing is learned here."""
    steps = max(config.replay.window, config.options.max_steps, NUM_STEPS) + 2
    small = {
        "environment.num_envs": NUM_LANES,
        "replay.capacity": NUM_LANES * steps,
        "meta.capacity": 1_000,
    }
    return replace(with_values(config, small), device="cpu")


def practise(agent: HierarchicalAgent) -> None:
    """Let an agent play as at the end of its training, so that it has examples; learn nothing."""
    config = agent.config
    explore = config.exploration
    agent.num_steps = config.steps
    agent.num_successes = explore.first_successes + explore.meta_anneal_successes
    for controller in [agent.controller, *([agent.task.controller] if agent.task else [])]:
        controller.learner.network.load_state_dict(controller.judged.state_dict())
    own = agent.affordances
    kinds = () if own is None else (own.positives, own.negatives)
    before = [examples.counts.copy() for examples in kinds]
    num_steps = FEW_STEPS if is_external(config.task) else NUM_STEPS
    with closing(make_lanes(config, NUM_LANES)) as env:
        obs, info = env.reset(seed=config.seed)
        for _ in range(num_steps):
            obs, reward, terminated, truncated, info = env.step(agent.act(obs, info))
            agent.observe(obs, reward, terminated, truncated, info)
    for examples, counts in zip(kinds, before, strict=True):
        _forget_older(examples, counts)
    if own is not None:
        own.refresh_filter(Tally())


def _forget_older(examples: Examples, counts: np.ndarray) -> None:
    """Keep only what came after so many examples of each milestone, from the ring's start on."""
    for milestone, count in enumerate(counts):
        shift = -int(count) % examples.capacity
        for values in (*examples.obs.values(), examples.parity, examples.truth):
            values[milestone] = np.roll(values[milestone], shift, axis=0)
    examples.counts -= counts
