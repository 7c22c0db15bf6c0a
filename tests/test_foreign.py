"""Environments that are not of the package: learning, runs, commands."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import hal
from hal.agent.hal import HierarchicalAgent
from hal.cli.entry import main
from hal.config.presets import METHODS
from hal.envs.external.find import find_make, names_of_adapters
from hal.envs.external.vectorising import make_checked
from hal.runs.check import try_env
from hal.runs.checkpoint import load
from hal.runs.evaluation import evaluate
from hal.runs.lifecycle import Keeping, resume_training, run_training
from hal.runs.training import Training
from tests.corridor import PARTS, PIXELS, SMALL, VECTOR, Corridor, small
from tests.test_contract import Broken

HAL = Path(sys.executable).parent / "hal"

# --- Learning -------------------------------------------------------------------------------


@pytest.mark.parametrize("task", [PARTS, VECTOR, PIXELS])
def test_hal_learns_whatever_it_sees(task: str) -> None:
    config = small(task, steps=4_000)
    training = Training(config)
    while not training.is_done:
        training.step()
    episodes = evaluate(training.agent, num_episodes=30)
    assert episodes.success.mean() >= 0.9
    assert training.agent.facts.final == 1


@pytest.mark.parametrize("method", METHODS)
def test_every_method_runs(method: str) -> None:
    if method == "oracle":
        with pytest.raises(
            ValueError, match="does not tell affordances; legal: all but the oracle"
        ):
            hal.train(small(VECTOR, method, steps=300))
        return
    hal.train(small(VECTOR, method, steps=600))


def test_without_the_truth_nothing_is_measured_against_it() -> None:
    training = Training(small(VECTOR, steps=1_500))
    while not training.is_done:
        training.step()
    report = training.report()
    assert report is not None
    assert {"loss/classifier", "filter/flagged"} <= report.keys()
    of_truth = ("mask/acc", "mask/aff", "mask/over", "mask/un", "filter/false", "filter/true")
    assert not [name for name in report if name.startswith(of_truth)]


def test_processes_change_nothing() -> None:
    def metrics(use_processes: bool) -> str:
        training = Training(small(VECTOR, steps=600), use_processes=use_processes)
        while not training.is_done:
            training.step()
        report = training.report()
        training.env.close()
        assert report is not None
        return json.dumps({k: v for k, v in report.items() if "second" not in k})

    assert metrics(use_processes=True) == metrics(use_processes=False)


def test_without_a_task_training_is_agnostic() -> None:
    task = "tests.corridor:make_taskless"
    with pytest.raises(ValueError, match=r"no final milestone.*legal: --is-agnostic"):
        hal.train(small(task))
    policy = hal.train(small(task, is_agnostic=True, steps=3_000))
    assert policy.agent.facts.final == -1
    episodes = evaluate(policy, num_episodes=20)
    np.testing.assert_array_equal(episodes.success, episodes.covered.all(axis=1))
    assert episodes.covered[:, 1].mean() > 0.8


def test_without_a_task_training_may_be_for_the_reward(
    capsys: pytest.CaptureFixture[str],
) -> None:
    task = "tests.corridor:make_taskless"
    assert try_env(task, 500, seed=0)
    assert "--meta-anneal-successes 0 to learn for the reward" in capsys.readouterr().out
    with pytest.raises(ValueError, match="--meta-anneal-successes 0 to learn for the reward"):
        hal.train(small(task, meta_waits=False))
    for_reward = small(task, meta_waits=False, meta_anneal_successes=0, steps=3_000)
    policy = hal.train(for_reward)
    assert evaluate(policy, num_episodes=20).covered.mean(axis=0).tolist() == [1.0, 1.0]
    env = make_checked(task, horizon=50)
    obs, _ = env.reset(seed=0)
    values = dict(zip(policy.milestones, policy.q_subtasks(obs), strict=True))
    assert values["key"] > 0.5, "it brings nothing itself, but leads to the door's reward"


def test_policy_takes_the_environments_own_observations() -> None:
    policy = hal.train(small(VECTOR, steps=400))
    env = make_checked(VECTOR, horizon=50)
    obs, _ = env.reset(seed=0)
    assert policy.affordances(obs).shape == (2,)
    assert policy.q_subtasks(obs).shape == (2,)
    assert policy.act(obs) in (3, 4), "as the environment counts them"
    assert policy.act(np.stack([obs, obs])).shape == (2,)


def test_policy_takes_signals_in_the_environments_own_order() -> None:
    policy = hal.train(small(VECTOR, steps=400))
    env = make_checked(VECTOR, horizon=50)
    obs, info = env.reset(seed=0)
    policy.act(obs, info)
    (pursued,) = policy.subtasks
    other = "key" if pursued == "door" else "door"
    for name, goes_on in ((pursued, False), (other, False), (None, True)):
        options = policy._options
        assert options is not None
        options.subtask[0] = policy.milestones.index(pursued)
        options.steps[0] = 1
        signals = {"milestones": np.array([name == known for known in Corridor.milestones])}
        policy.act(obs, signals)
        assert options.steps[0] == (2 if goes_on else 0), "what ended is chosen anew"


# --- Runs -----------------------------------------------------------------------------------


def test_a_run_goes_on_with_new_episodes() -> None:
    """Nothing is learned from the gap: its rows are no experience, what went before is cut."""
    training = Training(small(steps=1_000))
    for _ in range(60):
        training.step()
    agent = training.agent
    assert isinstance(agent, HierarchicalAgent)
    before, num_rows = agent.num_steps, agent.replay.num_rows
    num_stored = len(agent.meta.replay)
    training.begin_anew()
    assert agent.num_steps == before
    assert agent.replay.num_rows == num_rows + 1
    assert not agent.replay.is_valid[num_rows].any()
    assert (agent.replay.end[num_rows - 1] != 0).all(), "no return reaches over the gap"
    assert len(agent.meta.replay) == num_stored
    training.step()
    assert agent.replay.is_valid[num_rows + 1].all()
    assert (agent.episodes.present[:, 1] == 1).all(), "episodes are a step old"


def test_a_stopped_run_is_resumed_and_finished(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    code = f"""
import signal, os
from hal.runs.lifecycle import (run_training, Keeping)
from hal.runs.training import (Training)
from tests.corridor import small
from pathlib import Path
step = Training.step
def stopping(self):
    step(self)
    if self.agent.num_steps >= 800:
        Training.step = step
        os.kill(os.getpid(), signal.SIGINT)
Training.step = stopping
run_training(small(steps=1600), Path({str(folder)!r}), Keeping(num_episodes=10))
"""
    stopped = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert stopped.returncode != 0
    assert "stopped after 80" in stopped.stderr
    result = resume_training(folder)
    assert result["steps"] == 1_600
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    steps = [line["steps"] for line in lines]
    assert steps == sorted(set(steps))
    assert steps[-1] >= 1_600


def test_a_signal_to_all_processes_leaves_a_checkpoint(tmp_path: Path) -> None:
    """Ctrl-C in a terminal reaches the lanes' processes too: they leave it to the run."""
    folder = tmp_path / "run"
    options = [f"--{name.replace('_', '-')}={value}" for name, value in SMALL.items()]
    command = [str(HAL), "train", "--env", VECTOR, *options, "--steps=1000000", "--processes"]
    process = subprocess.Popen(
        [*command, "--out", str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    metrics = folder / "metrics.jsonl"
    while process.poll() is None and not (metrics.is_file() and metrics.stat().st_size):
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "go on with: hal train --resume" in errors
    assert list((folder / "checkpoints").glob("step-*/sums.json"))


def test_what_a_run_has_learned_keeps_its_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Should the environment change the order of its milestones, the agent's stays."""
    run_training(small(steps=300), tmp_path / "run", Keeping(num_episodes=2))
    monkeypatch.setattr(Corridor, "milestones", ("key", "door"))
    assert load(tmp_path / "run").agent.facts.columns == (0, 1)
    monkeypatch.setattr(Corridor, "milestones", ("door", "key"))
    assert load(tmp_path / "run").agent.facts.columns == (1, 0)
    monkeypatch.setattr(Corridor, "milestones", ("door", "lock"))
    with pytest.raises(ValueError, match="unknown milestone 'key'; legal: door, lock"):
        load(tmp_path / "run")


def test_another_background_is_taken_from_the_checkpoint() -> None:
    training = Training(small())
    background = np.array([1, 2])
    assert training.background.tolist() == [0, 2], "row of zeros and ones, then the key's codes"
    training.take_background(background)
    assert training.agent.controller.encoder.background.tolist() == [1, 2]


# --- Commands -------------------------------------------------------------------------------


def test_check_of_a_good_environment(capsys: pytest.CaptureFixture[str]) -> None:
    assert try_env(PARTS, 500, seed=0)
    text = capsys.readouterr().out
    for line in (
        f"{PARTS}: the contract was kept in 50",
        "observation row: 1 x 5 cells of 2 codes",
        "observation key: 1 cells of 2 codes",
        "actions: 2",
        "true affordances: not told",
        "(final: door)",
    ):
        assert line in text
    assert "change:" not in text


@pytest.mark.parametrize(
    ("breach", "line"), [("silent", "broken: no milestone"), ("nan", "broken: ")]
)
def test_check_of_a_bad_environment(
    breach: str, line: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Broken, "num_healthy", 0)
    assert not try_env(f"tests.test_contract:make_{breach}", 500, seed=0)
    assert line in capsys.readouterr().out


def run_main(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["hal", *arguments])
    try:
        main()
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


def test_all_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    options = [f"--{name.replace('_', '-')}={value}" for name, value in SMALL.items()]
    out = ["--out", str(folder), "--episodes", "10"]
    assert run_main(monkeypatch, "train", "--env", PARTS, *options, *out) == 0
    assert run_main(monkeypatch, "eval", str(folder), "--episodes", "5") == 0
    assert "door" in capsys.readouterr().out
    assert run_main(monkeypatch, "plot", str(folder), "--out", str(tmp_path / "curves.png")) == 0
    assert (tmp_path / "curves.png").is_file()
    assert run_main(monkeypatch, "runs", str(tmp_path)) == 0
    gif = tmp_path / "episode.gif"
    assert run_main(monkeypatch, "watch", str(folder), "--seed", "1", "--gif", str(gif)) == 0
    assert gif.is_file()
    assert run_main(monkeypatch, "train", "treasure", "--env", PARTS) == 2
    assert "legal: one of them" in capsys.readouterr().err
    assert run_main(monkeypatch, "check", "tests.corridor:nothing") == 2


def test_adapters_are_listed_and_found() -> None:
    names = names_of_adapters()
    assert len(names) == len(set(names)) > 5
    for name in names:
        assert callable(find_make(name))


def test_no_environment_is_known_by_name() -> None:
    """But to itself, to its adapter, and to presets: scales, and the paper's experiments."""
    source = Path(hal.__file__).parent
    knowing = {"grid", "adapters", "pictures", "presets.py", "suite.py", "claims.py"}
    for path in source.rglob("*.py"):
        if not knowing & set(path.relative_to(source).parts):
            text = path.read_text().lower()
            found = [
                name for name in ("crafting", "treasure", "minigrid", "crafter") if name in text
            ]
            assert not found, f"{path} knows {found}"
