"""Observations in the forms that other people's agents take: planes, a vector, a picture."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs

from hal.envs.grid.single import GridEnv
from hal.envs.observations import Obs
from hal.pictures.render import draw_view


class OneHotPlanes(gymnasium.ObservationWrapper[Any, Any, Obs], RecordConstructorArgs):
    """The image as one plane of zeros and ones per tile, (tiles, view, view)."""

    def __init__(self, env: gymnasium.Env[Obs, Any]) -> None:
        RecordConstructorArgs.__init__(self)
        super().__init__(env)
        game, size = _grid_env(env).game, _grid_env(env).settings.view_size
        self._one_hot = np.eye(len(game.tiles), dtype=np.uint8)
        planes = spaces.Box(0, 1, (len(game.tiles), size, size), np.uint8)
        self.observation_space = spaces.Dict({**_parts(env), "image": planes})

    def observation(self, observation: Obs) -> Obs:
        """Replace the image's codes by planes."""
        planes = self._one_hot[observation["image"]].transpose(2, 0, 1)
        return {**observation, "image": np.ascontiguousarray(planes)}


class FlatVector(gymnasium.ObservationWrapper[np.ndarray, Any, Obs], RecordConstructorArgs):
    """Planes and inventory counts in one float32 vector."""

    def __init__(self, env: gymnasium.Env[Obs, Any]) -> None:
        RecordConstructorArgs.__init__(self)
        super().__init__(env)
        self._planes = OneHotPlanes(env)
        game, size = _grid_env(env).game, _grid_env(env).settings.view_size
        num_cells = len(game.tiles) * size * size
        high = np.full(num_cells + len(game.items), game.most_items, dtype=np.float32)
        high[:num_cells] = 1
        self.observation_space = spaces.Box(np.zeros_like(high), high, dtype=np.float32)

    def observation(self, observation: Obs) -> np.ndarray:
        """Join the flattened planes and the counts."""
        parts = self._planes.observation(observation)
        return np.concatenate([parts["image"].ravel(), parts["inventory"]]).astype(np.float32)


class RGBView(gymnasium.ObservationWrapper[Any, Any, Obs], RecordConstructorArgs):
    """The image as a picture of what the agent sees, (pixels, pixels, 3)."""

    def __init__(self, env: gymnasium.Env[Obs, Any], tile_size: int = 8) -> None:
        RecordConstructorArgs.__init__(self, tile_size=tile_size)
        super().__init__(env)
        self._tile_size = tile_size
        self._game = _grid_env(env).game
        side = _grid_env(env).settings.view_size * tile_size
        picture = spaces.Box(0, 255, (side, side, 3), np.uint8)
        self.observation_space = spaces.Dict({**_parts(env), "image": picture})

    def observation(self, observation: Obs) -> Obs:
        """Draw the image."""
        picture = draw_view(self._game, observation["image"], self._tile_size)
        return {**observation, "image": picture}


def _grid_env(env: gymnasium.Env[Any, Any]) -> GridEnv:
    grid_env = env.unwrapped
    if not isinstance(grid_env, GridEnv):
        raise ValueError(f"{grid_env} is not one of this package's environments")
    return grid_env


def _parts(env: gymnasium.Env[Any, Any]) -> dict[str, spaces.Space[Any]]:
    assert isinstance(env.observation_space, spaces.Dict)
    return dict(env.observation_space.spaces)
