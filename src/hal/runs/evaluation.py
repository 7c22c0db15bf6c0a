"""Episodes of an agent that does not learn: success, length, coverage."""

from contextlib import closing
from dataclasses import dataclass

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv

from hal.agent.metrics import Tally, succeeded, tally_mask
from hal.agent.protocol import Agent
from hal.agent.schedules import GREEDY, Exploration
from hal.config.settings import EVALUATION_SEED
from hal.envs.external.find import is_external
from hal.envs.lanes import Lanes
from hal.runs.lanes import make_lanes
from hal.runs.policy import Policy
from hal.runs.signals import delayed


@dataclass(frozen=True)
class Episodes:
    """One entry per episode."""

    success: np.ndarray
    length: np.ndarray
    covered: np.ndarray  # (episodes, K) bool, milestones collected
    mask: dict[str, float]  # how good the mask was where subtasks were chosen

    def summary(self, milestones: tuple[str, ...]) -> dict[str, float]:
        """Return rates, with the success rate's 95% interval (Wilson)."""
        from scipy import stats  # noqa: PLC0415 (slow to import, and training does not need it)

        test = stats.binomtest(int(self.success.sum()), self.success.size)
        interval = test.proportion_ci(0.95, method="wilson")
        covered = self.covered.mean(axis=0)
        return {
            "success": float(self.success.mean()),
            "success_low": float(interval.low),
            "success_high": float(interval.high),
            "length": float(self.length.mean()),
            **{
                f"coverage/{name}": float(share)
                for name, share in zip(milestones, covered, strict=True)
            },
            **self.mask,
        }


def check_lanes(env: Lanes, milestones: tuple[str, ...]) -> None:
    """Refuse an environment that an agent cannot be evaluated in."""
    if not isinstance(env, VectorEnv):
        raise ValueError(f"{type(env).__name__} has no lanes; legal: a vector environment")
    if env.metadata.get("autoreset_mode") is not AutoresetMode.NEXT_STEP:
        raise ValueError("the environment's autoreset_mode; legal: next-step")
    if env.milestones != milestones:
        names = ", ".join(env.milestones)
        raise ValueError(f"milestones {names}; legal: the agent's, {', '.join(milestones)}")


def evaluate(
    agent: Agent | Policy,
    env: Lanes | None = None,
    *,
    num_episodes: int = 200,
    seed: int = EVALUATION_SEED,
    explore: Exploration = GREEDY,
) -> Episodes:
    """Play one episode on each lane of an environment.

    Without an environment: on as many fresh lanes of the agent's own task, to the game's end.
    """
    agent = agent.agent if isinstance(agent, Policy) else agent
    if env is None:
        with closing(make_lanes(agent.config, num_episodes, to_play_once=True)) as lanes:
            return evaluate(agent, lanes, seed=seed, explore=explore)
    check_lanes(env, agent.milestones)
    policy = Policy(agent, explore, seed)
    obs, info = env.reset(seed=seed)
    active = np.arange(env.num_envs)
    length = np.zeros(env.num_envs, dtype=np.int64)
    covered = np.zeros(info["milestones"].shape, dtype=np.bool_)
    actions = np.zeros(env.num_envs, dtype=np.int64)
    tally = Tally()
    longest = agent.config.environment.horizon if is_external(agent.config.task) else np.inf
    while active.size and length.max() < longest:  # not all that others write ever ends
        with delayed():
            actions[active], choice = policy.decide(active, obs, info)
            if choice.beliefs is not None:
                tally_mask(tally, *choice.beliefs, info, choice.lanes, agent.milestones)
            obs, _, terminated, truncated, info = env.step(actions)
        length[active] += 1
        covered[active] |= info["milestones"][active]
        active = active[~(terminated | truncated)[active]]
    success = succeeded(covered, agent.facts.final)
    return Episodes(success, length, covered, tally.take())
