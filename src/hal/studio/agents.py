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
from hal.runs.folder import WEIGHTS
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
    def _experience(self) -> tuple[Affordances | None, dict[str, float]]:
        """Return affordances with examples, and how often options succeed in what they pursue."""
        agent = self.agent
        if not isinstance(agent, HierarchicalAgent):
            return None, {}
        if self.stage != FINAL and agent.affordances is not None:
            rates = agent.affordances.success_rate.tolist()
            return agent.affordances, dict(zip(self.milestones, rates, strict=True))
        other = self._load()
        assert isinstance(other, HierarchicalAgent)
        practise(other)
        taken = other.tally.take()
        named = {name: taken.get(f"{RATE}/{name}") for name in self.milestones}
        return other.affordances, {k: rate for k, rate in named.items() if rate is not None}

    @property
    def examples(self) -> Affordances | None:
        """The agent's affordances with examples; None where it learns none."""
        return self._experience[0]

    @property
    def rates(self) -> list[float | None]:
        """How often each milestone's subpolicy succeeds, None where it was not tried."""
        rates = self._experience[1]
        return [rates.get(name) for name in self.milestones]


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
