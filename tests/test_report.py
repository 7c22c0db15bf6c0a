"""The report of all experiments, read as text and looked at in a browser."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from selenium.webdriver import Chrome

from hal.experiments import report
from hal.experiments.claims import Claim, Judgement
from hal.experiments.figures import FIGURES
from hal.experiments.report import write_report
from hal.experiments.results import write_results
from hal.experiments.suite import EXPERIMENTS
from hal.experiments.verdicts import Part
from tests.browser import chromium, set_screen
from tests.test_figures import make_results

VOID = {"meta", "link", "img", "br"}
VERDICTS = ("confirmed", "not confirmed", "refuted", "not measured")
CLAIMS = [
    Judgement(
        Claim(number, "learning", f"{verdict} & <b>bold</b>", ()),
        (Part("<i>a</i> < b", f"<u>0.{number}</u> (0.1 to 0.9)", verdict),),
    )
    for number, verdict in enumerate(VERDICTS, start=1)
]


class Page(HTMLParser):
    """What a page is made of; its tags must be closed in order."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self.feed(path.read_text(encoding="utf-8"))
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def all(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.tags if name == tag]


def add_experiment(folder: Path, name: str, **options: Any) -> None:
    """Write an experiment's tables, and pictures of noise as its figures."""
    write_results(make_results(name, **options), folder / name)
    rng = np.random.default_rng(0)
    for figure in (figure for figure, (owner, _) in FIGURES.items() if owner == name):
        noise = rng.integers(256, size=(100, 2160), dtype=np.uint8)
        Image.fromarray(noise).save(folder / name / f"{figure}.png")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two experiments, and claims with every verdict."""
    monkeypatch.setattr(report, "judge", lambda _: CLAIMS)
    for name in ("learning", "milestones"):
        add_experiment(tmp_path, name)
    return tmp_path


def test_a_page_needs_nothing_else(folder: Path) -> None:
    path = write_report(folder)
    assert path == folder / "report.html"
    assert not list(folder.glob("*.part"))
    page = Page(path)
    images = page.all("img")
    assert len(images) == 5, "four figures and one"
    assert all(image["src"].startswith("data:image/png;base64,") for image in images)
    assert all(image["alt"] for image in images)
    assert page.all("script") == []
    assert all(link["href"].startswith("data:") for link in page.all("link"))
    assert all(link["href"].startswith("#") for link in page.all("a"))
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"https?:|url\(|@import", text)
    assert str(folder) not in text


def test_a_page_is_well_made(folder: Path) -> None:
    page = Page(write_report(folder))
    (html,) = page.all("html")
    assert html["lang"] == "en"
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in page.all(
        "meta"
    )
    assert len(page.all("title")) == len(page.all("h1")) == len(page.all("main")) == 1
    names = [section["id"] for section in page.all("section")]
    assert names == ["summary", "claims", "learning", "milestones", "missing"]
    assert [link["href"] for link in page.all("a")] == [f"#{name}" for name in names]


def test_the_same_results_are_the_same_page(folder: Path) -> None:
    first = write_report(folder).read_bytes()
    assert write_report(folder).read_bytes() == first


def test_claims_are_told_as_they_are(folder: Path) -> None:
    page = Page(write_report(folder))
    for number, verdict in enumerate(VERDICTS, start=1):
        assert f"{verdict} & <b>bold</b>" in page.text
        assert f"<i>a</i> < b: {verdict} <u>0.{number}</u> (0.1 to 0.9)" in page.text
    assert "Of 4 claims: 1 confirmed, 1 not confirmed, 1 refuted, 1 not measured." in page.text
    classes = [span["class"] for span in page.all("span") if "verdict" in span["class"]]
    assert set(classes) == {f"verdict {verdict.replace(' ', '-')}" for verdict in VERDICTS}


def test_all_of_the_papers_claims_are_there(tmp_path: Path) -> None:
    page = Page(write_report(tmp_path))
    assert "Of 11 claims: 11 not measured." in page.text
    for experiment in EXPERIMENTS.values():
        assert f"{experiment.title} (the paper's {experiment.figure})" in page.text
    assert page.all("img") == []
    for name in EXPERIMENTS:
        add_experiment(tmp_path, name, num_seeds=1)
    page = Page(write_report(tmp_path))
    assert "not measured." not in page.text
    assert len(page.all("img")) == len(FIGURES)


def rows(folder: Path, title: str) -> list[list[str]]:
    """Return the cells of the tables of a title."""
    text = write_report(folder).read_text(encoding="utf-8")
    tables = re.findall(rf"<caption>{title}</caption>.*?</table>", text, re.DOTALL)
    found = [row for table in tables for row in re.findall(r"<tr>(<td>.*?)</tr>", table)]
    return [re.findall(r"<td>(.*?)</td>", row) for row in found]


def test_aggregates_of_a_variant(folder: Path) -> None:
    results = make_results("milestones", num_seeds=3)
    for run, success, online in zip(results, (0.8, 0.9, 1.0), (0.2, 0.3, 0.4), strict=False):
        run.final["success"] = success
        for line in run.lines:
            line["episode/success"] = online
    write_results(results, folder / "milestones")
    row = next(row for row in rows(folder, "Each variant over its seeds") if row[2] == "3")
    # t with two degrees of freedom * 0.1 / sqrt(3) = 0.248
    rates = ["90.0% (65.2% to 100.0%)", "90.0%", "30.0% (5.2% to 54.8%)"]
    assert row == ["iron", "hal", "3", "20,000", "200", *rates, "11", "33"]


def test_one_seed_has_no_interval(folder: Path) -> None:
    results = make_results("milestones", num_seeds=1)
    results[0].final["success"] = 0.75
    write_results(results, folder / "milestones")
    row = next(row for row in rows(folder, "Each variant over its seeds") if row[2] == "1")
    assert row[:7] == ["iron", "hal", "1", "20,000", "200", "75.0%", "75.0%"]
    assert "inf" not in Page(folder / "report.html").text


def test_aggregates_across_tasks(folder: Path) -> None:
    results = make_results("learning")
    levels = {"hal": 0.9, "oracle": 0.9, "hr": 0.1}
    kept = [run for run in results if (run.task, run.variant) != ("iron", "rainbow")]
    for run in kept:
        run.final["success"] = levels.get(run.variant, 0.5)
    write_results(kept, folder / "learning")
    found = {
        row[0]: row[1:] for row in rows(folder, "Greedy success on iron and treasure together")
    }
    assert found["hal"] == ["90.0% (90.0% to 90.0%)", "-"]
    assert found["oracle"] == ["90.0% (90.0% to 90.0%)", "50.0% (50.0% to 50.0%)"]
    assert found["hr"] == ["10.0% (10.0% to 10.0%)", "100.0% (100.0% to 100.0%)"]
    assert "rainbow" not in found, "it has no runs on one of the tasks"
    text = Page(folder / "report.html").text
    assert "Not measured: rainbow on iron." in text
    assert "hal reproduce learning" in text


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    with chromium(tmp_path_factory.mktemp("browser")) as chrome:
        yield chrome


def show(browser: Chrome, path: Path, width: int, height: int, scheme: str) -> None:
    """Open a page in a window of a size."""
    set_screen(browser, width, height, scheme)
    browser.get(path.as_uri())


def contrast(colours: list[str]) -> float:
    """Return how much lighter one colour is than another, as WCAG defines it."""
    lights = []
    for colour in colours:
        channels = np.array(re.findall(r"\d+", colour)[:3], dtype=float) / 255
        linear = np.where(
            channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4
        )
        lights.append(linear @ [0.2126, 0.7152, 0.0722] + 0.05)
    return float(max(lights) / min(lights))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("width", "height"), [(360, 740), (1280, 800)])
def test_in_a_browser(browser: Chrome, folder: Path, width: int, height: int, scheme: str) -> None:
    show(browser, write_report(folder), width, height, scheme)
    run = browser.execute_script
    assert run("return innerWidth") == width, "a page that is too wide would be zoomed out"
    assert run("return document.documentElement.scrollWidth") <= width
    assert run("return [...document.images].map(i => i.complete && i.naturalWidth)") == [2160] * 5
    assert run("return Math.max(...[...document.images].map(i => i.width))") <= width
    assert browser.get_log("browser") == []  # type: ignore[no-untyped-call]
    verdicts = run(
        "return [...document.querySelectorAll('strong .verdict')].map(v => {"
        " const box = v.getBoundingClientRect(), colour = getComputedStyle(v).color;"
        " return [v.innerText, box.left, box.right, box.height, colour]; })"
    )
    assert [verdict[0] for verdict in verdicts] == list(VERDICTS)
    paper = run("return getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") == (scheme == "light")
    for _, left, right, tall, colour in verdicts:
        assert 0 <= left < right <= width
        assert tall > 10
        assert contrast([colour, paper]) > 4.5
    with Image.open(BytesIO(browser.get_screenshot_as_png())) as image:
        assert image.size == (width, height)
        greys = np.asarray(image.convert("L"), dtype=float)
    ink = np.abs(greys - greys[0, 0]) > 100
    assert 0.005 < ink.mean() < 0.5


def test_wide_tables_scroll_in_their_own_box(browser: Chrome, folder: Path) -> None:
    show(browser, write_report(folder), 360, 740, "light")
    boxes = browser.execute_script(
        "return [...document.querySelectorAll('.scroll')].map(b => [b.clientWidth, b.scrollWidth])"
    )
    assert len(boxes) == 4
    assert all(shown <= 360 < whole for shown, whole in boxes)
