"""A tiny environment that is not of the package: fetch a key, then open a door."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from hal.config.presets import make_config
from hal.config.settings import Config

LENGTH = 5
PARTS, VECTOR, PIXELS = (f"tests.corridor:make_{kind}" for kind in ("parts", "vector", "pixels"))
SMALL: dict[str, Any] = {
    "steps": 3_000,
    "num_lanes": 8,
    "update_every": 16,
    "meta_every": 16,
    "context_every": 16,
    "target_every": 16,
    "warmup_steps": 200,
    "replay_steps": 4_000,
    "controller_anneal_steps": 2_000,
    "first_successes": 5,
    "meta_anneal_successes": 50,
    "max_option_steps": 8,
    "width": 32,
    "meta_width": 32,
    "context_width": 32,
    "context_size": 8,
    "examples": 200,
    "meta_replay": 2_000,
    "knn_n": 50,
    "batch_windows": 8,
    "window": 8,
    "trained_steps": 8,
    "meta_batch": 32,
    "triplets": 16,
    "classifier_batch": 8,
}


class Corridor(gymnasium.Env[Any, Any]):
    """Cells in a row: a key at the left end, a door at the right one; the agent starts between."""

    metadata = {"render_modes": ["rgb_array"]}  # noqa: RUF012 (Gymnasium's own form)
    milestones = ("door", "key")
    final_milestone: str | None = "door"
    action_space = spaces.Discrete(2, start=3)  # 3: left, 4: right

    def __init__(self, kind: str = "dict", render_mode: str | None = None) -> None:
        self.kind = kind
        self.render_mode = render_mode
        vector = spaces.Box(-np.inf, np.inf, (2,), np.float32)
        parts = spaces.Dict(
            {"row": spaces.Box(0, 1, (1, LENGTH), np.uint8), "key": spaces.Discrete(2)}
        )
        pixels = spaces.Box(0, 255, (32, 32, 3), np.uint8)
        self.observation_space = {"dict": parts, "vector": vector, "pixels": pixels}[kind]

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """Begin in the middle."""
        super().reset(seed=seed)
        self.place, self.has_key, self.steps = int(self.np_random.integers(1, LENGTH - 1)), 0, 0
        return self.observed(), self.info(None)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Go left or right."""
        assert self.action_space.contains(action)
        before = self.has_key
        self.place = int(np.clip(self.place + (1 if action == 4 else -1), 0, LENGTH - 1))
        self.has_key |= self.place == 0
        self.steps += 1
        is_done = bool(self.has_key and self.place == LENGTH - 1)
        got = "door" if is_done else "key" if self.has_key > before else None
        return self.observed(), float(is_done), is_done, self.steps >= 20, self.info(got)

    def info(self, got: str | None) -> dict[str, Any]:
        """Signal a milestone."""
        return {"milestones": np.array([name == got for name in self.milestones]), "other": "text"}

    def observed(self) -> Any:
        """Return where the agent is and whether it has the key."""
        row = np.zeros((1, LENGTH), dtype=np.uint8)
        row[0, self.place] = 1
        if self.kind == "dict":
            return {"row": row, "key": np.int64(self.has_key)}
        if self.kind == "vector":
            return np.array([self.place, self.has_key], dtype=np.float32)
        return self.render()

    def render(self) -> np.ndarray:
        """Draw it."""
        picture = np.zeros((32, 32, 3), dtype=np.uint8)
        picture[:, 6 * self.place : 6 * self.place + 6, self.has_key] = 255
        return picture


def make_parts(render_mode: str | None = None) -> Corridor:
    """Return one with a dictionary as its observations."""
    return Corridor("dict", render_mode)


def make_vector() -> Corridor:
    """Return one whose observations are a vector."""
    return Corridor("vector")


def make_pixels() -> Corridor:
    """Return one whose observations are pictures."""
    return Corridor("pixels")


class TasklessCorridor(Corridor):
    """One without a final milestone."""

    final_milestone = None


def make_taskless() -> Corridor:
    """Return one without a task."""
    return TasklessCorridor("vector")


def small(task: str = PARTS, method: str = "hal", **settings: Any) -> Config:
    """Return a config that learns little and soon."""
    return make_config(task, method, **{**SMALL, **settings})
