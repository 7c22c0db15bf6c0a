"""Every command, at a tiny budget, in environments of other packages."""

from pathlib import Path

import pytest

from hal.config.file import load_config
from hal.runs.folder import read_metrics
from tests.corridor import SMALL
from tests.test_external_commands import run_main

TINY = SMALL | {"steps": 400, "num_lanes": 4, "horizon": 40, "examples": 50, "meta_replay": 100}
del TINY["meta_anneal_successes"]  # where there is no task, presets have another schedule


@pytest.mark.parametrize(
    ("task", "milestone"),
    [
        ("hierarchycraft/minehcraft-diamond", "iron_pickaxe"),
        ("minigrid/UnlockPickup", "unlock"),
        ("minigrid/BlockedUnlockPickup", "ball"),
        ("minigrid/KeyCorridorS3R3", "door"),
        pytest.param("craftax/classic", "collect_wood", marks=pytest.mark.jax),
        ("crafter", "collect_sapling"),
        ("crafter/pixels", "wake_up"),
    ],
)
def test_every_command(
    task: str,
    milestone: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    adapter = task.partition("/")[0]
    pytest.importorskip({"hierarchycraft": "hcraft"}.get(adapter, adapter))
    folder, gif, curves = tmp_path / "run", tmp_path / "episode.gif", tmp_path / "curves.png"
    options = [f"--{name.replace('_', '-')}={value}" for name, value in TINY.items()]
    out = ["--out", str(folder), "--episodes", "2"]
    assert run_main(monkeypatch, "train", "--env", task, *options, *out) == 0
    assert milestone in load_config(folder).environment.milestones
    lines = read_metrics(folder)
    assert lines[-1]["steps"] >= TINY["steps"]
    measured = {name for line in lines for name in line}
    assert {"loss/controller", "loss/contrast", f"mask/pruned/{milestone}"} <= measured
    assert run_main(monkeypatch, "eval", str(folder), "--episodes", "2") == 0
    assert milestone in capsys.readouterr().out
    assert run_main(monkeypatch, "plot", str(folder), "--out", str(curves)) == 0
    watch = ["watch", str(folder), "--seed", "1", "--max-steps", "5", "--gif", str(gif)]
    assert run_main(monkeypatch, *watch) == 0
    assert gif.is_file()
    assert curves.is_file()
    assert run_main(monkeypatch, "train", "--resume", str(folder)) == 2
    assert "is done" in capsys.readouterr().err
