"""Methods that learn no mask: there is nothing of one in their agents."""

from pathlib import Path
from typing import Any, NoReturn

import pytest
import torch

from hal.agent.hal import HierarchicalAgent
from hal.agent.networks.heads import Context
from hal.agent.replay.examples import Examples
from hal.config.file import save_config
from hal.runs.checkpoint import load_agent, save_weights
from hal.runs.snapshot import Parts, gather
from tests.parts import tiny_agent

NO_MASK = ["hr", "hr+her", "oracle"]


def refuse(*_: Any) -> NoReturn:
    raise AssertionError("made for nothing")


@pytest.mark.parametrize("part", [Context, Examples])
def test_without_a_learned_mask_nothing_of_it_is_made(
    monkeypatch: pytest.MonkeyPatch, part: type
) -> None:
    monkeypatch.setattr(part, "__init__", refuse)
    with pytest.raises(AssertionError, match="made for nothing"):
        tiny_agent("hal")
    for method in NO_MASK:
        agent, env = tiny_agent(method, horizon=40)
        assert agent.affordances is None
        obs, info = env.reset(seed=0)
        for _ in range(60):
            obs, reward, terminated, truncated, info = env.step(agent.act(obs, info))
            agent.observe(obs, reward, terminated, truncated, info)
            agent.update()
        assert agent.num_updates > 0


def kept_names(agent: HierarchicalAgent) -> set[str]:
    """Return the names of all that a run keeps of an agent."""
    parts = Parts()
    gather(agent, "agent", parts)
    return {*parts.tensors, *parts.arrays, *parts.values}


@pytest.mark.parametrize("method", NO_MASK)
def test_without_a_learned_mask_no_weights_of_it_are_kept(method: str) -> None:
    agent, _ = tiny_agent(method)
    learner, _ = tiny_agent("hal")
    assert learner.affordances is not None
    of_mask = learner.affordances.weights().keys()
    assert {"achieved", "trained", "context.classify.weight"} <= of_mask
    assert learner.weights().keys() - agent.weights().keys() == of_mask
    assert agent.weights().keys() < learner.weights().keys()
    kept, kept_by_learner = kept_names(agent), kept_names(learner)
    names = {name for name in kept_by_learner if name.startswith("agent.affordances.")}
    assert len(names) > 20
    assert kept == (kept_by_learner - names) | {"agent.affordances"}


@pytest.mark.parametrize("method", ["hr+her", "oracle"])
def test_old_weights_with_a_context_load_into_methods_without_one(
    tmp_path: Path, method: str
) -> None:
    """Agents used to have a context network whether they used it or not."""
    agent, _ = tiny_agent(method, seed=1)
    learner, _ = tiny_agent("hal", seed=1)
    agent.replay.events.counts[:] = [7, 5, 3]
    old = {**learner.weights(), **agent.weights()}
    assert any(name.startswith("context.") for name in old)
    other, _ = tiny_agent(method, seed=2)
    other.load_weights(old)
    save_config(agent.config, tmp_path)
    save_weights(old, tmp_path)
    loaded = load_agent(tmp_path)
    assert isinstance(loaded, HierarchicalAgent)
    assert loaded.affordances is None
    for one in (other, loaded):
        weights = one.weights()
        assert weights.keys() == agent.weights().keys()
        for name, tensor in agent.weights().items():
            assert torch.equal(weights[name], tensor), name
