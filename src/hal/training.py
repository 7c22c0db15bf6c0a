"""Training: agent.act -> env.step -> agent.observe -> agent.update -> report."""

import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import torch

from hal.agent.build import Agent, background_of, make_agent
from hal.config import MOST_LANES, Config
from hal.envs import GridVectorEnv
from hal.policy import Policy

NUM_REPORTS = 100  # in a run, unless somebody wants more or fewer
Report = Callable[[dict[str, Any], Agent], None]


class Training:
    """A run in memory: the environment, the agent, and what the next step needs."""

    KEPT = ("env", "agent", "obs", "info", "cpu_seconds", "num_reports")

    def __init__(self, config: Config, report_every: int | None = None) -> None:
        torch.set_num_threads(1)
        self.config = config
        self.env = GridVectorEnv(num_envs=config.num_lanes, **asdict(config.env_options()))
        self.obs, self.info = self.env.reset(seed=config.seed * MOST_LANES)
        self.agent = make_agent(config, self.env, background_of(self.obs["image"]))
        self.report_every = report_every or max(config.steps // NUM_REPORTS, 1)
        self.num_reports = 0
        self.cpu_seconds = 0.0  # of the steps alone

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
    while not training.is_done:
        training.step()
        metrics = training.report()
        if metrics is not None and on_report is not None:
            on_report(metrics, training.agent)
    return Policy(training.agent)
