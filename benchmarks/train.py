"""Where the CPU time of training goes, steps per second and memory: `make bench-train`."""

import resource
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import tyro

from hal.agent.build import background_of, make_agent
from hal.agent.hal import HierarchicalAgent
from hal.config.presets import make_config
from hal.envs.grid.vector import GridVectorEnv


@dataclass(frozen=True)
class Bench:
    """What is measured."""

    task: str = "iron"
    """The task."""
    method: str = "hal"
    """A hierarchical method."""
    preset: str = "fast"
    """The scale."""
    steps: int = 600
    """Steps of all lanes that are measured, after as many that are not."""


class Stopwatch:
    """CPU seconds spent in methods, nested ones taken off the outer's."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._nested = [0.0]

    def watch(self, owner: Any, method: str, name: str) -> None:
        """Time every call of a method from now on."""
        function: Callable[..., Any] = getattr(owner, method)

        def timed(*args: Any, **kwargs: Any) -> Any:
            self._nested.append(0.0)
            start = time.process_time()
            result = function(*args, **kwargs)
            used = time.process_time() - start
            self.seconds[name] += used - self._nested.pop()
            self._nested[-1] += used
            return result

        setattr(owner, method, timed)


def main(bench: Bench) -> None:
    """Train for a while and print the shares."""
    torch.set_num_threads(1)
    config = make_config(bench.task, bench.method, bench.preset)
    env = GridVectorEnv(
        config.task, config.environment.num_envs, max_steps=config.environment.horizon
    )
    obs, info = env.reset(seed=0)
    agent = make_agent(config, env, background_of(env, obs))
    assert isinstance(agent, HierarchicalAgent)
    watch = Stopwatch()
    for owner, method, name in (
        (env, "step", "environment"),
        (agent.controller, "act", "act"),
        (agent, "choose", "choose subtasks"),
        (agent.replay, "add", "replay"),
        (agent.replay, "draw", "replay"),
        (agent.controller, "update", "controller"),
        (agent.meta, "update", "meta-controller"),
        (agent.affordances, "add", "examples"),
        (agent.affordances, "_contrast", "contrast"),
        (agent.affordances, "_classify", "classifier"),
        (agent.affordances, "update", "context, backward"),
        (agent.affordances, "refresh_filter", "filter"),
        (agent.tally, "add", "logging"),
        (agent.tally, "add_columns", "logging"),
        (agent.tally, "add_all", "logging"),
        (agent.episodes, "add", "logging"),
        (agent.episodes, "end", "logging"),
        (agent, "act", "bookkeeping"),
        (agent, "observe", "bookkeeping"),
        (agent, "update", "bookkeeping"),
    ):
        watch.watch(owner, method, name)
    agent.num_successes = 1  # so that the meta-controller is trained from the start
    for i in range(2 * bench.steps):
        if i == bench.steps:
            watch.seconds.clear()
            start = time.process_time()
            first, first_update = agent.num_steps, agent.num_updates
        obs, reward, terminated, truncated, info = env.step(agent.act(obs, info))
        agent.observe(obs, reward, terminated, truncated, info)
        agent.update()
    total = time.process_time() - start
    rates = [(agent.num_steps - first) / total, (agent.num_updates - first_update) / total]
    print(f"{bench.task} {bench.method}: {rates[0]:,.0f} steps/s, {rates[1]:,.0f} updates/s")
    for name, seconds in sorted(watch.seconds.items(), key=lambda item: -item[1]):
        print(f"{name:20}{seconds / total:6.1%}{seconds / bench.steps * 1e3:8.2f} ms")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory {peak:,.0f} MB")


if __name__ == "__main__":
    main(tyro.cli(Bench))
