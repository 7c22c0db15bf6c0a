"""Configs: values that make no sense are refused, and fields have more than one name."""

from typing import Any

import pytest

from hal.config.presets import make_config
from hal.config.settings import with_values


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"steps": 0}, "steps 0; legal: above 0"),
        ({"learning_rate": -1.0}, "controller.learning_rate -1.0; legal: above 0"),
        ({"trace": 1.5}, "controller.td_lambda 1.5; legal: from 0 to 1"),
        ({"meta_epsilon": (0.5, -0.1)}, "exploration.meta_epsilon .*; legal: from 0 to 1"),
        ({"mask": "blind"}, "unknown affordances.mask 'blind'; legal: learned, oracle, none"),
        ({"device": "tpu"}, "unknown device 'tpu'; legal: cpu, cuda, auto"),
        ({"learnig_rate": 1.0}, "unknown field 'learnig_rate'; legal fields: task"),
        ({"seed": -1}, "seed -1; legal"),
        ({"milestones": ("red_key",)}, "lack the final one, 'treasure'"),
        ({"milestones": ("log", "treasure")}, "unknown milestone 'log'"),
        ({"disappear_rate": 0.1}, "disappear_rate 0.1; legal: 0 to 0 in treasure"),
        ({"torso": "lstm"}, "unknown networks.torso 'lstm'; legal: embedding, convolution"),
        ({"preset": "slow"}, "unknown preset 'slow'; legal: fast, faithful, paper"),
        ({"weight_decay": -1.0}, "networks.weight_decay -1.0; legal: from 0"),
        ({"fnf_perc": 1.0}, "affordances.filter_percentile 1.0; legal: between 0 and 1"),
        ({"num_lanes": 1_001}, "environment.num_envs 1001; legal: up to 1000"),
        ({"seed": 10**6}, "seed 1000000; legal: below 1000000"),
        ({"window": 2.5}, "replay.window 2.5; legal: a whole number"),
        ({"use_contrast": 1}, "affordances.use_contrast 1; legal: true or false"),
        ({"filter": "knn"}, "unknown affordances.filter 'knn'; legal: tolerance, none"),
        ({"replay_steps": "x"}, "replay.capacity 'x'; legal: a whole number"),
        ({"meta_epsilon": 0.5}, "exploration.meta_epsilon 0.5; legal: a pair of numbers"),
        ({"classifier_batch": 7}, "affordances.classifier_batch 7; legal: even numbers"),
        ({"trained_steps": 17}, "controller.trained_steps 17; legal: up to the window, 16"),
        ({"replay_steps": 2_000}, "replay.capacity 2000; legal: from 13824"),
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


@pytest.mark.parametrize("name", ["trace", "td_lambda", "controller_td_lambda", "td-lambda"])
def test_a_field_may_be_called_by_its_path_plainly_or_as_it_once_was(name: str) -> None:
    expected = with_values(make_config("stick"), {"controller.td_lambda": 0.5})
    values: dict[str, Any] = {name: 0.5}
    assert make_config("stick", **values) == expected
