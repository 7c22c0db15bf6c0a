"""GridVectorEnv: many lanes of a game behind Gymnasium's vector interface.

The native form of the environments: `lanes.py` does all the work of a step in one call.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from hal.checks import check_choice, check_whole_number, checked_seeds
from hal.envs.grid.lanes import Outcome, reset_lanes, step_lanes
from hal.envs.grid.settings import GridSettings, check_reset_options
from hal.envs.grid.state import new_state, seed_lane
from hal.envs.observations import Obs, Step
from hal.envs.patience import announced
from hal.pictures.frame import Frame
from hal.pictures.render import draw
from hal.pictures.text import to_text


class GridVectorEnv(VectorEnv[Obs, np.ndarray, np.ndarray]):
    """Many independent worlds of Crafting or Treasure, stepped together.

    Args:
        task: the final milestone: one of Crafting's milestones, or "treasure" or "green_door".
        num_envs: how many lanes.
        render_mode: "rgb_array" or "ansi".
        autoreset_mode: Gymnasium's next-step (the default), same-step or disabled.
        settings: `milestones`, `disappear_rate`, `max_steps`, `view_size`, `reward`: see
            `GridSettings`.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (Gymnasium's own form)
        "render_modes": ["rgb_array", "ansi"],
        "render_fps": 8,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }
    KEPT: ClassVar[tuple[str, ...]] = ("state",)  # what a run must keep to go on exactly

    def __init__(
        self,
        task: str = "treasure",
        num_envs: int = 1,
        *,
        render_mode: str | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        **settings: Any,
    ) -> None:
        self.settings = GridSettings.checked({"task": task, **settings})
        check_whole_number("num_envs", num_envs, 1)
        check_choice("render_mode", render_mode, (None, *self.metadata["render_modes"]))
        modes = [*AutoresetMode, *(mode.value for mode in AutoresetMode)]
        check_choice("autoreset_mode", autoreset_mode, modes)

        self.game = self.settings.game
        self.milestones: tuple[str, ...] = tuple(self.settings.milestones or ())
        self.final_milestone: str | None = self.settings.task
        self.columns = tuple(range(len(self.milestones)))
        self.num_envs = num_envs
        self.render_mode = render_mode
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self.single_action_space = spaces.Discrete(len(self.game.actions))
        self.single_observation_space = _observation_space(self.settings)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)

        self.state = new_state(num_envs)
        self._for_kernels = self.settings.for_kernels()
        self._final = self._new_outcome()
        self.is_seeded = False
        self._actions: np.ndarray | None = None  # the last step's, for the panel
        self._collected = self._final.milestones  # likewise

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Obs, dict[str, Any]]:
        """Begin new episodes: on all lanes, or on those of `options["reset_mask"]`.

        A number seeds lane i with seed + i; a sequence gives each lane its own.
        """
        seeds = checked_seeds(seed, self.num_envs)
        super().reset(seed=None if seed is None else seeds[0])
        check_reset_options(options, ("reset_mask",))
        is_chosen = np.asarray((options or {}).get("reset_mask", np.ones(self.num_envs, np.bool_)))
        if is_chosen.shape != (self.num_envs,) or is_chosen.dtype != np.bool_:
            raise ValueError(
                f"reset_mask of shape {is_chosen.shape} and type {is_chosen.dtype};"
                f" legal: ({self.num_envs},) bool"
            )
        self._seed_lanes(seeds, is_chosen)
        outcome = self._new_outcome()
        with announced("the environments' kernels"):
            reset_lanes(self._for_kernels, self.state, is_chosen, outcome)
        self._actions, self._collected = None, outcome.milestones
        return _obs(outcome), _info(outcome)

    def step(self, actions: np.ndarray) -> Step:
        """Step all lanes. With same-step autoreset, `info` is of the new episode where one ended.

        What the last step of an ended episode achieved is then in `info["final_info"]`.
        """
        actions = np.asarray(actions)
        self._check_actions(actions)
        return self.step_unchecked(actions.astype(np.int64))

    def step_unchecked(self, actions: np.ndarray) -> Step:
        """Step all lanes with int64 actions that are known to be legal."""
        outcome = self._new_outcome()
        is_same_step = self.autoreset_mode is AutoresetMode.SAME_STEP
        has_final = step_lanes(
            self._for_kernels, self.state, actions, is_same_step, outcome, self._final
        )
        info = _info(outcome)
        if has_final:
            self._add_final(info, outcome.terminated | outcome.truncated)
        self._actions, self._collected = actions, outcome.milestones
        return _obs(outcome), outcome.reward, outcome.terminated, outcome.truncated, info

    def frame(self, index: int = 0) -> Frame:
        """Return one lane's present moment, as the renderers take it."""
        lane = self.state[index]
        size = self.game.size
        collected = np.flatnonzero(self._collected[index])
        return Frame(
            game=self.game,
            grid=lane.grid[:size, :size].copy(),
            position=(int(lane.position[0]), int(lane.position[1])),
            direction=int(lane.direction),
            inventory=lane.inventory[: len(self.game.items)].copy(),
            milestones=self.milestones,
            affordances=lane.is_afforded[self._for_kernels.chosen].astype(np.bool_),
            step=int(lane.steps),
            max_steps=self._for_kernels.max_steps,
            action=self._last_action(index),
            collected=self.milestones[collected[0]] if collected.size else None,
        )

    def _last_action(self, index: int) -> str | None:
        if self._actions is None or self.state[index].steps == 0:  # a new episode has none yet
            return None
        return self.game.actions[self._actions[index]]

    def render(self) -> tuple[Any, ...] | None:
        """Return a picture or a text per lane."""
        if self.render_mode is None:
            return None
        show = to_text if self.render_mode == "ansi" else draw
        return tuple(show(self.frame(index)) for index in range(self.num_envs))

    def _new_outcome(self) -> Outcome:
        return Outcome.empty(
            self.num_envs, self.settings.view_size, len(self.game.items), len(self.milestones)
        )

    def _seed_lanes(self, seeds: Sequence[int | None], is_chosen: np.ndarray) -> None:
        if not self.is_seeded:  # every lane needs a start, chosen or not, given a seed or not
            for lane, word in enumerate(self.np_random.integers(2**31, size=self.num_envs)):
                seed_lane(self.state[lane], int(word))
            self.is_seeded = True
        for lane, seed in enumerate(seeds):
            if seed is not None and is_chosen[lane]:
                seed_lane(self.state[lane], seed)

    def _check_actions(self, actions: np.ndarray) -> None:
        num_actions = len(self.game.actions)
        if actions.shape != (self.num_envs,) or actions.dtype.kind not in "iu":
            raise ValueError(
                f"actions of shape {actions.shape} and type {actions.dtype};"
                f" legal: ({self.num_envs},) integers"
            )
        if actions.min() < 0 or actions.max() >= num_actions:
            illegal = actions[(actions < 0) | (actions >= num_actions)][0]
            raise ValueError(f"action {illegal}; legal actions: 0 to {num_actions - 1}")
        if not self.is_seeded:
            raise RuntimeError("step before the first reset")
        if self.autoreset_mode is AutoresetMode.DISABLED and self.state["is_done"].any():
            lanes = np.flatnonzero(self.state["is_done"]).tolist()
            raise RuntimeError(f"the episodes of lanes {lanes} have ended; reset them first")

    def _add_final(self, info: dict[str, Any], has_ended: np.ndarray) -> None:
        final_obs = np.full(self.num_envs, None, dtype=object)
        for lane in np.flatnonzero(has_ended):
            final_obs[lane] = {
                name: batch[lane].copy() for name, batch in _obs(self._final).items()
            }
        final_info: dict[str, Any] = {}
        for name, batch in _info(self._final).items():
            final_info[name] = batch & has_ended[:, np.newaxis]  # others hold an earlier end's
            final_info[f"_{name}"] = has_ended
        info["final_obs"], info["_final_obs"] = final_obs, has_ended
        info["final_info"], info["_final_info"] = final_info, has_ended


def _obs(outcome: Outcome) -> Obs:
    return {"image": outcome.image, "inventory": outcome.inventory}


def _info(outcome: Outcome) -> dict[str, Any]:
    return {"milestones": outcome.milestones, "affordances": outcome.affordances}


def _observation_space(settings: GridSettings) -> spaces.Dict:
    game, size = settings.game, settings.view_size
    return spaces.Dict(
        {
            "image": spaces.Box(0, len(game.tiles) - 1, (size, size), np.uint8),
            "inventory": spaces.Box(0, game.most_items, (len(game.items),), np.int32),
        }
    )
