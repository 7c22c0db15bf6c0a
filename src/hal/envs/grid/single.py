"""GridEnv: one lane of `GridVectorEnv` behind Gymnasium's plain interface."""

from typing import Any

import numpy as np
from gymnasium import Env
from gymnasium.vector import AutoresetMode

from hal.checks import check_choice, checked_seeds
from hal.envs.grid.settings import check_reset_options
from hal.envs.grid.vector import GridVectorEnv
from hal.envs.observations import Obs, pick
from hal.pictures.frame import Frame
from hal.pictures.render import draw
from hal.pictures.text import to_text
from hal.pictures.window import Window


class GridEnv(Env[Obs, Any]):
    """One world of Crafting or Treasure.

    Args:
        task: the final milestone: one of Crafting's milestones, or "treasure" or "green_door".
        render_mode: "human" (a window), "rgb_array" or "ansi".
        settings: `milestones`, `disappear_rate`, `max_steps`, `view_size`, `reward`: see
            `GridSettings`.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (Gymnasium's own form)
        "render_modes": ["human", "rgb_array", "ansi"],
        "render_fps": 8,
    }

    def __init__(
        self, task: str = "treasure", *, render_mode: str | None = None, **settings: Any
    ) -> None:
        check_choice("render_mode", render_mode, (None, *self.metadata["render_modes"]))
        self._lanes = GridVectorEnv(task, autoreset_mode=AutoresetMode.DISABLED, **settings)
        self.render_mode = render_mode
        self.settings = self._lanes.settings
        self.game = self._lanes.game
        self.milestones = self._lanes.milestones
        self.final_milestone = self._lanes.final_milestone
        self.action_space = self._lanes.single_action_space
        self.observation_space = self._lanes.single_observation_space
        self._window = Window() if render_mode == "human" else None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Obs, dict[str, Any]]:
        """Begin a new episode; without a seed, with the next world of the last one."""
        (seed,) = checked_seeds(seed, 1)
        check_reset_options(options, ())
        super().reset(seed=seed)
        # The environment's own generator, not the lane's, is what Gymnasium's users may set.
        if seed is None and not self._lanes.is_seeded:
            seed = int(self.np_random.integers(2**31))
        obs, info = self._lanes.reset(seed=seed)
        self._show()
        return pick(obs, 0), pick(info, 0)

    def step(self, action: int | np.integer[Any]) -> tuple[Obs, float, bool, bool, dict[str, Any]]:
        """Do one action. An ended episode must be reset first."""
        if not self.action_space.contains(action):
            raise ValueError(f"action {action!r}; legal actions: 0 to {len(self.game.actions) - 1}")
        if self._lanes.state[0].is_done:
            raise RuntimeError("the episode has ended, or has not begun; reset first")
        obs, reward, terminated, truncated, info = self._lanes.step_unchecked(
            np.array([action], dtype=np.int64)
        )
        self._show()
        return (
            pick(obs, 0),
            float(reward[0]),
            bool(terminated[0]),
            bool(truncated[0]),
            pick(info, 0),
        )

    def frame(self) -> Frame:
        """Return the present moment, as the renderers take it."""
        return self._lanes.frame()

    def render(self) -> Any:
        """Return a picture or a text; a window shows itself."""
        if self.render_mode == "rgb_array":
            return draw(self.frame())
        if self.render_mode == "ansi":
            return to_text(self.frame())
        return None

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()

    def _show(self) -> None:
        if self._window is not None:
            self._window.show(draw(self.frame()), self.metadata["render_fps"])
