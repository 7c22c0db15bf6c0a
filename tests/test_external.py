"""Environments that are not of the package: learning in them, and finding them."""

import json
from pathlib import Path

import numpy as np
import pytest

import hal
from hal.config.presets import METHODS
from hal.envs.external.find import find_make, names_of_adapters
from hal.envs.external.vectorising import make_checked
from hal.runs.check import try_env
from hal.runs.evaluation import evaluate
from hal.runs.training import Training
from tests.corridor import PARTS, PIXELS, VECTOR, Corridor, small


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
        options = policy.options
        assert options is not None
        options.subtask[0] = policy.milestones.index(pursued)
        options.steps[0] = 1
        signals = {"milestones": np.array([name == known for known in Corridor.milestones])}
        policy.act(obs, signals)
        assert options.steps[0] == (2 if goes_on else 0), "what ended is chosen anew"


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
