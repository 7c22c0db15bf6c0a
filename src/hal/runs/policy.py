"""A trained agent at play: it acts, and says what it believes, but does not learn."""

from typing import Any, NamedTuple

import numpy as np

from hal.agent.choices import Choice
from hal.agent.hal import HierarchicalAgent
from hal.agent.options import NONE, OptionTracker
from hal.agent.protocol import Agent
from hal.agent.schedules import GREEDY, Exploration
from hal.agent.task import TASK
from hal.envs.external.contract import SIGNALS
from hal.envs.observations import Obs, as_batch, batch_size, flat, pick


class Decision(NamedTuple):
    """What a policy does on some lanes."""

    actions: np.ndarray  # (lanes,), counted from 0
    choice: Choice  # of the subtasks that begin now


class Policy:
    """Plays on one lane or many: observations, and all answers, may have a leading lane axis.

    Args:
        agent: whose networks to use; they are shared, not copied.
        explore: shares of random choices, by default none.
        seed: of these choices.
    """

    def __init__(self, agent: Agent, explore: Exploration = GREEDY, seed: int = 0) -> None:
        self.agent = agent
        self.config = agent.config
        self.milestones = agent.milestones
        self.explore = explore
        self._rng = np.random.default_rng(seed)
        self.options: OptionTracker | None = None  # what the lanes pursue; a copy goes on elsewhere

    def reset(self, lanes: np.ndarray | None = None) -> None:
        """Forget what was pursued: new episodes begin on these lanes, a mask, or on all."""
        if lanes is None or self.options is None:
            self.options = None
        else:
            self.options.reset(lanes)

    @property
    def subtasks(self) -> list[str | None]:
        """What each lane pursues, None before the first action and of a flat agent."""
        if self.options is None or self.config.options.is_flat:
            return [None]
        titles = (*self.milestones, TASK)
        return [None if k == NONE else titles[k] for k in self.options.subtask]

    def act(self, obs: Any, info: dict[str, Any] | None = None) -> np.ndarray:
        """Return an action for each lane, as the environment counts them; one for a single lane.

        With the environment's `info`, a subtask is pursued until a milestone or a timeout; without
        it nobody says that a milestone was collected, and a subtask is chosen at every step.
        """
        batch, is_single = self._batched(obs)
        signals = None if info is None else self._signals(info, is_single)
        actions, _ = self.decide(np.arange(batch_size(batch)), batch, signals)
        actions = actions + self.agent.facts.first_action
        return actions[0] if is_single else actions

    def affordances(self, obs: Any, info: dict[str, Any] | None = None) -> np.ndarray:
        """Return what the agent holds to be possible, (K,) bool; the oracle needs `info` for it."""
        batch, is_single = self._batched(obs)
        truth = self._signals(info or {}, is_single).get("affordances")
        afforded = self._hierarchical().afforded(batch, truth)
        return afforded[0] if is_single else afforded

    def q_subtasks(self, obs: Any) -> np.ndarray:
        """Return what the meta-controller expects of each milestone as a subtask, (K,)."""
        batch, is_single = self._batched(obs)
        values = self._hierarchical().meta.values(batch)
        return values[0] if is_single else values

    def decide(self, active: np.ndarray, obs: Obs, info: dict[str, Any] | None) -> Decision:
        """Decide what to do on each lane that is still of interest.

        Here `info` has the agent's milestones, in its own order.
        """
        options = self._advanced(batch_size(obs), info)
        lanes = active[options.subtask[active] == NONE]
        choice = self.agent.choose(
            obs, info or {}, options.failed[lanes], lanes, self.explore, self._rng
        )
        options.begin(lanes, choice.subtask)
        actions = self.agent.pursue(
            pick(obs, active),
            options.subtask[active],
            self.explore.controller,
            self._rng,
            is_judged=True,
        )
        return Decision(actions, choice)

    def _advanced(self, num_lanes: int, info: dict[str, Any] | None) -> OptionTracker:
        """End the options that the last step ended."""
        options = self.options
        if options is None or options.subtask.size != num_lanes or info is None:
            max_steps = self.config.options.max_steps
            options = OptionTracker(num_lanes, len(self.milestones), max_steps)
        else:
            options.advance(info["milestones"], is_done=np.zeros(num_lanes, np.bool_))
        self.options = options
        return options

    def _hierarchical(self) -> HierarchicalAgent:
        if not isinstance(self.agent, HierarchicalAgent):
            raise ValueError(f"method {self.config.method!r} has no subtasks")
        return self.agent

    def _signals(self, info: dict[str, Any], is_single: bool) -> dict[str, np.ndarray]:
        """Return what an environment's info says of the agent's milestones, with a lane axis."""
        columns = list(self.agent.facts.columns)
        signals = {key: np.asarray(info[key])[..., columns] for key in SIGNALS if key in info}
        return as_batch(signals) if is_single else signals

    def _batched(self, obs: Any) -> tuple[Obs, bool]:
        """Return observations with a lane axis, and whether there was none."""
        parts = self.agent.controller.encoder.layout.parts
        batch = flat(obs, parts)
        is_single = batch[parts[0].name].ndim == len(parts[0].shape)
        return (as_batch(batch) if is_single else batch), is_single
