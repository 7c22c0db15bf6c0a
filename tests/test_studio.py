"""What the studio knows and does, without the page: episodes, reasons, changes, runs."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from hal.agent.hal import HierarchicalAgent
from hal.agent.options import NONE
from hal.agent.task import TASK
from hal.config.file import save_config
from hal.config.presets import METHODS, make_config
from hal.envs.grid.edits import Edit
from hal.envs.grid.rules import TREASURE, TREASURE_CODE
from hal.experiments.curves import mean_curve
from hal.pictures.frame import Frame
from hal.runs.checkpoint import PRETRAINED, load_pretrained, save_agent, save_checkpoint
from hal.runs.training import Training
from hal.studio import agents
from hal.studio.agents import FINAL, Player, stages_of
from hal.studio.contexts import pca
from hal.studio.desk import COMMANDS, Desk
from hal.studio.episode import Episode
from hal.studio.library import Library
from hal.studio.pack import letters
from hal.studio.share import shared_page
from hal.studio.why import contexts_of, influences, nearest
from hal.viewer.watch import env_of, episode
from tests.corridor import PARTS, PIXELS, SMALL, VECTOR, small
from tests.runs import learning, make_run
from tests.search import reached_milestones
from tests.test_checkpoint import TINY

SEED = 3
PLAY = {
    "do": "play",
    "side": 0,
    "run": 1,
    "stage": FINAL,
    "seed": SEED,
    "epsilon": 0.0,
    "most": 200,
}


@pytest.fixture(scope="module")
def player() -> Player:
    return Player(PRETRAINED / "treasure", FINAL, trust=False)


@pytest.fixture
def played(player: Player) -> Episode:
    played = Episode(player)
    played.start(SEED, 0.0, 200)
    return played


def frame_of(played: Episode, step: int) -> Frame:
    shown = played.at(step).seen.shown
    assert isinstance(shown, Frame)
    return shown


def untrained(folder: Path, method: str, task: str = "stick", **settings: Any) -> Path:
    """Make a run of an agent that has learned nothing."""
    own = TINY if ":" not in task else SMALL
    config = make_config(task, method, **{**own, **settings})
    training = Training(config)
    folder.mkdir()
    save_config(config, folder)
    save_agent(training.agent, folder)
    training.env.close()
    return folder


# --- episodes -------------------------------------------------------------------------------


def test_an_episode_is_what_hal_watch_shows(played: Episode) -> None:
    policy = load_pretrained("treasure")
    watched = list(episode(policy, env_of(policy), SEED, 200))
    assert len(played.records) == len(watched)
    beliefs = played.beliefs()
    assert beliefs.afforded is not None
    assert beliefs.values is not None
    for step, moment in enumerate(watched):
        assert isinstance(moment, Frame)
        np.testing.assert_array_equal(frame_of(played, step).grid, moment.grid)
        assert played.subtasks[played.at(step).subtask] == moment.subtask
        np.testing.assert_array_equal(beliefs.afforded[step], moment.predicted)
        assert moment.values is not None
        np.testing.assert_allclose(beliefs.values[step], moment.values, atol=1e-5)
    actions = [record.action for record in played.records[:-1]]
    assert actions == beliefs.actions[:-1].argmax(axis=1).tolist(), "it does the best one"


@pytest.mark.parametrize("method", METHODS)
def test_every_method_can_be_looked_at(
    tmp_path: Path, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agents, "NUM_STEPS", 40)
    untrained(tmp_path / "run", method)
    desk = Desk(Library([tmp_path]))
    desk.library.rows()
    for side in (0, 1):
        _, message = desk.call({**PLAY, "run": 0, "epsilon": 0.3, "most": 60, "side": side})
    packed = json.loads(json.dumps(message, allow_nan=False))["episode"]
    milestones = ["log", "wood", "stick"]
    assert packed["milestones"] == milestones
    assert (packed["probability"] is not None) == METHODS[method].switches.get(
        "affordances.mask", "learned"
    ).startswith("learned")
    assert (packed["subtasks"] == []) == (method == "rainbow")
    assert packed["subtasks"] in ([], milestones, [*milestones, TASK])
    if packed["values"] is not None:
        assert len(packed["values"][0]) == len(milestones)
    for of in ("episode", "examples") if packed["probability"] is not None else ("episode",):
        json.dumps(desk.call({"do": "map", "of": of, "milestone": 0}), allow_nan=False)
        desk.call({"do": "look", "point": 0})
    if packed["probability"] is None:
        with pytest.raises(ValueError, match="keeps no examples of affordances; legal: episode"):
            desk.call({"do": "map", "of": "examples", "milestone": 0})
    (why,) = desk.call({"do": "why", "side": 1, "step": 5, "milestone": 1})
    assert ("none" in why) == (packed["probability"] is None)
    assert len(desk.call({"do": "rates", "side": 0})[0]["rates"]) == 3
    assert b"<script" in shared_page(desk, 0, 1)


@pytest.mark.parametrize("task", [PARTS, VECTOR, PIXELS])
def test_other_peoples_environments_too(tmp_path: Path, task: str) -> None:
    run = untrained(tmp_path / "run", "hal", task)
    desk = Desk(Library([tmp_path]))
    assert desk.library.rows()[0]["isForeign"]
    play = {**PLAY, "run": 0, "seed": 1, "epsilon": 0.5, "most": 15}
    with pytest.raises(ValueError, match="was not trained here"):
        desk.call(play)
    desk.call({"do": "agree", "run": 0})
    _, message = desk.call(play)
    packed = message["episode"]
    assert packed["actions"] == ["3", "4"]
    assert not packed["canEdit"]
    assert (desk.episode(0).at(0).seen.shown.png is not None) == (task == PARTS)  # type: ignore[union-attr]
    first = [one["did"] for one in packed["steps"][:4]]
    _, message = desk.call({"do": "act", "side": 0, "step": 3, "action": 1})
    assert [one["did"] for one in message["episode"]["steps"]] == [*first, "4"]
    edit = {"what": "tile", "row": 1, "col": 1, "code": 0, "amount": 0}
    with pytest.raises(ValueError, match="this package's games"):
        desk.call({"do": "edit", "side": 0, "step": 1, **edit})
    (why,) = desk.call({"do": "why", "side": 0, "step": 2, "milestone": 0})
    json.dumps(why, allow_nan=False)
    assert why["influences"]
    desk.call({"do": "map", "of": "examples", "milestone": 0})
    json.dumps(desk.call({"do": "look", "point": 0}), allow_nan=False)
    assert b"<script" in shared_page(desk, 0, 0)
    assert stages_of(run) == [FINAL]


def test_what_does_not_repeat_itself_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = untrained(tmp_path / "run", "hal", PARTS)
    played = Episode(Player(run, FINAL, trust=True))
    played.start(0, 0.0, 10)
    seen = played.records[3].seen
    seen.state[2]["key"][:] = 1 - seen.state[2]["key"]
    before = list(played.records)
    with pytest.raises(ValueError, match="does not repeat itself"):
        played.act(3, 0)
    assert played.records == before


@pytest.mark.parametrize("method", ["hal", "halo"])
def test_a_checkpoint_has_its_own_examples(tmp_path: Path, method: str) -> None:
    config = make_config(
        "stick", method, **{**TINY, "knn_n": 20, "filter_every": 200, "examples": 300}
    )
    training = Training(config)
    while not training.is_done:
        training.step()
    save_config(config, tmp_path)
    save_checkpoint(training, tmp_path)
    (stage,) = stages_of(tmp_path)
    player, agent = Player(tmp_path, stage, trust=False), training.agent
    assert isinstance(agent, HierarchicalAgent)
    assert agent.affordances is not None
    assert player.examples is not None
    own, kept = agent.affordances.positives, player.examples.positives
    np.testing.assert_array_equal(kept.counts, own.counts)
    np.testing.assert_array_equal(kept.obs["image"], own.obs["image"])
    np.testing.assert_array_equal(player.rates, agent.affordances.success_rate)
    np.testing.assert_array_equal(
        player.examples.probabilities(training.obs), agent.affordances.probabilities(training.obs)
    )
    with pytest.raises(ValueError, match="is there no more"):
        Player(tmp_path, "step-0", trust=False)
    training.env.close()


# --- why ------------------------------------------------------------------------------------


def test_examples_are_states_that_afford_it(player: Player) -> None:
    assert player.examples is not None
    positives = player.examples.positives
    assert (positives.counts > 50).all()
    for milestone, size in enumerate(positives.sizes):
        assert positives.truth[milestone, :size].mean() > 0.98
    assert all(rate is not None and rate > 0.5 for rate in player.rates)


def test_the_distance_is_the_filters(played: Episode) -> None:
    examples, own = played.player.examples, played.player.affordances
    assert examples is not None
    assert own is not None
    k = played.player.milestones.index("red_door")
    step = next(s for s, r in enumerate(played.records) if frame_of(played, s).inventory[0])
    obs = played.at(step).seen.obs
    found = nearest(examples, obs, k)
    assert found.distance is not None
    assert found.margin is not None
    flagged = examples.filter.is_false(np.array([k]), contexts_of(examples, obs))  # type: ignore[union-attr]
    assert bool(flagged[0]) == (found.distance < found.margin) == True  # noqa: E712
    known = contexts_of(examples, {n: v[k, found.at] for n, v in examples.positives.obs.items()})
    distances = torch.cdist(contexts_of(examples, obs), known)[0].numpy()
    np.testing.assert_allclose(found.distances, distances, atol=1e-3)
    assert (np.diff(found.distances) >= 0).all()


def test_without_the_key_the_door_is_not_possible(played: Episode) -> None:
    own = played.player.affordances
    assert own is not None
    k = played.player.milestones.index("red_door")
    step = next(s for s, r in enumerate(played.records) if frame_of(played, s).inventory[0])
    obs = played.at(step).seen.obs
    parts = played.player.agent.controller.encoder.layout.parts
    now, found = influences(own, obs, parts, k, floor=0)
    assert now == pytest.approx(own.probabilities(obs)[0, k])
    inventory = next(one for one in found if one.part == "inventory")
    assert inventory.changes.argmin() == TREASURE.items.index("red_key")
    without = {"image": obs["image"], "inventory": np.zeros_like(obs["inventory"])}
    assert now + inventory.changes[0] == pytest.approx(own.probabilities(without)[0, k], abs=1e-5)
    image = next(one for one in found if one.part == "image")
    assert image.changes.shape == (11, 11)
    row, col = np.argwhere(obs["image"][0] == TREASURE.tiles.index("red_door"))[0]
    emptied = {name: values.copy() for name, values in obs.items()}
    emptied["image"][0, row, col] = 0
    expected = own.probabilities(emptied)[0, k] - now
    assert image.changes[row, col] == pytest.approx(expected, abs=1e-5)


# --- interfering ----------------------------------------------------------------------------


def test_a_forced_subtask_is_pursued(played: Episode) -> None:
    before = list(played.records)
    k = next(k for k in range(10) if k != before[4].subtask)
    played.force(4, k, 100)
    assert played.records[:4] == before[:4]
    assert played.at(4).is_forced
    own = played.at(4).options.max_steps
    forced = [record.subtask == k for record in played.records[4 : 4 + own]]
    ends = [s for s, r in enumerate(played.records[5:], 5) if r.seen.signals["milestones"].any()]
    assert all(forced[: min(ends[0], 4 + own) - 4])
    played.undo()
    assert played.records == before
    with pytest.raises(ValueError, match="nothing to undo"):
        played.undo()


def test_the_keyboard_is_taken_and_given_back(played: Episode) -> None:
    length = len(played.records)
    direction = frame_of(played, 6).direction
    for step in (6, 7):
        played.act(step, TREASURE.actions.index("turn_right"))
    assert len(played.records) == 9
    assert frame_of(played, 8).direction == (direction + 2) % 4
    assert [record.came_by for record in played.records[6:]] == ["agent", "hand", "hand"]
    played.go_on(8, 200)
    assert played.records[-1].seen.is_over
    with pytest.raises(ValueError, match="the episode is over"):
        played.act(len(played.records) - 1, 0)
    played.undo()
    assert len(played.records) == 9
    for _ in range(2):
        played.undo()
    assert len(played.records) == length


def test_a_changed_world_is_believed_in_at_once(played: Episode) -> None:
    k = played.player.milestones.index("red_door")
    before = played.beliefs()
    played.edit(0, Edit("item", code=TREASURE.items.index("red_key"), amount=1))
    after = played.beliefs()
    assert len(played.records) == 1
    assert before.probability is not None
    assert after.probability is not None
    assert before.probability[0, k] < 0.5 < after.probability[0, k]
    assert frame_of(played, 0).affordances[k], "the rules say so too"
    assert TREASURE.tiles.index("red_key") not in frame_of(played, 0).grid, "there is one of each"
    played.go_on(0, 200)
    assert played.records[-1].seen.is_over, "an episode from the changed state"


def test_doors_open_and_the_agent_moves(played: Episode) -> None:
    grid = frame_of(played, 0).grid
    door = TREASURE.tiles.index("yellow_door")
    row, col = map(int, np.argwhere(grid == door)[0])
    opened = TREASURE.tiles.index("open_yellow_door")
    for wanted in (opened, door, opened):
        played.edit(0, Edit("door", row, col))
        assert frame_of(played, 0).grid[row, col] == wanted
    played.edit(0, Edit("agent", row, col, amount=2))
    assert frame_of(played, 0).position == (row, col)
    assert frame_of(played, 0).direction == 2


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        (Edit("tile", 0, 5, 0), "row 0; legal: whole numbers from 1 to 9"),
        (Edit("tile", 5, 10, 0), "column 10"),
        (Edit("tile", 5, 5, 99), "tile 99"),
        (Edit("item", code=0, amount=2), "red_key 2; legal: whole numbers from 0 to 1"),
        (Edit("item", code=-1, amount=1), "item -1"),
        (Edit("agent", 1, 1, amount=0), "there is a wall"),
        (Edit("door", 5, 5), "there is a"),
        (Edit("magic"), "unknown edit 'magic'"),
    ],
)
def test_what_cannot_be_is_refused(played: Episode, edit: Edit, reason: str) -> None:
    before = list(played.records)
    with pytest.raises(ValueError, match=reason):
        played.edit(2, edit)
    assert played.records == before
    assert played.past == []


def test_the_truth_of_changed_worlds_is_true(played: Episode) -> None:
    rng = np.random.default_rng(0)
    is_milestone = np.ones(len(TREASURE.milestones), dtype=np.bool_)
    for _ in range(25):
        kind = ("tile", "item", "door")[rng.integers(3)]
        row, col, code = (int(n) for n in rng.integers(1, (10, 10, 18)))
        edit = Edit(kind, row, col, code if kind == "tile" else code % 5, amount=1)
        try:
            played.edit(0, edit)
        except ValueError:
            continue
        truth = reached_milestones(played.at(0).seen.state, TREASURE_CODE, is_milestone, 2_000)
        assert truth is not None
        assert set(np.flatnonzero(frame_of(played, 0).affordances)) == truth.keys()
        names = [TREASURE.tiles[code] for code in frame_of(played, 0).grid.flat]
        things = [name.removeprefix("open_") for name in names if name not in ("floor", "wall")]
        assert len(things) == len(set(things)), "each is there once"


# --- the map --------------------------------------------------------------------------------


def test_pca_keeps_what_varies_most() -> None:
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(200, 6)) * [9, 4, 1, 0.5, 0.1, 0.1] + 5
    places, shares = pca(vectors @ np.linalg.qr(rng.normal(size=(6, 6)))[0])
    np.testing.assert_allclose(np.abs(np.corrcoef(places[:, 0], vectors[:, 0])[0, 1]), 1, atol=0.01)
    assert shares[0] == pytest.approx(81 / 98.3, abs=0.05)
    assert pca(np.ones((3, 1)))[0].shape == (3, 2)


def test_points_are_told_what_comes_next() -> None:
    desk = Desk(Library([]))
    desk.library.rows()
    _, message = desk.call(PLAY)
    (points,) = desk.call({"do": "map", "of": "episode", "milestone": 9})
    got = [one["got"] for one in message["episode"]["steps"]]
    coming = [next((g for g in got[s + 1 :] if g is not None), NONE) for s in range(len(got))]
    assert points["milestone"] == coming
    assert points["truth"] == [one[9] for one in message["episode"]["truth"]]
    assert points["predicted"] == [one[9] for one in message["episode"]["probability"]]
    (sight,) = desk.call({"do": "look", "point": 7})
    assert sight["view"] == letters(desk.episode(0).at(7).seen.obs["image"][0])
    (points,) = desk.call({"do": "map", "of": "examples", "milestone": 2})
    assert set(points["label"]) == {0, 1}


# --- runs -----------------------------------------------------------------------------------


def test_runs_keep_their_numbers(tmp_path: Path) -> None:
    for seed in (0, 1):
        make_run(tmp_path / f"b-{seed}", learning([0.2, 0.4 + seed / 10]), seed=seed)
    library = Library([tmp_path])
    first = library.rows()
    make_run(tmp_path / "a", [])
    (tmp_path / "a" / "failure.txt").write_text("no more <b>disk</b>\n")
    make_run(tmp_path / "damaged").joinpath("config.toml").write_text("nonsense")
    rows = library.rows()
    assert rows[:2] == first
    assert [row["name"].rpartition("/")[2] for row in rows] == ["b-0", "b-1", "a", "damaged"]
    assert [row["state"] for row in rows] == ["stopped", "stopped", "failed", "damaged"]
    assert rows[0]["online"] == 0.4
    assert rows[2]["note"] == "no more <b>disk</b>"
    with pytest.raises(ValueError, match="run 4; legal: whole numbers from 0 to 3"):
        library.run(4)
    with pytest.raises(ValueError, match="there is no folder"):
        Library([tmp_path / "nowhere"])


def test_curves_are_the_librarys(tmp_path: Path) -> None:
    lines = [learning([0.2, 0.4]), learning([0.4, 0.8])]
    for seed in (0, 1):
        make_run(tmp_path / f"run-{seed}", lines[seed], seed=seed)
    library = Library([tmp_path])
    library.rows()
    (curve,) = library.curves([0, 1], "episode/success", "steps")
    expected = mean_curve(lines, "episode/success")
    assert curve["label"] == "treasure hal (2 seeds)"
    np.testing.assert_allclose(curve["mean"], expected.mean, atol=1e-4)
    np.testing.assert_allclose(curve["low"], expected.low, atol=1e-4)
    (heat,) = library.heat([0, 1], "episode/coverage")
    assert [row["title"] for row in heat["rows"]] == ["red_key"]
    np.testing.assert_allclose(heat["rows"][0]["values"], [0.3, 0.6])
    assert "mask/accuracy" in library.metrics([0])
    with pytest.raises(ValueError, match="unknown axis"):
        library.curves([0], "episode/success", "luck")


@pytest.mark.parametrize(
    "message",
    [
        None,
        [],
        {"do": 3},
        {"do": "__init__"},
        {"do": "everything"},
        {"do": "show"},
        {"do": "show", "view": ["runs"]},
        {"do": "show", "view": "x" * 201},
        {"do": "show", "view": "runs", "more": 1},
        {"do": "select", "runs": [True], "metric": "m", "along": "steps", "heat": "h"},
        {"do": "select", "runs": [0] * 501, "metric": "m", "along": "steps", "heat": "h"},
        {**PLAY, "run": "../.."},
        {**PLAY, "run": 99},
        {**PLAY, "stage": "../.."},
        {**PLAY, "side": 2},
        {**PLAY, "seed": -1},
        {**PLAY, "epsilon": 2},
        {**PLAY, "epsilon": 10**400},
        {**PLAY, "most": 10**9},
        {"do": "at", "side": 0, "step": 0},
    ],
)
def test_nonsense_is_refused_in_one_line(message: Any) -> None:
    desk = Desk(Library([]))
    desk.library.rows()
    before = desk.state()
    with pytest.raises(ValueError, match=r"legal|is not") as refusal:
        desk.call(message)
    assert "\n" not in str(refusal.value)
    assert desk.state() == before
    assert "everything" not in COMMANDS
    assert small().task == PARTS
