"""The hierarchical agent: act, observe, update. Every hierarchical method is a preset of it.

The data's way: `act` picks subtasks and actions; `observe` writes the step, and hands the options
that have ended to hindsight marks, examples and the meta-controller's replay; `update` trains the
controller, the meta-controller and the affordances. Together they are the paper's Alg. 1, whose
lines are named here.
"""

from typing import NamedTuple

import numpy as np
import torch

from hal.agent.affordances import Affordances
from hal.agent.base import BaseAgent, EnvFacts, Info
from hal.agent.choices import Beliefs, Choice, choose, mask_of, rarity
from hal.agent.controller import subtask_lessons
from hal.agent.meta_controller import MetaController
from hal.agent.metrics import tally_mask, tally_options
from hal.agent.networks.encoder import Encoder
from hal.agent.networks.weights import load_named, named
from hal.agent.options import NONE, EndedOptions, OptionTracker
from hal.agent.replay.priorities import make_priorities
from hal.agent.replay.steps import CONTINUES, CUT, ENDS
from hal.agent.replay.transitions import MetaReplay
from hal.agent.schedules import Exploration, exploration, goal_epsilon
from hal.agent.task import FLAT, META, TaskOption
from hal.config.settings import Config
from hal.envs.observations import Obs, batch_size, pick


class Acted(NamedTuple):
    """What `observe` must know of the step's beginning."""

    obs: Obs
    info: Info
    actions: np.ndarray
    choice: Choice


class HierarchicalAgent(BaseAgent):
    """A meta-controller over subtasks, a controller over actions, and a mask between them."""

    KEPT = (
        *BaseAgent.KEPT,
        *("meta", "affordances", "task", "options", "ended", "segment", "num_successes"),
    )

    def __init__(self, config: Config, encoder: Encoder, env: EnvFacts) -> None:
        size, lanes = len(env.milestones), config.environment.num_envs
        super().__init__(config, encoder, size, config.controller.discount, env)
        self.num_milestones = size
        meta_rng, affordance_rng = map(np.random.default_rng, self._streams.spawn(2))
        priorities = make_priorities(config.replay, config.meta.capacity)
        replay = MetaReplay(config.meta.capacity, encoder.layout, size, priorities)
        sizes = (lanes, size, env.final)
        self.meta = MetaController(
            config.meta, config.networks, encoder, replay, sizes, meta_rng, self.device
        )
        self.affordances: Affordances | None = None
        if config.has_mask:
            groups, names = (config.affordances, config.networks), env.milestones
            self.affordances = Affordances(*groups, encoder, names, affordance_rng, self.device)
        self.task: TaskOption | None = None
        if config.options.has_task:
            own, seed = (config.options, config.controller, config.networks), self._streams.spawn(1)
            self.task = TaskOption(*own, encoder, (lanes, env.num_actions), seed[0], self.device)
        self.options = OptionTracker(
            lanes, size, config.options.max_steps, config.meta.step_discount
        )
        self.ended = EndedOptions.none()  # on the last step, in states that are yet to be judged
        self.segment = np.arange(lanes)  # numbers of the present segments
        self.num_successes = 0
        self._acted: Acted | None = None

    # --- acting -----------------------------------------------------------------------------

    def act(self, obs: Obs, info: Info) -> np.ndarray:
        """Choose a subtask where there is none, and an action on every lane (lines 7 to 25)."""
        settings, options = self.config.exploration, self.options
        successes = self.num_successes if self.config.anneals_by_success else None
        explore = exploration(settings, self.progress, successes)
        lanes = options.undecided
        leader = None
        epsilon = goal_epsilon(settings, self.progress, self.replay.events.counts)
        if self.task is not None:
            leader = self.task.leader[lanes]
            epsilon = np.append(epsilon, explore.controller)
        failed = options.failed[lanes]
        choice = self.choose(obs, info, failed, lanes, explore, self._act_rng, leader)
        options.begin(lanes, choice.subtask)
        subtask = options.subtask
        actions = self.pursue(obs, subtask, epsilon[subtask], self._act_rng)
        self._acted = Acted(obs, info, actions, choice)
        return actions

    def choose(
        self,
        obs: Obs,
        info: Info,
        failed: np.ndarray,
        lanes: np.ndarray,
        explore: Exploration,
        rng: np.random.Generator,
        leader: np.ndarray | None = None,
    ) -> Choice:
        """Choose subtasks on some lanes (lines 15 to 21), where (lanes, K) timed out lately.

        With the whole task as a subtask, leaders decide; without them the better of the two.
        """
        if lanes.size == 0:
            nothing = np.zeros((0, self.num_milestones))
            beliefs = Beliefs.of(nothing.astype(np.bool_), nothing)
            return Choice(lanes, np.zeros(0, dtype=np.int64), beliefs)
        here = pick(obs, lanes)
        truth = info["affordances"][lanes] if "affordances" in info else None
        beliefs = Beliefs.of(self.afforded(here, truth), self.meta.values(here))
        settings, is_true = self.config.options, self.config.affordances.mask == "oracle"
        preference = rarity(self.replay.events.counts, settings.rarity)
        subtasks = choose(beliefs, failed, preference, settings, is_true, explore, rng)
        if self.task is not None:
            subtasks = self.task.led(subtasks, leader, self.num_milestones)
        return Choice(lanes, subtasks, beliefs)

    def pursue(
        self,
        obs: Obs,
        subtask: np.ndarray,
        epsilon: float | np.ndarray,
        rng: np.random.Generator,
        is_judged: bool = False,
    ) -> np.ndarray:
        """Return actions that pursue these subtasks, the whole task by its own policy."""
        if self.task is None:
            return super().pursue(obs, subtask, epsilon, rng, is_judged)
        at_task = subtask == self.num_milestones
        return self.task.act_with(self.controller, at_task, obs, subtask, epsilon, rng, is_judged)

    def afforded(self, obs: Obs, truth: np.ndarray | None) -> np.ndarray:
        """Return which subtasks are held to be possible, (batch, K) bool."""
        if self.affordances is not None:
            return self.affordances.afforded(obs)
        if self.config.affordances.mask == "none":
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
        """Write the step that led here (line 28); end options and episodes (lines 7 to 13)."""
        assert self._acted is not None
        before, info_before, actions, choice = self._acted
        self._store_ended(before, info_before, choice)
        is_valid = ~self.is_resetting
        is_done = (terminated | truncated) & is_valid
        subtask = self.options.subtask.copy()
        least = 0.0 if self.config.meta.ignore_penalties else -np.inf
        counted = np.maximum(reward, least)
        step = self.options.advance(info["milestones"], is_done, is_valid, counted)
        is_end = (step.milestone != NONE) | terminated
        learned = reward
        if self.task is not None:
            is_first = self.episodes.are_first(info["milestones"], is_valid)
            learned = self.task.dense(reward, is_first)
            self.task.observe(learned, is_valid, is_done)
        self.replay.add(
            before,
            truth=info_before.get("affordances", False),
            action=actions,
            reward=learned,
            subtask=subtask,
            milestone=step.milestone,
            end=np.where(step.is_ended, np.where(is_end, ENDS, CUT), CONTINUES),
            episode_end=np.where(is_done, np.where(terminated, ENDS, CUT), CONTINUES),
            is_valid=is_valid,
            segment=self.segment,
        )
        self.episodes.add(reward, info["milestones"], is_valid, self.tally)
        self._learn_from(step.ended, "affordances" in info_before)
        is_last = is_done[step.ended.lanes]
        self.ended = step.ended.where(~is_last)
        self._end_episodes(step.ended.where(is_last), obs, info, terminated)
        self._begin_anew(step.milestone, is_done)
        self.count_steps(is_valid)

    def _store_ended(self, obs: Obs, info: Info, choice: Choice) -> None:
        """Hand options to the meta-controller (line 10), with the mask that chose the next one."""
        assert choice.beliefs is not None
        tally_mask(self.tally, *choice.beliefs, info, choice.lanes, self.milestones)
        ended = self.ended
        mask = choice.beliefs.mask[np.searchsorted(choice.lanes, ended.lanes)]
        future = np.ones(ended.lanes.size, dtype=np.bool_)
        self.meta.store(ended, self._first_obs(ended), pick(obs, ended.lanes), mask, future)

    def _first_obs(self, ended: EndedOptions) -> Obs:
        return self.replay.obs_at(self.replay.num_rows - ended.steps, ended.lanes)

    def _learn_from(self, ended: EndedOptions, has_truth: bool) -> None:
        """Label steps, in hindsight, and states (lines 11 and 12) by what options collected."""
        starts = self.replay.num_rows - ended.steps
        self.replay.mark(ended, starts)
        if self.affordances is not None:
            self.affordances.has_truth = has_truth
            self.affordances.add(self.replay, ended, starts)
        tally_options(self.tally, ended.subtask, ended.collected, ended.steps, self.milestones)

    def _end_episodes(
        self, ended: EndedOptions, obs: Obs, info: Info, terminated: np.ndarray
    ) -> None:
        """End the episodes of these lanes, each with its last option."""
        lanes = ended.lanes
        mask = np.ones((lanes.size, self.num_milestones), dtype=np.bool_)
        has_future = ~terminated[lanes] & self.config.meta.bootstrap_truncation
        if has_future.any():
            truth = info["affordances"][lanes] if "affordances" in info else None
            mask = mask_of(self.afforded(pick(obs, lanes), truth))
        self.meta.store(ended, self._first_obs(ended), pick(obs, lanes), mask, has_future)
        is_success = self.episodes.end(lanes)
        for lane, is_good in zip(lanes, is_success, strict=True):
            self.meta.finish_episode(lane, is_good)
        self.num_successes += int(is_success.sum())

    def _begin_anew(self, milestone: np.ndarray, is_done: np.ndarray) -> None:
        """Begin segments after milestones, and episodes after ones that ended."""
        is_new = (milestone != NONE) | self.is_resetting
        self.segment = self.segment + is_new * self.segment.size
        self.options.reset(self.is_resetting)
        self.options.idle(is_done)
        self.is_resetting = is_done

    def abandon(self) -> None:
        """Give up all episodes, with what was pursued."""
        super().abandon()
        self.options.idle(self.is_resetting)
        self.ended = EndedOptions.none()
        self.meta.abandon()

    # --- learning ---------------------------------------------------------------------------

    def update(self) -> None:
        """Train whatever is due after a step of all lanes (lines 30 to 47)."""
        if not self.can_learn():
            return
        config, task, pace = self.config, self.task, 1
        if task is not None:
            pace = task.pace(META)
            if self.is_due(config.controller.every * task.pace(FLAT)):
                self.tally.add_all(task.update(self.draw_windows(), self.progress))
        if self.is_due(config.controller.every * pace):
            sizes = (config.controller, self.num_milestones)
            self.train_controller(lambda windows: subtask_lessons(windows, *sizes))
        can_choose = self.num_successes > 0 or not config.meta.waits
        has_options = len(self.meta.replay) > 0 and not config.options.is_agnostic
        if can_choose and has_options and self.is_due(config.meta.every * pace):
            self.tally.add_all(self.meta.update(self.progress, self.beta))
        if self.affordances is None:
            return
        if self.is_due(config.affordances.filter_every * pace):
            self.affordances.refresh_filter(self.tally)
        if self.is_due(config.affordances.every * pace):
            self.affordances.update(self.replay, self.progress, self.tally)

    # --- keeping ----------------------------------------------------------------------------

    def weights(self) -> dict[str, torch.Tensor]:
        """Return everything that acting and choosing need."""
        weights = {
            **super().weights(),
            "collected": torch.from_numpy(self.replay.events.counts),
            **named("meta", self.meta.learner.network),
        }
        for part in self._parts:
            weights |= part.weights()
        return weights

    def load_weights(self, tensors: dict[str, torch.Tensor]) -> None:
        """Set what `weights` returned."""
        super().load_weights(tensors)
        self.replay.events.counts[:] = tensors["collected"].numpy()
        load_named("meta", self.meta.learner.network, tensors)
        for part in self._parts:
            part.load_weights(tensors)

    @property
    def _parts(self) -> list[Affordances | TaskOption]:
        return [part for part in (self.affordances, self.task) if part is not None]
