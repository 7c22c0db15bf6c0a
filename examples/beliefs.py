"""What a trained agent thinks possible in the tea house, beside the truth."""

import sys
from collections.abc import Iterator

import hal
from examples.tea import make_open


def beliefs(run: str, seed: int) -> Iterator[str]:
    """Yield lines of an episode, one at its start and one after each milestone."""
    agent = hal.load(run)
    env = make_open()
    yield f"{'carried':36}{'pursued':10}" + "".join(f"{name:>8}" for name in agent.milestones)
    obs, info = env.reset(seed=seed)
    is_over = False
    while not is_over:
        is_new = agent.subtasks == [None] or info["milestones"].any()
        action = agent.act(obs, info)
        if is_new:
            carried = ", ".join(sorted(env.goods)) or "nothing"
            pairs = zip(agent.affordances(obs), info["affordances"], strict=True)
            marks = "".join(f"{mark(*pair):>8}" for pair in pairs)
            yield f"{carried:36}{agent.subtasks[0]:10}{marks}"
        obs, _, terminated, truncated, info = env.step(action)
        is_over = terminated or truncated
    yield f"served after {env.num_steps} steps" if terminated else "the guest has left"


def mark(is_believed: bool, is_true: bool) -> str:
    """Return a belief as a word, with an exclamation mark if it is wrong."""
    return ("yes" if is_believed else "-") + ("" if is_believed == is_true else "!")


if __name__ == "__main__":
    print(*beliefs(sys.argv[1], seed=int(sys.argv[2])), sep="\n")
