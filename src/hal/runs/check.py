"""Whether an agent can learn in an environment: some random steps, and what they say."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field

import numpy as np
from gymnasium import spaces

from hal.agent.networks.cells import THERMOMETER
from hal.config.presets import WITHOUT_TASK, make_config
from hal.envs.lanes import Lanes
from hal.envs.observations import Obs, Part, parts_of
from hal.errors import ContractError
from hal.runs.lanes import make_lanes

NUM_LANES = 8
TWIN_STEPS = 50  # of two environments with the same seed, to tell whether they do the same
SPARSE_CODES = 4  # times as many codes as are ever seen: the space is too wide
LARGEST_TABLE = 50_000  # pairs of a place and a code that make a slow network


@dataclass
class Trial:
    """What random steps in an environment have shown."""

    num_steps: int = 0
    num_episodes: int = 0
    cpu_seconds: float = 0.0
    counts: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))  # (K,)
    num_crowded: int = 0  # steps with several milestones
    has_affordances: bool = False
    highest: dict[str, int] = field(default_factory=dict)  # value of each part of cells and counts
    best_end: float = -np.inf  # the best reward of a step that collected the final milestone


def try_env(name: str, num_steps: int, seed: int) -> bool:
    """Run an environment and print what there is to say; return whether agents can learn there."""
    config = make_config(name)
    with ExitStack() as stack:
        try:
            env, twin = (
                stack.enter_context(closing(make_lanes(config, NUM_LANES))) for _ in range(2)
            )
            parts = parts_of(env.single_observation_space)
            trial = _try(env, parts, num_steps, seed)
            is_reproducible = _is_reproducible(env, twin, seed)
        except ContractError as error:
            print(f"broken: {error}")
            return False
        for line in _facts(name, env, parts, trial):
            print(line)
        for line in _advice(env, parts, trial, is_reproducible):
            print(line)
    return bool(trial.counts.any())


def _try(env: Lanes, parts: tuple[Part, ...], num_steps: int, seed: int) -> Trial:
    rng = np.random.default_rng(seed)
    trial = Trial(counts=np.zeros(len(env.milestones), dtype=np.int64))
    obs, _ = env.reset(seed=seed)
    is_resetting = np.zeros(NUM_LANES, dtype=np.bool_)
    while trial.num_steps < num_steps:
        _note_cells(trial, parts, obs)
        start = time.process_time()
        obs, reward, terminated, truncated, info = env.step(_random_actions(env, rng))
        trial.cpu_seconds += time.process_time() - start
        collected = info["milestones"] & ~is_resetting[:, np.newaxis]
        trial.counts += collected.sum(axis=0)
        if env.final_milestone is not None:
            trial.best_end = max([trial.best_end, *reward[collected[:, -1]]])
        trial.num_crowded += int((collected.sum(axis=1) > 1).sum())
        trial.has_affordances |= "affordances" in info
        trial.num_steps += int((~is_resetting).sum())
        is_resetting = (terminated | truncated) & ~is_resetting
        trial.num_episodes += int(is_resetting.sum())
    return trial


def _random_actions(env: Lanes, rng: np.random.Generator) -> np.ndarray:
    assert isinstance(env.single_action_space, spaces.Discrete)
    return rng.integers(env.single_action_space.n, size=NUM_LANES)


def _note_cells(trial: Trial, parts: tuple[Part, ...], obs: Obs) -> None:
    for part in parts:
        if part.kind in ("cells", "counts"):
            highest = int(obs[part.name].max())
            trial.highest[part.name] = max(trial.highest.get(part.name, highest), highest)


def _is_reproducible(one: Lanes, other: Lanes, seed: int) -> bool:
    """Tell whether two environments with the same seed do the same."""
    rng = np.random.default_rng(seed)
    (first, _), (second, _) = (env.reset(seed=seed) for env in (one, other))
    for _ in range(TWIN_STEPS):
        if any(not np.array_equal(first[name], second[name]) for name in first):
            return False
        actions = _random_actions(one, rng)
        first, second = (env.step(actions)[0] for env in (one, other))
    return True


def _facts(name: str, env: Lanes, parts: tuple[Part, ...], trial: Trial) -> Iterator[str]:
    yield f"{name}: the contract was kept in {trial.num_steps:,} random steps"
    for part in parts:
        yield f"  observation {part.name}: {_described(part)}"
    assert isinstance(env.single_action_space, spaces.Discrete)
    yield f"  actions: {env.single_action_space.n}"
    truth = "told" if trial.has_affordances else "not told"
    yield f"  true affordances: {truth}"
    yield f"  speed: {trial.num_steps / trial.cpu_seconds:,.0f} steps per CPU second"
    yield f"  episodes ended: {trial.num_episodes}"
    yield f"  milestones collected (final: {env.final_milestone or 'none'}):"
    for milestone, count in zip(env.milestones, trial.counts, strict=True):
        yield f"    {milestone}: {count:,}"


def _described(part: Part) -> str:
    size = " x ".join(map(str, part.shape)) or "1"
    if part.kind != "cells":
        return f"{size} {part.kind}"
    return f"{size} cells of {' + '.join(map(str, part.num_codes))} codes"


def _advice(
    env: Lanes, parts: tuple[Part, ...], trial: Trial, is_reproducible: bool
) -> Iterator[str]:
    """Yield what to change, or to know."""
    silent = [name for name, n in zip(env.milestones, trial.counts, strict=True) if not n]
    if len(silent) == len(env.milestones):
        yield "broken: no milestone was ever collected: there is nothing to learn from;"
        yield "  add an easier one, or look longer with --steps"
    elif silent:
        yield f"note: never collected by chance, fine if others lead there: {', '.join(silent)}"
    if trial.num_crowded:
        yield f"note: {trial.num_crowded} steps collected several milestones; an option then counts"
        yield "  as having got what it pursued, or else the last of them"
    if env.final_milestone is None:
        yield f"note: there is no final milestone: name one, or train with {WITHOUT_TASK}"
    if np.isfinite(trial.best_end) and trial.best_end <= 0:
        yield f"change: the final milestone came with a reward of {trial.best_end:g} at best;"
        yield "  agents look for positive rewards, make it one"
    if not trial.num_episodes:
        yield "note: no episode ended; set a time limit, or --horizon in training (not for lanes"
        yield "  that the environment makes itself)"
    if not is_reproducible:
        yield "change: two environments with the same seed differ; seed all that is random in reset"
    for part in parts:
        if part.kind == "counts" and trial.highest[part.name] > THERMOMETER[-1]:
            yield f"change: counts of {part.name} go to {trial.highest[part.name]}, but above"
            yield f"  {THERMOMETER[-1]} they look alike; decimal numbers would not"
        if part.kind == "cells":
            seen, said = trial.highest[part.name] + 1, int(part.high.max()) + 1
            is_large = part.size * said > LARGEST_TABLE
            if is_large and said > SPARSE_CODES * seen:
                yield f"change: {part.name} goes to {seen - 1}, its space says {said - 1}: a"
                yield "  narrower space makes learning faster"
