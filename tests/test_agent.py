"""The agent's parts on made-up data, and the whole on probes."""

from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from hal.agent.build import background_of, make_agent
from hal.agent.choices import epsilon2_choice, greedy_choice, weighted_choice
from hal.agent.hal import HierarchicalAgent
from hal.agent.networks.bags import bag_sum
from hal.agent.networks.embedding import BagEncoder
from hal.agent.networks.learning import Target
from hal.agent.options import NONE, SubtaskState, main_milestone
from hal.agent.replay.examples import Examples
from hal.agent.replay.steps import CONTINUES, CUT, ENDS, Replay, mark_options
from hal.agent.replay.transitions import MetaReplay
from hal.agent.schedules import GREEDY, Exploration
from hal.config.presets import METHODS, make_config
from hal.config.settings import Config
from hal.envs.grid.vector import GridVectorEnv
from hal.runs.evaluation import evaluate
from hal.runs.training import train
from tests.parts import grid_parts

CPU = torch.device("cpu")
ENCODER = BagEncoder(grid_parts((3, 3), num_codes=4, num_counts=2), background=np.array([1]))
TINY: dict[str, Any] = {
    "num_lanes": 16,
    "steps": 3_000,
    "warmup_steps": 500,
    "replay_steps": 8_000,
    "width": 16,
    "meta_width": 16,
    "context_width": 16,
    "knn_n": 20,
    "filter_every": 500,
    "update_every": 16,
    "meta_every": 16,
    "context_every": 32,
    "batch_windows": 4,
    "horizon": 100,
}


def random_obs(rng: np.random.Generator, size: int) -> tuple[np.ndarray, np.ndarray]:
    return rng.integers(4, size=(size, 3, 3)).astype(np.uint8), rng.integers(9, size=(size, 2))


# --- bags and networks ----------------------------------------------------------------------


def test_bags_sum_and_differentiate_like_dense_layers() -> None:
    image, counts = random_obs(np.random.default_rng(0), 6)
    table = torch.randn(36, 5, requires_grad=True)
    fast = bag_sum(table, ENCODER({"image": image, "inventory": counts}, CPU))
    one_hot = nn.functional.one_hot(torch.from_numpy(image.reshape(6, 9)).long(), 4).float()
    one_hot[:, :, 1] = 0
    dense = one_hot.flatten(1) @ table
    torch.testing.assert_close(fast, dense)
    weights = torch.randn_like(fast)
    (mine,) = torch.autograd.grad((fast * weights).sum(), table)
    (other,) = torch.autograd.grad((dense * weights).sum(), table)
    torch.testing.assert_close(mine, other)


def test_counts_are_read_as_thermometers() -> None:
    counts = ENCODER(
        {"image": np.zeros((1, 3, 3), np.uint8), "inventory": np.array([[3, 9]])}, CPU
    ).counts
    assert counts.tolist() == [[1, 1, 1, 0, 0, 1, 1, 1, 1, 1]]


def test_target_moves_by_its_rate_when_it_is_time() -> None:
    network = nn.Linear(2, 3)
    soft, hard = Target(network, rate=0.25, every=1), Target(network, rate=1.0, every=3)
    with torch.no_grad():
        network.bias.add_(1.0)
    soft.follow(network)
    torch.testing.assert_close(dict(soft.network.named_parameters())["bias"], network.bias - 0.75)
    for is_moved in (False, False, True, True):
        hard.follow(network)
        bias = dict(hard.network.named_parameters())["bias"]
        assert torch.equal(bias, network.bias) == is_moved
    assert not any(parameter.requires_grad for parameter in soft.network.parameters())


class Unplaced(torch.Tensor):
    """A tensor that has not been brought to its device: nothing else can be done with it."""

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        assert func is torch.Tensor.to, f"{func} before the tensor was brought to its device"
        placed = super().__torch_function__(func, types, args, kwargs)  # type: ignore[no-untyped-call]
        return placed.as_subclass(torch.Tensor)


@pytest.mark.parametrize("method", ["hal", "rainbow"])
@pytest.mark.parametrize("torso", ["embedding", "convolution"])
def test_no_tensor_is_made_on_a_fixed_device(
    monkeypatch: pytest.MonkeyPatch, method: str, torso: str
) -> None:
    """What is made without a device is on one where nothing can be computed."""
    config = make_config("stick", method, **{**TINY, "torso": torso, "prioritised": True})
    env = GridVectorEnv(num_envs=16, task="stick", max_steps=40)
    obs, info = env.reset(seed=0)
    agent = make_agent(config, env, background_of(env, obs))
    from_numpy = torch.from_numpy
    monkeypatch.setattr(torch, "from_numpy", lambda array: from_numpy(array).as_subclass(Unplaced))
    monkeypatch.setattr(agent, "num_successes", 1, raising=False)
    torch.set_default_device("meta")
    try:
        for _ in range(60):
            obs, reward, terminated, truncated, info = env.step(agent.act(obs, info))
            agent.observe(obs, reward, terminated, truncated, info)
            agent.update()
    finally:
        torch.set_default_device(None)
    trained = agent.tally.take()
    assert {"loss/controller"} <= set(trained)
    assert method == "rainbow" or {"loss/meta", "loss/classifier", "loss/contrast"} <= set(trained)


# --- options --------------------------------------------------------------------------------


def test_options_end_at_milestones_timeouts_and_episodes_ends() -> None:
    lanes = SubtaskState(np.array([0, 1, 2, 3]), np.array([1, 4, 2, 0]), np.eye(4, dtype=np.bool_))
    milestone = np.array([2, NONE, NONE, NONE])
    is_done = np.array([False, False, True, False])
    ended = lanes.advance(milestone, is_done, max_steps=5)
    assert ended.tolist() == [True, True, True, False]
    assert lanes.subtask.tolist() == [NONE, NONE, NONE, 3]
    assert np.argwhere(lanes.failed).tolist() == [[1, 1], [3, 3]], "forgotten with a milestone"
    lanes.subtask[1] = 2
    for _ in range(5):
        lanes.advance(np.full(4, NONE), np.zeros(4, np.bool_), max_steps=5)
    assert lanes.failed[1].tolist() == [False, True, True, False], "only a timeout is a failure"
    for subtask in (0, 3):
        lanes.subtask[1], lanes.steps[1] = subtask, 4
        lanes.advance(np.full(4, NONE), np.zeros(4, np.bool_), max_steps=5)
    assert not lanes.failed[1].any(), "everything has failed: all may be tried again"


def test_of_several_milestones_the_pursued_one_counts_or_else_the_last() -> None:
    flags = np.array([[0, 0, 0], [0, 1, 0], [1, 1, 0], [1, 1, 0], [1, 0, 1]], dtype=np.bool_)
    subtasks = np.array([1, 0, 0, 2, NONE])
    assert main_milestone(flags, subtasks).tolist() == [NONE, 1, 0, 1, 2]


def test_greedy_choice_stays_within_the_mask_and_avoids_what_failed() -> None:
    values = np.array([[3.0, 2.0, 1.0]] * 4)
    mask = np.array([[1, 1, 1], [0, 1, 1], [1, 1, 0], [0, 1, 0]], dtype=np.bool_)
    avoided = np.array([[0, 0, 0], [0, 0, 0], [1, 0, 0], [0, 1, 0]], dtype=np.bool_)
    # The fourth has tried all that its mask allows.
    assert greedy_choice(values, mask, avoided).tolist() == [0, 1, 1, 0]


def test_weighted_choice_has_the_weights_odds() -> None:
    rng = np.random.default_rng(0)
    drawn = weighted_choice(np.tile([0.0, 1.0, 3.0, 0.0], (20_000, 1)), rng)
    shares = np.bincount(drawn, minlength=4) / drawn.size
    np.testing.assert_allclose(shares, [0, 0.25, 0.75, 0], atol=0.015)


def test_epsilon2_shares() -> None:
    rng = np.random.default_rng(0)
    size = 40_000
    greedy, within, anything = (np.full(size, kind) for kind in range(3))
    explore = Exploration(controller=0.0, meta=0.2, mask=0.5)
    drawn = epsilon2_choice(greedy, within, anything, explore, rng)
    shares = np.bincount(drawn, minlength=3) / size
    np.testing.assert_allclose(shares, [0.3, 0.5, 0.2], atol=0.01)


# --- replay ---------------------------------------------------------------------------------


def filled_replay(num_rows: int, capacity: int = 50, lanes: int = 3) -> Replay:
    """Rows whose inventory says where they are from: (row, lane); lane's segments last 7 rows."""
    replay = Replay(capacity, lanes, ENCODER, 4, np.random.default_rng(0))
    for row in range(num_rows):
        lane = np.arange(lanes)
        replay.add(
            {
                "image": np.zeros((lanes, 3, 3)),
                "inventory": np.stack([np.full(lanes, row), lane], axis=1),
            },
            truth=np.zeros((lanes, 4)),
            action=lane,
            subtask=lane,
            milestone=np.where((row + lane) % 10 == 9, lane, NONE),
            end=np.full(lanes, CONTINUES),
            is_valid=np.ones(lanes),
            segment=row // 7 * lanes + lane,
        )
    return replay


def test_windows_are_runs_of_one_lane_within_the_ring() -> None:
    replay = filled_replay(130)
    windows = replay.draw_windows(200, length=6, event_share=0.5)
    rows, lanes = np.moveaxis(windows.obs["inventory"], -1, 0)
    assert rows.min() >= replay.oldest == 80
    assert rows.max() == 129
    assert (np.diff(rows, axis=1) == 1).all()
    assert (lanes == lanes[:, :1]).all()
    assert rows.shape == (200, 7)
    np.testing.assert_array_equal(windows.subtask, lanes[:, :-1])


def test_event_windows_hold_an_event_each_milestone_as_often() -> None:
    replay = filled_replay(130)
    windows = replay.draw_windows(3_000, length=4, event_share=1.0)
    has_event = (windows.milestone != NONE).any(axis=1)
    assert has_event.mean() > 0.93, "all but the newest row's, which has no next observation yet"
    kinds = np.bincount(windows.milestone[windows.milestone != NONE], minlength=3)[:3]
    np.testing.assert_allclose(kinds / kinds.sum(), 1 / 3, atol=0.05)


def test_triplets_are_of_the_same_and_of_other_segments() -> None:
    replay = filled_replay(60)
    anchors, positives, negatives = replay.draw_triplets(400, 3.0, 4, same_lane_share=0.5)
    assert len(anchors) > 200

    def segment(places: np.ndarray) -> np.ndarray:
        return replay.segment[places[..., 0], places[..., 1]]

    np.testing.assert_array_equal(segment(anchors), segment(positives))
    assert (anchors != positives).any(axis=1).all(), "a state is not its own positive"
    assert (segment(negatives) != segment(anchors)[:, None]).all()
    assert 0.5 < (negatives[..., 1] == anchors[:, None, 1]).mean() < 0.8


def test_hindsight_marks_every_row_of_the_option_across_the_rings_end() -> None:
    replay = filled_replay(55)
    mark_options(replay.hindsight, np.array([1]), np.array([47]), 53, np.array([3]))
    marked = np.argwhere(replay.hindsight != NONE)
    assert sorted((marked[:, 0]).tolist()) == [0, 1, 2, 47, 48, 49]
    assert (marked[:, 1] == 1).all()


def test_examples_keep_the_newest_states_with_their_options_parity() -> None:
    replay = filled_replay(20)
    examples = Examples(6, ENCODER, 4)
    examples.add_options(
        replay, np.array([0, 2]), np.array([12, 17]), np.array([3, 3]), np.array([0, 1])
    )
    assert examples.counts.tolist() == [0, 0, 0, 11]
    assert examples.sizes.tolist() == [0, 0, 0, 6]
    kept = {
        (int(row), int(lane), int(parity))
        for (row, lane), parity in zip(
            examples.obs["inventory"][3], examples.parity[3], strict=True
        )
    }
    assert kept == {(17, 0, 0), (18, 0, 0), (19, 0, 0), (17, 2, 1), (18, 2, 1), (19, 2, 1)}


def test_meta_replay_is_a_ring() -> None:
    replay = MetaReplay(5, ENCODER, 4)
    for start in (0, 3):
        numbers = replay.add(
            ENCODER.blank(3),
            ENCODER.blank(3),
            subtask=np.arange(start, start + 3),
            reward=np.zeros(3),
        )
    assert numbers.tolist() == [3, 4, 5]
    replay.bound([0, 4], 0.5)
    bounded = np.flatnonzero(np.isfinite(replay.lower_bound))
    assert bounded.tolist() == [4], "what was overwritten is not there to be bounded"
    assert replay.subtask.tolist() == [5, 1, 2, 3, 4]
    assert len(replay) == 5


def test_a_replay_gives_its_first_window_as_soon_as_it_has_one() -> None:
    assert not filled_replay(6).has_window(6)
    replay = filled_replay(7)
    assert replay.has_window(6)
    assert replay.draw_windows(3, length=6, event_share=0.5).obs["inventory"][0, :, 0].tolist() == [
        *range(7)
    ]


# --- the agent on scripted steps ------------------------------------------------------------


def tiny_agent(method: str = "hal", **overrides: Any) -> tuple[HierarchicalAgent, GridVectorEnv]:
    config = make_config("stick", method, **{**TINY, **overrides})
    env = GridVectorEnv("stick", config.num_lanes, max_steps=config.horizon)
    obs, _ = env.reset(seed=0)
    agent = make_agent(config, env, background_of(env, obs))
    assert isinstance(agent, HierarchicalAgent)
    return agent, env


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


def test_a_mask_with_nothing_left_allows_everything() -> None:
    agent, _ = tiny_agent("oracle")
    truth = np.array([[False] * 3, [True, False, False]])
    lanes, two = SubtaskState.new(2, 3), np.arange(2)
    states = agent.controller.encoder.blank(2)
    beliefs = agent.choose_subtasks(
        states, {"affordances": truth}, lanes, two, GREEDY, np.random.default_rng(0)
    )
    assert beliefs.afforded.tolist() == truth.tolist()
    assert beliefs.mask.tolist() == [[True] * 3, [True, False, False]]
    with pytest.raises(ValueError, match="tells its affordances"):
        agent.afforded(states, None)


def test_untrained_heads_prune_only_what_was_never_collected() -> None:
    agent, _ = tiny_agent()
    agent.affordances.positives.counts[:] = [5, 5, 0]
    agent.affordances.negatives.counts[:] = [0, 0, 9]
    assert not agent.affordances.is_trained.any()
    states = agent.controller.encoder.blank(1)
    assert agent.affordances.afforded(states).tolist() == [[True, True, False]]
    agent.affordances.config = replace(agent.config, prune_unachieved=False)
    assert agent.affordances.afforded(states).all()


# --- training -------------------------------------------------------------------------------


def short_episodes(config: Config, num_episodes: int, max_steps: int) -> GridVectorEnv:
    options = replace(config.env_options(), max_steps=max_steps)
    return GridVectorEnv(num_envs=num_episodes, **asdict(options))


@pytest.mark.parametrize("method", METHODS)
def test_every_method_trains_and_same_seed_same_metrics(method: str) -> None:
    config = make_config("stick", method, **TINY)
    logs: list[list[dict[str, Any]]] = []
    for num_episodes in (2, 5):
        log: list[dict[str, Any]] = []

        def report(line: dict[str, Any], agent: Any) -> None:
            evaluate(agent, short_episodes(config, num_episodes, 20))  # noqa: B023 (used at once)
            log.append(_without_times(line))  # noqa: B023

        agent = train(config, report, report_every=1_000).agent
        logs.append(log)
    assert len(logs[0]) == 3
    assert logs[0] == logs[1]
    other: list[dict[str, Any]] = []
    train(replace(config, seed=1), lambda line, _: other.append(line), report_every=1_000)
    assert [_without_times(line) for line in other] != logs[0]
    assert np.isfinite(logs[0][-1]["loss/controller"])
    if isinstance(agent, HierarchicalAgent):
        assert np.isfinite(logs[0][-1]["subpolicy/success"])
    if config.mask == "learned":
        assert np.isfinite(logs[0][-1]["loss/classifier"])
        assert ("filter/flagged" in logs[0][-1]) == config.use_filter
        assert ("loss/contrast" in logs[0][-1]) == config.use_contrast


def test_without_a_task_subtasks_are_random_within_the_mask() -> None:
    config = make_config("stick", "oracle", **TINY, is_agnostic=True, rarity="none")
    lines: list[dict[str, Any]] = []
    agent = train(config, lambda line, _: lines.append(line), report_every=1_000).agent
    assert isinstance(agent, HierarchicalAgent)
    assert "loss/meta" not in lines[-1]
    assert np.isfinite(lines[-1]["loss/controller"])
    assert config.exploration(10**6, 0).meta == pytest.approx(0.05), "not by successes"
    truth = np.tile([True, False, True], (3_000, 1))
    image, inventory = np.zeros((3_000, 11, 11), np.uint8), np.zeros((3_000, 12))
    obs: dict[str, np.ndarray] = {"image": image, "inventory": inventory}
    for failed, expected in (([], [0.5, 0, 0.5]), ([0], [0, 0, 1]), ([0, 2], [0.5, 0, 0.5])):
        lanes = SubtaskState.new(3_000, 3)
        lanes.failed[:, failed] = True
        agent.choose_subtasks(
            obs, {"affordances": truth}, lanes, np.arange(3_000), GREEDY, np.random.default_rng(0)
        )
        shares = np.bincount(lanes.subtask, minlength=3) / 3_000
        np.testing.assert_allclose(shares, expected, atol=0.03)


@pytest.mark.parametrize(("explore_rare", "expected"), [(False, 1 / 3), (True, 10 / 12)])
def test_exploration_among_all_may_prefer_the_rare(explore_rare: bool, expected: float) -> None:
    agent, _ = tiny_agent(explore_rare=explore_rare)
    agent.replay.events.counts[:] = [9, 9, 0]
    lanes = SubtaskState.new(3_000, 3)
    image, inventory = np.zeros((3_000, 11, 11), np.uint8), np.zeros((3_000, 12))
    among_all = Exploration(controller=0.0, meta=1.0, mask=0.0)
    agent.choose_subtasks(
        {"image": image, "inventory": inventory},
        {},
        lanes,
        np.arange(3_000),
        among_all,
        np.random.default_rng(0),
    )
    assert (lanes.subtask == 2).mean() == pytest.approx(expected, abs=0.03)


def test_choices_get_greedier_by_successes_or_by_steps() -> None:
    by_successes = make_config("stick", controller_anneal_steps=1_000)
    assert by_successes.exploration(10**6, 10).mask == pytest.approx(0.8)
    assert by_successes.exploration(0, 310).mask == pytest.approx(0.0)
    by_steps = replace(by_successes, meta_anneal_successes=0)
    assert by_steps.exploration(500, 0).mask == pytest.approx(0.4)
    assert by_steps.exploration(1_000, 0) == by_successes.exploration(1_000, 310)


def test_milestone_sets_and_disappearance_reach_the_agent() -> None:
    config = make_config("stick", "hal", **TINY, milestones=("log", "stick"), disappear_rate=0.2)
    lines: list[dict[str, Any]] = []
    agent = train(config, lambda line, _: lines.append(line), report_every=1_000).agent
    assert agent.milestones == ("log", "stick")
    names = {name for line in lines for name in line}
    assert {"episode/coverage/log", "episode/coverage/stick"} <= names
    assert "episode/coverage/wood" not in names
    assert evaluate(agent, short_episodes(config, 5, 30)).covered.shape == (5, 2)


@pytest.mark.parametrize(
    ("rarity", "expected"),
    [("inverse", [1 / 2, 1 / 3, 1 / 6]), ("difference", [3 / 5, 2 / 5, 0]), ("none", [1 / 3] * 3)],
)
def test_rare_milestones_are_preferred(rarity: str, expected: list[float]) -> None:
    agent, _ = tiny_agent(rarity=rarity)
    counts = {"inverse": [1, 2, 5], "difference": [99_999, 133_332, 199_998]}.get(rarity, [1, 5, 9])
    agent.replay.events.counts[:] = counts
    weights = agent._rarity()
    np.testing.assert_allclose(weights / weights.sum(), expected, atol=1e-4)


def _without_times(line: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in line.items() if not k.endswith("second") and not k.endswith("seconds")}


def test_hal_learns_a_two_milestone_chain() -> None:
    config = make_config("wood", "hal", steps=60_000, num_lanes=64, replay_steps=60_000, seed=3)
    config = replace(config, warmup_steps=2_000, controller_anneal_steps=20_000)
    config = replace(config, update_every=64, target_every=64, meta_every=64, context_every=128)
    log: list[dict[str, Any]] = []
    agent = train(config, lambda line, _: log.append(line), report_every=20_000)
    assert evaluate(agent, short_episodes(config, 100, 500)).success.mean() >= 0.9
    assert log[-1]["mask/accuracy"] >= 0.8


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"steps": 0}, "steps 0; legal: above 0"),
        ({"learning_rate": -1.0}, "learning_rate -1.0; legal: above 0"),
        ({"trace": 1.5}, "trace 1.5; legal: from 0 to 1"),
        ({"meta_epsilon": (0.5, -0.1)}, "meta_epsilon .*; legal: from 0 to 1"),
        ({"mask": "blind"}, "unknown mask 'blind'; legal: learned, oracle, none"),
        ({"device": "tpu"}, "unknown device 'tpu'; legal: cpu, cuda, auto"),
        ({"learnig_rate": 1.0}, "unknown field 'learnig_rate'; legal fields: task"),
        ({"seed": -1}, "seed -1; legal"),
        ({"milestones": ("red_key",)}, "lack the final one, 'treasure'"),
        ({"milestones": ("log", "treasure")}, "unknown milestone 'log'"),
        ({"disappear_rate": 0.1}, "disappear_rate 0.1; legal: 0 to 0 in treasure"),
        ({"torso": "lstm"}, "unknown torso 'lstm'; legal: embedding, convolution"),
        ({"preset": "slow"}, "unknown preset 'slow'; legal: fast, paper"),
        ({"weight_decay": -1.0}, "weight_decay -1.0; legal: from 0"),
        ({"fnf_perc": 1.0}, "fnf_perc 1.0; legal: between 0 and 1"),
        ({"num_lanes": 1_001}, "num_lanes 1001; legal: up to 1000"),
        ({"seed": 10**6}, "seed 1000000; legal: below 1000000"),
        ({"window": 2.5}, "window 2.5; legal: like 16"),
        ({"use_filter": 1}, "use_filter 1; legal: like True"),
        ({"replay_steps": "x"}, "replay_steps 'x'; legal: like 1024000"),
        ({"meta_epsilon": 0.5}, "meta_epsilon 0.5; legal: a pair of numbers"),
        ({"classifier_batch": 7}, "classifier_batch 7; legal: even numbers"),
        ({"trained_steps": 17}, "trained_steps 17; legal: up to the window, 16"),
        ({"replay_steps": 2_000}, "replay_steps 2000; legal: from 13824"),
    ],
)
def test_bad_configs_are_refused(overrides: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_config("treasure", "hal", **overrides)


def test_unknown_methods_and_tasks_are_refused() -> None:
    with pytest.raises(ValueError, match="unknown method 'sac'; legal methods: oracle, hal"):
        make_config("treasure", "sac")
    with pytest.raises(ValueError, match="unknown task 'gold'"):
        make_config("gold", "hal")


def test_actions_stay_random_towards_milestones_that_are_hardly_known() -> None:
    config = make_config("stick", "oracle", goal_anneal_events=100, controller_anneal_steps=1_000)
    events = np.array([0, 50, 100, 900])
    assert config.goal_epsilon(2_000, events) == pytest.approx([0.5, 0.275, 0.05, 0.05])
    assert config.goal_epsilon(500, events) == pytest.approx([0.5, 0.275, 0.275, 0.275])
    paper = make_config("stick", "oracle", "paper")
    assert paper.goal_epsilon(paper.steps, events) == pytest.approx([0.05] * 4), "time alone"
    assert make_config("stick").goal_epsilon(10**7, events) == pytest.approx([0.05] * 4)
