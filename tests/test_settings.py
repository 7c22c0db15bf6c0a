"""Settings: groups, ranges, names, and files of every age."""

import re
import tomllib
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

import hal
from hal.agent.filter import FILTERS
from hal.config.file import CONFIG, load_config, read_settings, save_config
from hal.config.names import FLAT_NAMES, path_of, plain_name, spellings
from hal.config.presets import ADAPTED, EXTERNAL, METHODS, PAPER, make_config
from hal.config.ranges import Choice, kinds_of
from hal.config.settings import GROUPS, Config, values_of, with_values
from hal.config.versions import ADDED, FORMAT, UPGRADES, upgraded

AGES = Path(__file__).parent / "configs"  # files as older versions wrote them


# --- fields -----------------------------------------------------------------------------------


def test_every_number_says_what_is_legal() -> None:
    for group in (Config, *(type(getattr(Config(), name)) for name in GROUPS)):
        owner: Any = group
        for name, (kind, legal) in kinds_of(owner).items():
            is_number = kind in (int, float) or kind == tuple[float, float]
            assert legal is not None or not is_number, f"{owner.__name__}.{name}"


@pytest.mark.parametrize("path", values_of(Config()))
def test_every_field_refuses_what_makes_no_sense(path: str) -> None:
    value = values_of(Config())[path]
    bad: list[Any] = [None, {}, object()]
    if isinstance(value, bool):
        bad += [1, "yes"]
    elif isinstance(value, int):
        bad += [-1, 1.5, True, "1", float("nan")]
    elif isinstance(value, float):
        bad += [-1e-9, float("inf"), float("nan"), True, "1"]
    elif isinstance(value, str):
        bad += [1, "no such word", True]
    elif path != "environment.milestones":
        bad += [(0.5,), (0.5, 2.0), (0.5, float("nan")), [0.5, 0.5], ("a", "b")]
    for wrong in bad:
        if path == "method" and wrong == "no such word":
            continue  # a name for people: `make_config` looks it up
        with pytest.raises(ValueError, match="; legal"):
            with_values(Config(), {path: wrong})


def test_open_ranges_leave_out_their_ends() -> None:
    for path, ends in (
        ("affordances.sigma", (0.0,)),
        ("affordances.filter_percentile", (0.0, 1.0)),
        ("environment.num_envs", (0,)),
    ):
        for end in ends:
            with pytest.raises(ValueError, match=rf"{path} {end}; legal: (above|between) 0"):
                with_values(Config(), {path: end})
    for value in (0.0, 1.0):
        assert with_values(Config(), {"meta.discount": value}).meta.discount == value


def test_every_word_for_a_filter_has_one() -> None:
    group: Any = type(Config().affordances)
    _, legal = kinds_of(group)["filter"]
    assert isinstance(legal, Choice)
    assert set(legal.words) == set(FILTERS)


def test_numbers_that_do_not_fit_each_other_are_refused() -> None:
    for path, value, message in (
        ("environment.num_envs", 1001, "num_envs 1001; legal: up to 1000"),
        ("seed", 1_000_000, "seed 1000000; legal: below"),
        ("replay.capacity", 512, "replay.capacity 512; legal: from 13824"),
        ("controller.trained_steps", 17, "trained_steps 17; legal: up to the window, 16"),
        ("affordances.classifier_batch", 5, "classifier_batch 5; legal: even numbers"),
    ):
        with pytest.raises(ValueError, match=message):
            with_values(Config(), {path: value})


def test_a_group_is_all_that_a_class_is_given() -> None:
    """No class of the agent but the agents themselves and who makes them sees the whole config."""
    folder = Path(hal.__file__).parent / "agent"
    seen = re.compile(r"settings import .*\bConfig\b")
    seeing = {path.name for path in folder.rglob("*.py") if seen.search(path.read_text())}
    assert seeing == {"base.py", "build.py", "hal.py", "memory.py", "protocol.py", "rainbow.py"}


# --- names ------------------------------------------------------------------------------------


def test_names_lead_to_their_fields() -> None:
    paths = values_of(Config())
    assert set(spellings().values()) == set(paths)
    assert path_of("meta.discount") == path_of("meta-discount") == path_of("meta_discount")
    assert path_of("sigma") == "affordances.sigma"
    assert path_of("discount") == "controller.discount", "as before settings had groups"
    for name in ("every", "hidden_size", "nosuch", "meta."):
        with pytest.raises(ValueError, match=f"unknown field '{name}'; legal fields: task, method"):
            path_of(name)
    assert all(path_of(plain_name(path)) == path for path in paths)
    assert not set(FLAT_NAMES) & set(paths)


def test_presets_set_fields_that_there_are() -> None:
    presets = [
        PAPER,
        EXTERNAL,
        *ADAPTED.values(),
        *(method.switches for method in METHODS.values()),
    ]
    assert set().union(*presets) <= values_of(Config()).keys()


# --- files ------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_a_config_is_read_as_it_was_written(tmp_path: Path, method: str) -> None:
    config = make_config("iron", method, milestones=("log", "iron"), mask_epsilon=(0.5, 0.25))
    save_config(config, tmp_path)
    assert load_config(tmp_path) == config
    table = tomllib.loads((tmp_path / CONFIG).read_text())
    assert table["format"] == FORMAT
    assert set(GROUPS) == {name for name, value in table.items() if isinstance(value, dict)}


def test_every_older_format_has_an_upgrade_and_a_file_here() -> None:
    assert set(UPGRADES) == set(range(1, FORMAT))
    assert set(ADDED) == set(range(1, FORMAT + 1))
    formats = {tomllib.loads(path.read_text()).get("format", 1) for path in AGES.iterdir()}
    assert formats == set(UPGRADES)


@pytest.mark.parametrize(
    ("name", "config"),
    [
        ("flat-hal.toml", make_config("treasure")),
        ("flat-hal-fnf.toml", make_config("iron", "hal-fnf", disappear_rate=0.02, seed=3)),
        (
            "flat-paper.toml",
            make_config("iron", "hr+her", "paper", mask_target=True, mask_epsilon=(0.8, 0.0)),
        ),
        ("flat-minigrid.toml", make_config("minigrid/UnlockPickup", num_interests=1)),
        (
            "flat-first.toml",  # of the first version that wrote files
            make_config("treasure", "oracle", goal_anneal_events=0, weigh_failures=False),
        ),
    ],
)
def test_files_without_groups_do_what_they_did(tmp_path: Path, name: str, config: Config) -> None:
    (tmp_path / CONFIG).write_text((AGES / name).read_text())
    assert load_config(tmp_path) == config


def test_a_field_that_is_added_later_does_what_was_done_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_config(make_config("treasure"), tmp_path)
    path = tmp_path / CONFIG
    path.write_text(path.read_text().replace("sigma = 7.0\n", ""))
    with pytest.raises(ValueError, match=r"is damaged: it lacks affordances\.sigma$"):
        load_config(tmp_path)
    monkeypatch.setitem(ADDED, FORMAT, {**ADDED[FORMAT], "affordances.sigma": 3.0})
    assert load_config(tmp_path).affordances.sigma == 3.0


def test_a_field_that_is_gone_is_passed_over_in_runs_and_refused_in_what_a_person_writes(
    tmp_path: Path,
) -> None:
    save_config(make_config("treasure"), tmp_path)
    path = tmp_path / CONFIG
    path.write_text(path.read_text().replace("[options]\n", "[options]\ntask_epsilon = 0.06\n"))
    assert load_config(tmp_path) == make_config("treasure")
    mine = tmp_path / "my.toml"
    mine.write_text("[options]\ntask_epsilon = 0.06\n")
    with pytest.raises(ValueError, match=r"unknown field 'options\.task_epsilon'"):
        read_settings(mine)


@pytest.mark.parametrize("number", [FORMAT + 1, 0, "2", True])
def test_a_file_from_the_future_is_refused(tmp_path: Path, number: Any) -> None:
    save_config(Config(), tmp_path)
    path = tmp_path / CONFIG
    shown = f'"{number}"' if isinstance(number, str) else str(number).lower()
    path.write_text(path.read_text().replace(f"format = {FORMAT}", f"format = {shown}"))
    with pytest.raises(ValueError, match=f"config.toml: format {number!r}; legal: 1 to {FORMAT}"):
        load_config(tmp_path)


def test_a_persons_file_says_what_it_wants(tmp_path: Path) -> None:
    path = tmp_path / "my.toml"
    path.write_text('method = "hr"\nsigma = 3.0\n[meta]\ndiscount = 0.5\n')
    assert read_settings(path) == {
        "method": "hr",
        "affordances.sigma": 3.0,
        "meta.discount": 0.5,
    }
    for text, message in (
        ("[meta]\nsigma = 3.0\n", "unknown field 'meta.sigma'"),
        ("[mata]\ndiscount = 0.5\n", "unknown group 'mata'; legal: environment"),
        ("sigma = ", "is damaged"),
    ):
        path.write_text(text)
        with pytest.raises(ValueError, match=rf"my\.toml.*{message}"):
            read_settings(path)
    with pytest.raises(ValueError, match="there is no such file"):
        read_settings(tmp_path)


def test_upgrading_is_complete() -> None:
    """What was flat has a place now: no field is lost, none is there twice."""
    flat = tomllib.loads((AGES / "flat-hal.toml").read_text())
    assert len(flat) == 88
    assert upgraded(dict(flat)).keys() == values_of(Config()).keys()


def test_groups_are_dataclasses() -> None:
    assert [name for name in GROUPS if not is_dataclass(getattr(Config(), name))] == []
    assert len(GROUPS) == len([one for one in fields(Config) if one.name in GROUPS]) == 8
