"""Episodes of an agent that does not learn: success, length, coverage."""

from dataclasses import asdict, dataclass, replace

import numpy as np
from scipy import stats

from hal.agent.hierarchical import HierarchicalAgent
from hal.agent.rainbow import RainbowAgent
from hal.agent.replay import NONE
from hal.agent.subtasks import SubtaskState, first_milestone
from hal.config import GREEDY, MOST_LANES, MOST_SEEDS, Exploration
from hal.envs import GridVectorEnv
from hal.log import Tally, tally_mask

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


def evaluate(
    agent: HierarchicalAgent | RainbowAgent,
    num_episodes: int = 200,
    seed: int = EVALUATION_SEED,
    explore: Exploration = GREEDY,
    max_steps: int | None = None,
) -> Episodes:
    """Play one episode on each of as many fresh lanes, by default of the game's full length."""
    options = replace(agent.config.env_options(), max_steps=max_steps, reward="sparse")
    env = GridVectorEnv(num_envs=num_episodes, **asdict(options))
    rng = np.random.default_rng(seed)
    obs, info = env.reset(seed=seed)
    lanes = SubtaskState.new(num_episodes, len(agent.milestones))
    active = np.arange(num_episodes)
    success = np.zeros(num_episodes, dtype=np.bool_)
    length = np.zeros(num_episodes, dtype=np.int64)
    covered = np.zeros(info["milestones"].shape, dtype=np.bool_)
    actions = np.zeros(num_episodes, dtype=np.int64)
    tally = Tally()
    while active.size:
        chosen = active[lanes.subtask[active] == NONE]
        judged = agent.choose_subtasks(obs, info, lanes, chosen, explore, rng)
        if judged is not None:
            tally_mask(tally, *judged, info, chosen, agent.milestones)
        here = {name: batch[active] for name, batch in obs.items()}
        actions[active] = agent.controller.act(
            here, lanes.subtask[active], explore.controller, rng, agent.config.average_actions
        )
        obs, _, terminated, truncated, info = env.step(actions)
        is_done = terminated | truncated
        lanes.advance(first_milestone(info["milestones"]), is_done, agent.config.max_option_steps)
        length[active] += 1
        covered[active] |= info["milestones"][active]
        success[active] = terminated[active]
        active = active[~is_done[active]]
    return Episodes(success, length, covered, tally.take())
