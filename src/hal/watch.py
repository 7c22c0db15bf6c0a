"""Episodes of a trained agent, moment by moment, with what it believes."""

from collections.abc import Iterator
from dataclasses import asdict

from hal.envs.render import Frame
from hal.envs.single import GridEnv
from hal.policy import Policy


def env_of(policy: Policy) -> GridEnv:
    """Return the environment an agent was trained for, with the game's full length."""
    return GridEnv(**asdict(policy.config.play_options()))


def episode(policy: Policy, env: GridEnv, seed: int | None, max_steps: int) -> Iterator[Frame]:
    """Yield the moments of one greedy episode, no more than so many steps."""
    obs, info = env.reset(seed=seed)
    policy.reset()
    is_over = False
    while True:
        action = policy.act(obs, info)
        if not policy.config.is_flat:
            is_learned = policy.config.mask == "learned"
            env.annotate(
                policy.subtasks[0],
                policy.affordances(obs) if is_learned else None,
                policy.q_subtasks(obs),
            )
        frame = env.frame()
        yield frame
        if is_over or frame.step >= max_steps:
            return
        obs, _, terminated, truncated, info = env.step(int(action))
        is_over = terminated or truncated
