"""Episodes of an agent that does not learn: success, length, coverage."""

from dataclasses import asdict, dataclass

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv

from hal.agent.build import Agent
from hal.config import GREEDY, MOST_LANES, MOST_SEEDS, Exploration
from hal.envs import GridVectorEnv
from hal.log import Tally, tally_mask
from hal.policy import Policy

EVALUATION_SEED = MOST_SEEDS * MOST_LANES  # above all seeds of training


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


def check_env(env: GridVectorEnv, milestones: tuple[str, ...]) -> None:
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
    env: GridVectorEnv | None = None,
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
        env = GridVectorEnv(num_envs=num_episodes, **asdict(agent.config.play_options()))
    else:
        check_env(env, agent.milestones)
    policy = Policy(agent, explore, seed)
    obs, info = env.reset(seed=seed)
    active = np.arange(env.num_envs)
    success = np.zeros(env.num_envs, dtype=np.bool_)
    length = np.zeros(env.num_envs, dtype=np.int64)
    covered = np.zeros(info["milestones"].shape, dtype=np.bool_)
    actions = np.zeros(env.num_envs, dtype=np.int64)
    tally = Tally()
    while active.size:
        actions[active] = policy.act_on(active, obs, info)
        if policy.judged is not None:
            tally_mask(tally, *policy.judged, info, policy.chosen, agent.milestones)
        obs, _, terminated, truncated, info = env.step(actions)
        length[active] += 1
        covered[active] |= info["milestones"][active]
        success[active] = terminated[active]
        active = active[~(terminated | truncated)[active]]
    return Episodes(success, length, covered, tally.take())
