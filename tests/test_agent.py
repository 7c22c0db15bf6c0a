"""The hierarchical agent on scripted steps: what it writes, and when."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from hal.agent.base import BaseAgent
from hal.agent.build import background_of, make_agent
from hal.agent.choices import Beliefs, Choice
from hal.agent.hal import HierarchicalAgent
from hal.agent.options import NONE, EndedOptions, main_milestone
from hal.agent.replay.steps import CONTINUES, CUT, ENDS
from hal.config.presets import make_config
from hal.envs.grid.vector import GridVectorEnv
from hal.envs.observations import Obs
from hal.runs.snapshot import Parts, gather
from tests.parts import TINY, ended_options, tiny_agent


def step_records(
    agent: HierarchicalAgent, env: GridVectorEnv, num_steps: int
) -> Iterator[dict[str, np.ndarray]]:
    """Let the agent act; yield what it wrote and what happened."""
    obs, info = env.reset(seed=0)
    for _ in range(num_steps):
        resetting = env.state["is_done"].copy()
        actions = agent.act(obs, info)
        subtask = agent.options.subtask.copy()
        obs, reward, terminated, truncated, info = env.step(actions)
        agent.observe(obs, reward, terminated, truncated, info)
        at = (agent.replay.num_rows - 1) % agent.replay.capacity
        yield {
            "resetting": resetting,
            "subtask": subtask,
            "collected": main_milestone(info["milestones"], subtask),
            "done": terminated | truncated,
            "terminated": terminated,
            "end": agent.replay.end[at].copy(),
            "is_valid": agent.replay.is_valid[at].copy(),
            "milestone": agent.replay.milestone[at].copy(),
            "segment": agent.replay.segment[at].copy(),
        }


def test_rows_tell_what_happened() -> None:
    agent, env = tiny_agent(horizon=40, max_option_steps=7)
    age = np.zeros(16, dtype=np.int64)
    seen = {CONTINUES: 0, ENDS: 0, CUT: 0}
    for record in step_records(agent, env, 400):
        valid = ~record["resetting"]
        np.testing.assert_array_equal(record["is_valid"], valid)
        age = np.where(valid, age + 1, 0)
        got = record["collected"] != NONE
        ends = valid & (got | record["terminated"])
        cut = valid & ~ends & (record["done"] | (age >= 7))
        expected = np.where(ends, ENDS, np.where(cut, CUT, CONTINUES))
        np.testing.assert_array_equal(record["end"], expected)
        np.testing.assert_array_equal(record["milestone"], record["collected"])
        age[expected != CONTINUES] = 0
        for kind in seen:
            seen[kind] += int((expected == kind).sum())
    assert min(seen.values()) > 20


def test_wasted_are_the_steps_of_options_that_failed() -> None:
    agent, env = tiny_agent(horizon=40, max_option_steps=7)
    age, num_wasted, num_steps = np.zeros(16, dtype=np.int64), 0, 0
    for record in step_records(agent, env, 200):
        age += record["is_valid"]
        is_ended = record["end"] != CONTINUES
        has_failed = is_ended & (record["milestone"] != record["subtask"])
        num_wasted += int(age[has_failed].sum())
        num_steps += int(age[is_ended].sum())
        age[is_ended] = 0
    assert 0 < num_wasted < num_steps
    assert agent.tally.take()["subpolicy/wasted"] == num_wasted / num_steps


def test_segments_change_at_milestones_and_episodes_only() -> None:
    agent, env = tiny_agent(horizon=40)
    before: dict[str, np.ndarray] | None = None
    for record in step_records(agent, env, 200):
        if before is not None:
            is_new = record["segment"] != before["segment"]
            np.testing.assert_array_equal(
                is_new, (before["milestone"] != NONE) | before["resetting"]
            )
        before = record


def test_hindsight_labels_are_what_the_option_collected() -> None:
    agent, env = tiny_agent(horizon=60, max_option_steps=9)
    records = list(step_records(agent, env, 150))
    option: list[list[int]] = [[] for _ in range(16)]
    num_marked = 0
    for row, record in enumerate(records):
        for lane in range(16):
            if not record["is_valid"][lane]:
                continue
            option[lane].append(row)
            if record["end"][lane] != CONTINUES:
                hindsight = agent.replay.hindsight[option[lane], lane]
                assert (hindsight == record["milestone"][lane]).all()
                num_marked += int(record["milestone"][lane] != NONE)
                option[lane] = []
    assert num_marked > 20


def test_meta_transitions_chain_and_know_their_end() -> None:
    agent, env = tiny_agent("oracle", horizon=60)
    num_success = sum(int(r["terminated"].sum()) for r in step_records(agent, env, 500))
    replay, size = agent.meta.replay, len(agent.meta.replay)
    assert num_success > 3
    is_terminal = replay.discount[:size] == 0
    assert (replay.reward[:size] > 0).sum() == num_success
    assert is_terminal[replay.reward[:size] > 0].all()
    bounded = np.isfinite(replay.lower_bound[:size])
    assert bounded.sum() >= num_success
    final = replay.reward[:size] > 0
    np.testing.assert_allclose(replay.lower_bound[:size][final], replay.reward[:size][final])
    assert (replay.subtask[:size][final] == 2).all(), "stored as what it collected"
    assert replay.next_mask[:size].any(axis=1).all()


@pytest.mark.parametrize("method", ["hal", "hr+her", "rainbow"])
def test_act_changes_nothing_but_what_is_pursued(method: str) -> None:
    """A step is written when its end is known, an option when what follows it was chosen."""
    sizes = {"meta_replay": 500, "examples": 50, "replay_steps": 800}
    config = make_config("stick", method, **{**TINY, **sizes, "horizon": 30})
    env = GridVectorEnv("stick", 16, max_steps=30)
    obs, info = env.reset(seed=0)
    agent = make_agent(config, env, background_of(env, obs))
    assert isinstance(agent, BaseAgent)
    for num_rows in range(40):
        before = snapshot(agent)
        actions = agent.act(obs, info)
        pursued = {name for name in before if name.startswith("agent.options.")}
        assert changed(before, snapshot(agent)) <= pursued | {"agent._act_rng"}
        assert agent.replay.num_rows == num_rows
        obs, reward, terminated, truncated, info = env.step(actions)
        agent.observe(obs, reward, terminated, truncated, info)
        assert agent.replay.num_rows == num_rows + 1


def test_act_stores_no_transitions_though_options_have_ended() -> None:
    agent, env = tiny_agent(horizon=40, max_option_steps=5)
    obs, info = env.reset(seed=0)
    assert agent.affordances is not None
    num_waiting = 0
    for _ in range(60):
        sizes = (agent.replay.num_rows, len(agent.meta.replay), agent.meta.replay.num_added)
        counts = agent.affordances.positives.counts + agent.affordances.negatives.counts
        waiting = agent.ended.lanes.size
        num_waiting += waiting
        actions = agent.act(obs, info)
        num_added = agent.meta.replay.num_added
        assert (agent.replay.num_rows, len(agent.meta.replay), num_added) == sizes
        labelled = agent.affordances.positives.counts + agent.affordances.negatives.counts
        np.testing.assert_array_equal(labelled, counts)
        assert agent.ended.lanes.size == waiting
        obs, reward, terminated, truncated, info = env.step(actions)
        agent.observe(obs, reward, terminated, truncated, info)
        assert agent.meta.replay.num_added >= num_added + waiting
    assert num_waiting > 20


def snapshot(agent: BaseAgent) -> dict[str, Any]:
    """Return a copy of all that an agent keeps."""
    parts = Parts()
    gather(agent, "agent", parts)
    tensors = {name: tensor.numpy().copy() for name, tensor in parts.tensors.items()}
    arrays = {name: array.copy() for name, array in parts.arrays.items()}
    return {**tensors, **arrays, **{name: repr(value) for name, value in parts.values.items()}}


def changed(before: dict[str, Any], after: dict[str, Any]) -> set[str]:
    assert before.keys() == after.keys()
    return {name for name in before if not np.array_equal(before[name], after[name])}


class Option:
    """An option as a bystander sees it."""

    def __init__(self, subtask: int, obs: Obs, lane: int) -> None:
        self.subtask = subtask
        self.first = state_of(obs, lane)
        self.steps, self.reward = 0, 0.0

    def told(self, collected: int, after: Obs, lane: int, mask: Any, has_future: bool) -> Any:
        """Return what is to be told of it at its end."""
        numbers = (self.subtask, collected, self.steps, round(self.reward, 6))
        return (*numbers, self.first, state_of(after, lane), list(mask), has_future)


def state_of(obs: Obs, at: int) -> bytes:
    return obs["image"][at].tobytes() + obs["inventory"][at].astype(np.int64).tobytes()


@pytest.mark.parametrize("least", [0.0, -np.inf])  # of the rewards that count
def test_options_reach_the_meta_controller_as_they_happened(
    monkeypatch: pytest.MonkeyPatch, least: float
) -> None:
    agent, _ = tiny_agent("oracle", max_option_steps=7, ignore_penalties=least == 0)
    env = GridVectorEnv("stick", 16, max_steps=40, reward="dense")
    told: list[list[Any]] = [[] for _ in range(16)]
    store = agent.meta.store

    def spy(
        ended: EndedOptions, obs: Obs, after: Obs, mask: np.ndarray, has_future: np.ndarray
    ) -> None:
        for at, (lane, *numbers, reward) in enumerate(zip(*ended, strict=True)):
            states = (state_of(obs, at), state_of(after, at))
            future = bool(has_future[at])
            told[lane].append((*numbers, round(reward, 6), *states, list(mask[at]), future))
        store(ended, obs, after, mask, has_future)

    monkeypatch.setattr(agent.meta, "store", spy)
    seen: list[list[Any]] = [[] for _ in range(16)]
    present: list[Option | None] = [None] * 16
    obs, info = env.reset(seed=0)
    for _ in range(300):
        resetting = env.state["is_done"].copy()
        actions = agent.act(obs, info)
        subtask = agent.options.subtask.copy()
        for lane in map(int, np.flatnonzero(~resetting)):
            present[lane] = present[lane] or Option(subtask[lane], obs, lane)
        obs, reward, terminated, truncated, info = env.step(actions)
        collected = main_milestone(info["milestones"], subtask)
        agent.observe(obs, reward, terminated, truncated, info)
        for lane in map(int, np.flatnonzero(~resetting)):
            option = present[lane]
            assert option is not None
            option.steps += 1
            option.reward += max(reward[lane], least)
            is_done = terminated[lane] or truncated[lane]
            if is_done or collected[lane] != NONE or option.steps == 7:
                truth = info["affordances"][lane]
                mask = truth if truth.any() and not is_done else np.ones(3, np.bool_)
                seen[lane].append(option.told(collected[lane], obs, lane, mask, not is_done))
                present[lane] = None
    for lane in range(16):
        waits = lane in agent.ended.lanes
        assert told[lane] == seen[lane][: len(seen[lane]) - waits]
    every = [option for options in told for option in options]
    assert sum(option[1] == NONE and option[2] == 7 for option in every) > 20, "timeouts"
    assert sum(option[3] > 0 for option in every) > 20, "with a reward"
    assert sum(not option[-1] for option in every) > 20, "the last of an episode"


def test_an_option_is_stored_with_the_mask_of_its_own_lane() -> None:
    agent, env = tiny_agent("hr")
    obs, info = env.reset(seed=1)
    agent.observe(*env.step(agent.act(obs, info)))
    lanes = np.array([0, 3, 5, 9])  # on the first one an episode begins: no option has ended there
    mask = np.eye(len(agent.milestones), dtype=np.bool_)[[0, 1, 2, 1]]
    values = np.zeros(mask.shape)
    choice = Choice(lanes, np.zeros(4, dtype=np.int64), Beliefs(mask, mask, values))
    ended = ended_options([0, 0], [NONE, NONE])._replace(lanes=np.array([5, 9]))
    agent.ended = ended
    agent._store_ended(obs, {}, choice)
    np.testing.assert_array_equal(agent.meta.replay.next_mask[:2], mask[2:])
