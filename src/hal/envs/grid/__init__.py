"""The paper's two games, Crafting and Treasure, registered with Gymnasium.

Rules as tables (`rules.py`) -> kernels of one lane (`crafting.py`, `treasure.py`,
`affordances.py`) -> one step of all lanes (`lanes.py`) -> Gymnasium (`vector.py`, `single.py`).
"""

import gymnasium

from hal.envs.grid.rules import GAMES, Game


def _env_id(game: Game, task: str) -> str:
    words = [game.name] if task == game.name else [game.name, task]
    return "hal/" + "-".join(word.title().replace("_", "") for word in words) + "-v0"


ENV_IDS = {_env_id(game, task): task for game in GAMES for task in game.tasks}

for _id, _task in ENV_IDS.items():
    gymnasium.register(
        _id,
        entry_point="hal.envs.grid.single:GridEnv",
        vector_entry_point="hal.envs.grid.vector:GridVectorEnv",
        kwargs={"task": _task},
    )
