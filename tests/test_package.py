"""What a stranger installs: sdist and wheel of `hal-rl`, in an empty virtual environment."""

import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "src" / "hal" / "studio" / "page"


def run(*command: str | Path, where: Path) -> str:
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(word) for word in command],
        cwd=where,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build from a copy of what git has, so that nothing is left in the checkout."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("dist")
    names = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", where=ROOT)
    for name in names.split("\0"):
        if (ROOT / name).is_file() and name.startswith(("src/", "README", "LICENSE", "pyproject")):
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_bytes((ROOT / name).read_bytes())
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, where=source)
    return out


def test_the_distribution_has_all_of_the_package(dist: Path) -> None:
    (wheel,), (sdist,) = dist.glob("hal_rl-*.whl"), dist.glob("hal_rl-*.tar.gz")
    files = {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src/hal").rglob("*.py")}
    with zipfile.ZipFile(wheel) as archive:
        packed = set(archive.namelist())
    assert files <= packed
    assert {"hal/py.typed", "hal/pretrained/iron/weights.safetensors"} <= packed
    pages = {str(path.relative_to(ROOT / "src")) for path in PAGE.rglob("*") if path.is_file()}
    assert pages <= packed
    assert any(name.endswith("licenses/src/hal/studio/page/uplot/LICENSE") for name in packed)
    with tarfile.open(sdist) as archive:
        names = {name.partition("/src/")[2] for name in archive.getnames()}
    assert files <= names
    assert wheel.stat().st_size < 3e6


def test_an_empty_environment_is_enough(dist: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    commands = tmp_path / "venv" / "bin"
    (wheel,) = dist.glob("*.whl")
    run(commands / "pip", "install", "--quiet", "--no-compile", wheel, where=tmp_path)
    hal = commands / "hal"
    run(hal, "watch", "treasure", "--seed", "3", "--gif", "episode.gif", where=tmp_path)
    assert (tmp_path / "episode.gif").read_bytes().startswith(b"GIF")
    train = ("train", "log", "--steps", "4000", "--horizon", "100", "--episodes", "5")
    assert "greedy success" in run(hal, *train, where=tmp_path)
    (folder,) = (tmp_path / "runs").iterdir()
    assert (folder / "weights.safetensors").is_file()
