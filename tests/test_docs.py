"""The documentation's examples run, and its links lead somewhere."""

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import gymnasium
import pytest

import hal
from hal.config.presets import PAPER
from hal.config.settings import GROUPS, Config, values_of
from hal.experiments.claims import judge
from hal.experiments.results import read_results
from hal.experiments.suite import EXPERIMENTS

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_run(page: Path) -> None:
    assert hal.ENV_IDS
    names: dict[str, Any] = {"env": gymnasium.make("hal/Crafting-Iron-v0")}
    for example in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL):
        exec(compile(example, page.name, "exec"), names)
    if "lanes" in names:
        assert names["info"]["affordances"].shape[0] == names["lanes"].num_envs


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        assert link.startswith("https://") or (page.parent / link).exists(), link


def test_documented_commands_exist() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for page in PAGES:
        for target in re.findall(r"^make ([a-z-]+)", page.read_text(), re.MULTILINE):
            assert f"\n{target}:" in makefile, target


def test_every_departure_from_the_paper_is_explained() -> None:
    text = (ROOT / "docs" / "decisions.md").read_text()
    table = text[text.index("How `fast` departs") :]
    default = values_of(Config())
    for name, value in PAPER.items():
        if default[name] != value:
            assert f"`{name}`" in table, name


def test_readme_has_the_verdicts_of_the_results() -> None:
    results = {name: read_results(ROOT / "results" / name) for name in EXPERIMENTS}
    judged = [(str(one.claim.number), one.verdict) for one in judge(results)]
    told = re.findall(r"^\| (\d+) \|.*\| ([a-z ]+) \|$", (ROOT / "README.md").read_text(), re.M)
    assert told == judged


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "docs/method.md"])
def test_named_code_and_settings_exist(name: str) -> None:
    text = (ROOT / name).read_text()
    places = re.findall(r"([\w/]+)\.py(?::([\w.]+))?", text)
    assert len(places) > 30
    for path, inside in places:
        if not (ROOT / f"{path}.py").is_file():
            found = import_module(f"hal.{path.replace('/', '.')}")
            for word in inside.split(".") if inside else ():
                found = getattr(found, word)
    for setting in re.findall(rf"`((?:{'|'.join(GROUPS)})\.(?!py)\w+)`", text):
        assert setting in values_of(Config()), setting
