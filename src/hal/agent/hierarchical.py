"""The hierarchical agent: act, observe, update. Every hierarchical method is a preset of it.

The data's way: `act` picks subtasks and actions, `observe` writes rows, ends options and labels
their states, `update` trains the controller, the meta-controller and the affordances.
"""

from typing import Any

import numpy as np
import torch

from hal.agent.affordance import Affordances
from hal.agent.base import BaseAgent, EnvFacts
from hal.agent.controller import Lesson, subtask_lessons
from hal.agent.meta import MetaController
from hal.agent.networks import Encoder, load_named, named
from hal.agent.replay import CONTINUES, CUT, ENDS, NONE, Windows
from hal.agent.subtasks import (
    Beliefs,
    SubtaskState,
    epsilon2_choice,
    greedy_choice,
    main_milestone,
    mask_of,
    weighted_choice,
)
from hal.config import Config, Exploration
from hal.log import tally_mask
from hal.observations import Obs, batch_size, pick

Info = dict[str, Any]


class HierarchicalAgent(BaseAgent):
    """A meta-controller over subtasks, a controller over actions, and a mask between them."""

    KEPT = (
        *BaseAgent.KEPT,
        "meta",
        "affordances",
        "options",
        "option_start",
        "segment",
        "num_successes",
    )

    def __init__(self, config: Config, encoder: Encoder, env: EnvFacts) -> None:
        size, lanes = len(env.milestones), config.num_lanes
        super().__init__(config, encoder, size, config.discount, env)
        self.num_milestones = size
        meta_rng, affordance_rng = map(np.random.default_rng, self._streams.spawn(2))
        self.meta = MetaController(config, encoder, env, meta_rng, self.device)
        self.affordances = Affordances(config, encoder, env.milestones, affordance_rng, self.device)
        self.options = SubtaskState.new(lanes, size)
        self.option_start = np.zeros(lanes, dtype=np.int64)  # rows
        self.segment = np.arange(lanes)  # numbers of the present segments
        self.num_successes = 0
        self._acted_on: tuple[Obs, Info, np.ndarray] | None = None

    # --- acting -----------------------------------------------------------------------------

    def act(self, obs: Obs, info: Info) -> np.ndarray:
        """Choose a subtask where there is none, and an action on every lane."""
        explore = self.config.exploration(self.num_steps, self.num_successes)
        chosen = np.flatnonzero(self.options.subtask == NONE)
        beliefs = self.choose_subtasks(obs, info, self.options, chosen, explore, self._act_rng)
        tally_mask(self.tally, *beliefs, info, chosen, self.milestones)
        self.meta.store(chosen, obs, beliefs.mask)
        self.meta.begin(chosen, obs)
        self.option_start[chosen] = self.replay.num_rows
        epsilon = self.config.goal_epsilon(self.num_steps, self.replay.events.counts)
        subtask = self.options.subtask
        actions = self.controller.act(obs, subtask, epsilon[subtask], self._act_rng)
        self._acted_on = (obs, info, actions)
        return actions

    def choose_subtasks(
        self,
        obs: Obs,
        info: Info,
        options: SubtaskState,
        chosen: np.ndarray,
        explore: Exploration,
        rng: np.random.Generator,
    ) -> Beliefs:
        """Choose the subtasks of some lanes, epsilon^2-greedily; return what that rests on."""
        if chosen.size == 0:
            nothing = np.zeros((0, self.num_milestones))
            return Beliefs.of(nothing.astype(np.bool_), nothing)
        here = pick(obs, chosen)
        truth = info["affordances"][chosen] if "affordances" in info else None
        beliefs = Beliefs.of(self.afforded(here, truth), self.meta.values(here))
        avoided = options.failed[chosen] & self.config.avoid_failed
        considered = beliefs.mask
        if self.config.is_agnostic:  # nothing else would have it leave what it fails at
            considered = mask_of(beliefs.mask & ~avoided, otherwise=beliefs.mask)
        rarity = self._rarity()
        within = weighted_choice(considered * rarity, rng)
        if self.config.explore_rare:
            anything = weighted_choice(np.tile(rarity, (chosen.size, 1)), rng)
        else:
            anything = rng.integers(self.num_milestones, size=chosen.size)
        greedy = within
        if not self.config.is_agnostic:
            greedy = greedy_choice(beliefs.values, beliefs.mask, avoided)
        options.subtask[chosen] = epsilon2_choice(
            greedy,
            within,
            within if self.config.mask == "oracle" else anything,
            explore,
            rng,
        )
        options.steps[chosen] = 0
        return beliefs

    def _rarity(self) -> np.ndarray:
        """Return how much the random choice within the mask prefers each milestone, (K,)."""
        counts = self.replay.events.counts
        if self.config.rarity == "inverse":
            return (counts.max() + 1.0) / (counts + 1.0)
        if self.config.rarity == "difference":
            return counts.max() - counts + 1.0
        return np.ones(counts.size)

    def afforded(self, obs: Obs, truth: np.ndarray | None) -> np.ndarray:
        """Return which subtasks are held to be possible, (batch, K) bool."""
        if self.config.mask == "learned":
            return self.affordances.afforded(obs)
        if self.config.mask == "none":
            return np.ones((batch_size(obs), self.num_milestones), dtype=np.bool_)
        if truth is None:
            raise ValueError("the oracle needs an environment that tells its affordances")
        return truth

    # --- observing --------------------------------------------------------------------------

    def observe(
        self,
        obs: Obs,
        reward: np.ndarray,
        terminated: np.ndarray,
        truncated: np.ndarray,
        info: Info,
    ) -> None:
        """Write the step that led here; end options and episodes."""
        assert self._acted_on is not None
        before, info_before, actions = self._acted_on
        is_valid = ~self.is_resetting
        is_done = (terminated | truncated) & is_valid
        milestone = np.where(
            is_valid, main_milestone(info["milestones"], self.options.subtask), NONE
        )
        subtask = self.options.subtask.copy()
        is_ended = self.options.advance(milestone, is_done, self.config.max_option_steps) & is_valid
        is_end = (milestone != NONE) | terminated
        self.affordances.has_truth = "affordances" in info_before
        self.replay.add(
            before,
            truth=info_before.get("affordances", False),
            action=actions,
            reward=reward,
            subtask=subtask,
            milestone=milestone,
            end=np.where(is_ended, np.where(is_end, ENDS, CUT), CONTINUES),
            is_valid=is_valid,
            segment=self.segment,
        )
        least = 0.0 if self.config.ignore_penalties else -np.inf
        self.meta.reward += np.where(is_valid, np.maximum(reward, least), 0.0)
        self.episodes.add(reward, info["milestones"], is_valid)
        ended = np.flatnonzero(is_ended)
        self._end_options(ended, subtask[ended], milestone[ended])
        self._end_episodes(np.flatnonzero(is_done), obs, info, terminated)
        self._begin_anew(milestone, is_done)
        self.num_steps += int(is_valid.sum())
        self.num_vector_steps += 1

    def _begin_anew(self, milestone: np.ndarray, is_done: np.ndarray) -> None:
        """Begin segments after milestones, and episodes after ones that ended."""
        is_new = (milestone != NONE) | self.is_resetting
        self.segment = self.segment + is_new * self.config.num_lanes
        # A step that only resets pursues nothing: any subtask will do for it.
        self.options.subtask[self.is_resetting] = NONE
        self.options.failed[self.is_resetting] = False
        self.options.subtask[is_done] = 0
        self.is_resetting = is_done

    def _end_options(self, lanes: np.ndarray, subtasks: np.ndarray, collected: np.ndarray) -> None:
        starts = self.option_start[lanes]
        has = collected != NONE
        self.replay.mark(lanes[has], starts[has], collected[has])
        if self.config.mask == "learned":
            self.affordances.add(self.replay, lanes, starts, subtasks, collected)
        self.meta.end(lanes, subtasks, collected)
        is_success = subtasks == collected
        self.tally.add_columns("subpolicy/success", subtasks, is_success, self.milestones)

    def _end_episodes(
        self,
        lanes: np.ndarray,
        obs: Obs,
        info: Info,
        terminated: np.ndarray,
    ) -> None:
        mask = np.ones((lanes.size, self.num_milestones), dtype=np.bool_)
        has_future = ~terminated[lanes] & self.config.bootstrap_truncation
        if has_future.any():
            truth = info["affordances"][lanes] if "affordances" in info else None
            mask = mask_of(self.afforded(pick(obs, lanes), truth))
        self.meta.store(lanes, obs, mask, has_future)
        is_success = self.episodes.end(lanes)
        for lane, is_good in zip(lanes, is_success, strict=True):
            self.meta.finish_episode(lane, is_good)
        self.num_successes += int(is_success.sum())

    def abandon(self) -> None:
        """Give up all episodes, with what was pursued."""
        super().abandon()
        self.options.subtask[:] = 0
        self.options.steps[:] = 0
        self.meta.abandon()

    # --- learning ---------------------------------------------------------------------------

    def update(self) -> None:
        """Train whatever is due after a step of all lanes."""
        config = self.config
        if not self.can_learn():
            return

        def is_due(every: int) -> bool:
            return config.is_due(every, self.num_vector_steps)

        if is_due(config.update_every):
            self.tally.add_all(self.controller.update(self.replay, self._teach, self.num_steps))
        has_task = not config.is_agnostic and (self.num_successes > 0 or not config.meta_waits)
        if has_task and len(self.meta.replay) and is_due(config.meta_every):
            self.tally.add_all(self.meta.update(self.num_steps))
        if config.mask != "learned":
            return
        if config.use_filter and is_due(config.filter_every):
            self.affordances.refresh_filter(self.tally)
        if is_due(config.context_every):
            self.affordances.update(self.replay, self.num_steps, self.tally)

    def _teach(self, windows: Windows) -> list[Lesson]:
        return subtask_lessons(windows, self.config)

    # --- keeping ----------------------------------------------------------------------------

    def weights(self) -> dict[str, torch.Tensor]:
        """Return everything that acting and choosing need."""
        return {
            **super().weights(),
            "collected": torch.from_numpy(self.replay.events.counts),
            "achieved": torch.from_numpy(self.affordances.positives.counts),
            "trained": torch.from_numpy(self.affordances.is_trained),
            **named("meta", self.meta.learner.network),
            **named("context", self.affordances.context),
        }

    def load_weights(self, tensors: dict[str, torch.Tensor]) -> None:
        """Set what `weights` returned."""
        super().load_weights(tensors)
        self.affordances.positives.counts[:] = tensors["achieved"].numpy()
        self.affordances.is_trained[:] = tensors["trained"].numpy()
        self.replay.events.counts[:] = tensors["collected"].numpy()
        load_named("meta", self.meta.learner.network, tensors)
        load_named("context", self.affordances.context, tensors)
