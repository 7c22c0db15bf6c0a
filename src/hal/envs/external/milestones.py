"""Milestones for environments that signal none: wrappers that turn what happens into them.

A milestone has a level: whether a predicate holds, how often something was achieved, how many of an
item are held. It is signalled on every step on which its level rises.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs

Predicate = Callable[[Any, dict[str, Any], Any], bool]


def check_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return milestones' names, or say what is wrong with them."""
    if isinstance(names, str):
        raise ValueError(f"milestones {names!r}; legal: a tuple of names")
    if not names:
        raise ValueError("there are no milestones; legal: one or more")
    for name in names:
        # A slash tells parts of a metric's name from each other.
        if not isinstance(name, str) or not name or "/" in name:
            raise ValueError(f"milestone {name!r}; legal: names without a slash")
    twice = [name for i, name in enumerate(names) if name in names[:i]]
    if twice:
        raise ValueError(f"milestone {twice[0]!r} is there twice; legal: different names")
    return tuple(names)


class RisingMilestones(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Adds `milestones`, their names, and `info["milestones"]`, (K,) bool, at every step."""

    def __init__(self, env: gymnasium.Env[Any, Any], names: Sequence[str]) -> None:
        gymnasium.Wrapper.__init__(self, env)
        self.milestones = check_names(names)
        self._before = np.zeros(len(names))

    def levels(self, obs: Any, info: dict[str, Any]) -> Sequence[float]:
        """Return the milestones' levels after a step."""
        raise NotImplementedError

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode: whatever holds already is not an event."""
        obs, info = self.env.reset(seed=seed, options=options)
        self._before = np.array(self.levels(obs, info), dtype=float)
        return obs, {**info, "milestones": np.zeros(len(self.milestones), dtype=np.bool_)}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Take a step and signal what has risen."""
        obs, reward, terminated, truncated, info = self.env.step(action)
        levels = np.array(self.levels(obs, info), dtype=float)
        info = {**info, "milestones": levels > self._before}
        self._before = levels
        return obs, reward, terminated, truncated, info


class MilestoneWrapper(RisingMilestones):
    """A milestone for each predicate, signalled when it becomes true.

    Args:
        env: the environment.
        predicates: by name; each takes the observation, the info and the unwrapped environment.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], predicates: Mapping[str, Predicate]) -> None:
        RecordConstructorArgs.__init__(self, predicates=predicates)
        super().__init__(env, list(predicates))
        self._predicates = tuple(predicates.values())

    def levels(self, obs: Any, info: dict[str, Any]) -> Sequence[float]:
        """Return which predicates hold."""
        return [bool(holds(obs, info, self.unwrapped)) for holds in self._predicates]


class InfoCounterMilestones(RisingMilestones):
    """A milestone for each counter in `info[key]`, a mapping from names to counts.

    Args:
        env: the environment.
        key: of the mapping; without it in the info of a reset, all counts are 0 there.
        names: of the counters; those of the first reset's info if they are not given.
    """

    def __init__(
        self, env: gymnasium.Env[Any, Any], key: str, names: Sequence[str] | None = None
    ) -> None:
        RecordConstructorArgs.__init__(self, key=key, names=names)
        if names is None:
            _, info = env.reset()
            if key not in info:
                raise ValueError(f"info has no {key!r} at a reset; legal: name the counters")
            names = list(info[key])
        super().__init__(env, names)
        self._key = key

    def levels(self, obs: Any, info: dict[str, Any]) -> Sequence[float]:
        """Return the counts."""
        counts = info.get(self._key, {})
        return [counts.get(name, 0) for name in self.milestones]

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Take a step, after which info must have the counters: else they would fall and rise."""
        obs, reward, terminated, truncated, info = super().step(action)
        if self._key not in info:
            raise ValueError(f"a step's info has no {self._key!r}; legal: the counters")
        return obs, reward, terminated, truncated, info


class InventoryMilestones(RisingMilestones):
    """A milestone for each item whose count rises.

    Args:
        env: the environment.
        key: of the counts, in a dictionary observation or in info: a mapping from items to counts,
            or an array with an entry for each.
        names: of the items; those of the mapping if they are not given.
    """

    def __init__(
        self, env: gymnasium.Env[Any, Any], key: str, names: Sequence[str] | None = None
    ) -> None:
        RecordConstructorArgs.__init__(self, key=key, names=names)
        self._key = key
        counts = self._counts(*env.reset())
        if names is None and not isinstance(counts, Mapping):
            raise ValueError(f"the items of {key!r} have no names; legal: name them")
        names = list(counts) if names is None else list(names)
        if not isinstance(counts, Mapping) and len(counts) != len(names):
            raise ValueError(f"{len(names)} names for the {len(counts)} items of {key!r}")
        super().__init__(env, names)

    def _counts(self, obs: Any, info: dict[str, Any]) -> Any:
        for place in (obs, info):
            if isinstance(place, Mapping) and self._key in place:
                return place[self._key]
        raise ValueError(f"neither the observation nor info has {self._key!r}")

    def levels(self, obs: Any, info: dict[str, Any]) -> Sequence[float]:
        """Return the counts."""
        counts = self._counts(obs, info)
        if isinstance(counts, Mapping):
            return [counts.get(name, 0) for name in self.milestones]
        return list(counts)


class RememberedMilestones(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Adds to dictionary observations which milestones the episode has had, `obs["collected"]`.

    Agents have no memory: where a view does not show what was done, they would do it again.

    Args:
        env: an environment with milestones.
    """

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        RecordConstructorArgs.__init__(self)
        gymnasium.Wrapper.__init__(self, env)
        seen = env.observation_space
        if not isinstance(seen, spaces.Dict) or "collected" in seen.spaces:
            raise ValueError(f"observations {seen}; legal: a Dict without 'collected'")
        size = len(env.get_wrapper_attr("milestones"))
        self._collected = np.zeros(size, dtype=np.int8)
        self.observation_space = spaces.Dict({**seen.spaces, "collected": spaces.MultiBinary(size)})

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode, which has had none yet."""
        obs, info = self.env.reset(seed=seed, options=options)
        self._collected = np.zeros_like(self._collected)
        return {**obs, "collected": self._collected}, info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Take a step and remember what it has brought."""
        obs, reward, terminated, truncated, info = self.env.step(action)
        self._collected = self._collected | info["milestones"]
        return {**obs, "collected": self._collected}, reward, terminated, truncated, info
