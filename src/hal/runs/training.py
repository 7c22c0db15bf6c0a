"""Training: agent.act -> env.step -> agent.observe -> agent.update -> report."""

import time
from collections.abc import Callable
from contextlib import closing
from typing import Any

import numpy as np

from hal.agent.build import background_of, make_agent
from hal.agent.protocol import Agent
from hal.config.settings import EVALUATION_SEED, MOST_ENVS, Config
from hal.runs.lanes import make_lanes
from hal.runs.policy import Policy

NUM_REPORTS = 100  # in a run, unless somebody wants more or fewer
Report = Callable[[dict[str, Any], Agent], None]


class Training:
    """A run in memory: the environment, the agent, and what the next step needs."""

    KEPT = ("background", "env", "agent", "obs", "info", "cpu_seconds", "num_reports")

    def __init__(
        self, config: Config, report_every: int | None = None, use_processes: bool = False
    ) -> None:
        self.config = config
        num_envs = config.environment.num_envs
        self.env = make_lanes(config, num_envs, use_processes=use_processes)
        try:
            self._begin()
        except BaseException:
            self.env.close()  # it may have processes
            raise
        self.report_every = report_every or max(config.steps // NUM_REPORTS, 1)
        self.num_reports = 0
        self.cpu_seconds = 0.0  # of the steps alone

    def _begin(self) -> None:
        config = self.config
        self.obs, self.info = self.env.reset(seed=config.seed * MOST_ENVS)
        if config.affordances.mask == "oracle" and "affordances" not in self.info:
            raise ValueError(f"{config.task} does not tell affordances; legal: all but the oracle")
        self.background = background_of(self.env, self.obs)
        self.agent = make_agent(config, self.env, self.background)

    def take_background(self, background: np.ndarray) -> None:
        """Make the agent anew, should the run have begun with another background than this did."""
        if not np.array_equal(background, self.background):
            self.agent = make_agent(self.config, self.env, background)

    @property
    def is_done(self) -> bool:
        """Whether all steps were taken."""
        return self.agent.num_steps >= self.config.steps

    def step(self) -> None:
        """Take a step on every lane, and learn."""
        start = time.process_time()
        actions = self.agent.act(self.obs, self.info)
        self.obs, reward, terminated, truncated, self.info = self.env.step(actions)
        self.agent.observe(self.obs, reward, terminated, truncated, self.info)
        self.agent.update()
        self.cpu_seconds += time.process_time() - start

    def begin_anew(self) -> None:
        """Begin new episodes where the environment could not be kept: a step that only resets."""
        if self.env.KEPT:
            return
        agent = self.agent
        agent.abandon()
        agent.act(self.obs, self.info)
        entropy = np.random.SeedSequence((self.config.seed, agent.num_steps))
        seed = int(entropy.generate_state(1)[0]) % (EVALUATION_SEED - MOST_ENVS)
        self.obs, self.info = self.env.reset(seed=seed)
        nothing = np.zeros(self.config.environment.num_envs)
        is_over = nothing.astype(np.bool_)
        agent.observe(self.obs, nothing, is_over, is_over, self.info)

    def report(self) -> dict[str, Any] | None:
        """Return the metrics since the last report, when it is time for one."""
        agent = self.agent
        if not self.is_done and agent.num_steps < (self.num_reports + 1) * self.report_every:
            return None
        self.num_reports += 1
        return {
            "steps": agent.num_steps,
            "cpu_seconds": round(self.cpu_seconds, 3),
            "steps_per_second": round(agent.num_steps / self.cpu_seconds),
            "updates_per_second": round(agent.num_updates / self.cpu_seconds, 1),
            **agent.episodes.means(),
            **agent.tally.take(),
        }


def train(
    config: Config, on_report: Report | None = None, report_every: int | None = None
) -> Policy:
    """Train an agent in memory; give its metrics and the agent itself to `on_report`."""
    training = Training(config, report_every)
    with closing(training.env):
        while not training.is_done:
            training.step()
            metrics = training.report()
            if metrics is not None and on_report is not None:
                on_report(metrics, training.agent)
    return Policy(training.agent)
