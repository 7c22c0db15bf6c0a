"""A trained agent on disk: what is loaded acts like what was saved, and damage is told."""

import pickle
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hal.agent.protocol import Agent
from hal.config.file import CONFIG, load_config, save_config
from hal.config.presets import METHODS, make_config
from hal.config.settings import grid_settings
from hal.envs.grid.vector import GridVectorEnv
from hal.runs.checkpoint import load_agent, save_agent
from hal.runs.evaluation import evaluate
from hal.runs.folder import WEIGHTS
from hal.runs.training import train

TINY: dict[str, Any] = {
    "num_lanes": 16,
    "steps": 2_000,
    "warmup_steps": 500,
    "replay_steps": 8_000,
    "width": 16,
    "meta_width": 16,
    "context_width": 16,
    "horizon": 100,
    "update_every": 64,
    "meta_every": 64,
    "context_every": 64,
}


def saved(folder: Path, method: str = "hal", **overrides: Any) -> Agent:
    config = make_config("stick", method, **{**TINY, **overrides})
    agent = train(config).agent
    save_config(config, folder)
    save_agent(agent, folder)
    return agent


@pytest.mark.parametrize(
    ("method", "overrides"),
    [
        *((method, {}) for method in METHODS),
        ("hal", {"torso": "convolution", "milestones": ("log", "stick")}),
        ("hal", {"is_agnostic": True, "rarity": "none", "disappear_rate": 0.1}),
    ],
)
def test_a_loaded_agent_plays_the_same_episodes(
    tmp_path: Path, method: str, overrides: dict[str, Any]
) -> None:
    agent = saved(tmp_path, method, **overrides)
    loaded = load_agent(tmp_path)
    assert loaded.config == agent.config
    options = grid_settings(agent.config)
    ours, theirs = (
        evaluate(one, GridVectorEnv(num_envs=20, **asdict(replace(options, max_steps=60))))
        for one in (agent, loaded)
    )
    np.testing.assert_array_equal(ours.length, theirs.length)
    np.testing.assert_array_equal(ours.covered, theirs.covered)
    assert ours.mask == theirs.mask


def test_damage_is_told_and_nothing_is_executed(tmp_path: Path) -> None:
    saved(tmp_path)
    weights, config = tmp_path / WEIGHTS, tmp_path / CONFIG
    whole, text = weights.read_bytes(), config.read_text()
    flipped = whole[:-1000] + bytes([whole[-1000] ^ 4]) + whole[-999:]
    for bad in (b"", whole[:1000], flipped, pickle.dumps({"controller": print})):
        weights.write_bytes(bad)
        with pytest.raises(ValueError, match="is damaged"):
            load_agent(tmp_path)
    weights.write_bytes(whole)
    config.write_text(text.replace("hidden_size = 16", "hidden_size = 24"))
    with pytest.raises(ValueError, match="does not fit its config"):
        load_agent(tmp_path)
    for bad_text, message in (
        ("hidden_size = ", "is damaged"),
        (text.replace("td_lambda =", "track ="), "unknown field 'controller.track'"),
        (text.replace("td_lambda = 0.9\n", ""), "is damaged: it lacks controller.td_lambda"),
        (text.replace("[meta]", "[beta]"), "unknown group 'beta'; legal: environment, options"),
        (text.replace('mask = "learned"', 'mask = "guessed"'), "unknown affordances.mask 'guess"),
    ):
        config.write_text(bad_text)
        with pytest.raises(ValueError, match=message):
            load_config(tmp_path)
    weights.unlink()
    config.write_text(text)
    with pytest.raises(ValueError, match="has no weights"):
        load_agent(tmp_path)
    with pytest.raises(ValueError, match="is not a run"):
        load_agent(tmp_path / "nowhere")
