import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

import hal.envs.grid.jit
import hal.envs.patience
from hal.envs.grid.jit import KERNEL_MODULES
from hal.envs.patience import announced

FOLDER = Path(hal.envs.grid.jit.__file__).parent


def test_every_module_that_kernels_depend_on_is_part_of_the_caches_name() -> None:
    imports = {
        path.stem: set(re.findall(r"from hal\.envs\.grid(?:\.(\w+))? import", path.read_text()))
        for path in FOLDER.glob("*.py")
    }
    assert len(imports) > len(KERNEL_MODULES)
    assert all("jit" in imports[name] for name in ("crafting", "treasure", "geometry", "lanes"))
    with_kernels = {name for name in imports if "jit" in imports[name]} - {"jit", "vector"}
    depended_on = {module for name in with_kernels for module in imports[name] if module} - {"jit"}
    assert with_kernels | depended_on <= set(KERNEL_MODULES)


def test_a_changed_table_changes_the_cache(tmp_path: Path) -> None:
    copy = tmp_path / "envs"
    copy.mkdir()
    for path in FOLDER.glob("*.py"):
        (copy / path.name).write_text(path.read_text())
    command = "import runpy, sys; print(runpy.run_path(sys.argv[1])['_CACHE_FOLDER'])"

    def cache_folder() -> str:
        run = [sys.executable, "-c", command, str(copy / "jit.py")]
        return subprocess.run(run, capture_output=True, text=True, check=True, timeout=300).stdout

    before = cache_folder()
    assert cache_folder() == before
    (copy / "rules.py").write_text((copy / "rules.py").read_text().replace("gives=4", "gives=5"))
    assert cache_folder() != before


def test_a_long_first_call_is_announced(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hal.envs.patience, "_MOMENT", 0.05)
    monkeypatch.setattr(hal.envs.patience, "_TICK", 0.01)
    with announced("it"):
        time.sleep(0.2)  # as on a machine that is busy with something else
    assert capsys.readouterr().err == ""
    start = time.process_time()
    with announced("it"):
        while time.process_time() < start + 0.3:
            pass
    assert capsys.readouterr().err == "hal: compiling it (once per installation) ...\n"


def test_kernels_work_where_nothing_can_be_cached(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.touch()
    command = "from hal.envs.grid.rng import draw, seed_words; print(draw(seed_words(1, 0), 10))"
    run = subprocess.run(
        [sys.executable, "-c", command],
        env={**os.environ, "NUMBA_CACHE_DIR": str(blocked)},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    assert run.stdout.strip().isdigit()
