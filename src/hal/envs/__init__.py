"""The environments of the paper, Crafting and Treasure, registered with Gymnasium."""

import gymnasium

from hal.envs.rules import GAMES, Game
from hal.envs.single import GridEnv
from hal.envs.vector import GridVectorEnv

__all__ = ["ENV_IDS", "GridEnv", "GridVectorEnv"]


def _env_id(game: Game, task: str) -> str:
    words = [game.name] if task == game.name else [game.name, task]
    return "hal/" + "-".join(word.title().replace("_", "") for word in words) + "-v0"


ENV_IDS = {_env_id(game, task): task for game in GAMES for task in game.tasks}

for _id, _task in ENV_IDS.items():
    gymnasium.register(
        _id,
        entry_point="hal.envs.single:GridEnv",
        vector_entry_point="hal.envs.vector:GridVectorEnv",
        kwargs={"task": _task},
    )
