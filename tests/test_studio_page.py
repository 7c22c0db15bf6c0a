"""The studio's page, used as a person does: by clicks and keys, in a browser."""

import json
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver import ActionChains, Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

from hal.envs.grid.rules import TREASURE
from hal.pictures.frame import Frame
from hal.runs.checkpoint import PRETRAINED
from hal.studio.serve import Server
from hal.studio.why import nearest
from tests.browser import chromium, serving, set_screen, wait_for
from tests.corridor import PARTS
from tests.runs import learning, make_run
from tests.test_studio import untrained
from tests.test_studio_attacks import fetch

EVIL = "<img src=x onerror=document.title='evil'>"
TO_MIDDLE = "arguments[0].scrollIntoView({block: 'center'})"
VIEWS = ("runs", "episode", "interfere", "compare", "map", "share")


class Page:
    """The page in a browser, and the desk behind it."""

    def __init__(self, browser: Chrome, server: Server) -> None:
        self.browser, self.server, self.desk = browser, server, server.desk

    def find(self, css: str, at: int = 0) -> WebElement:
        found: WebElement = wait_for(lambda: self.all(css)[at : at + 1 or None])[0]
        return found

    def all(self, css: str) -> list[WebElement]:
        return list(self.browser.find_elements(By.CSS_SELECTOR, css))

    def click(self, css: str, at: int = 0) -> None:
        wait_for(lambda: self._is_clicked(css, at))

    def _is_clicked(self, css: str, at: int) -> bool:
        """Click, unless the element is just being made anew."""
        element = self.find(css, at)
        try:
            self.browser.execute_script(TO_MIDDLE, element)
            element.click()
        except StaleElementReferenceException:
            return False
        return True

    def press(self, *keys: str) -> None:
        self.browser.find_element(By.TAG_NAME, "body").send_keys(*keys)

    def turn_to(self, view: str) -> None:
        self.click(f"nav button[data-view={view}]")
        wait_for(lambda: self.browser.execute_script("return document.body.dataset.view") == view)

    def text(self, css: str) -> str:
        return str(self.browser.execute_script(f"return document.querySelector('{css}').innerText"))

    def says(self, css: str, words: str) -> None:
        wait_for(lambda: words in self.text(css))

    def is_drawn(self, css: str) -> bool:
        """Tell whether a canvas shows more than one colour."""
        script = (
            "const c = document.querySelector(arguments[0]);"
            "const p = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;"
            "return new Set(new Uint32Array(p.buffer)).size > 2"
        )
        return bool(self.browser.execute_script(script, css))

    def click_at(self, css: str, x: float, y: float) -> None:
        """Click so many pixels from an element's upper left corner."""
        element = self.find(css)
        self.browser.execute_script(TO_MIDDLE, element)
        half = element.size["width"] / 2, element.size["height"] / 2
        move = ActionChains(self.browser).move_to_element_with_offset(
            element, round(x - half[0]), round(y - half[1])
        )
        move.click().perform()

    def row(self, milestone: str, pane: str = "#episode") -> list[str]:
        """Return what the table says of a milestone: f(s), truth, value, success."""
        script = "return [...document.querySelectorAll(arguments[0])].map(cell => cell.innerText)"
        css = f"{pane} tr[data-milestone={milestone}] td"
        return list(self.browser.execute_script(script, css))

    def logs(self) -> list[Any]:
        lines: Any = self.browser.get_log("browser")  # type: ignore[no-untyped-call]
        return [line for line in lines if line["level"] == "SEVERE"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    for seed in (0, 1):
        make_run(folder / f"learns-{seed}", learning([0.2, 0.4 + 0.2 * seed]), seed=seed)
    evil = {"steps": 100, "episode/success": 0.5, EVIL: 0.5, f"mask/accuracy/{EVIL}": 0.7}
    run = make_run(folder / EVIL.replace("/", "-"), [evil], task="green_door")
    (run / "failure.txt").write_text(f"{EVIL}<script>document.title = 'evil'</script>")
    untrained(folder / "strange", "hal", PARTS)
    return folder


@pytest.fixture(scope="module")
def page(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    server = Server([folder, PRETRAINED / "treasure"], "127.0.0.1", 0)
    with chromium(tmp_path_factory.mktemp("browser")) as browser, serving(server):
        set_screen(browser, 1280, 900, "light")
        browser.get(server.address)
        yield Page(browser, server)
        browser.get("about:blank")  # or the server waits for its page to go


def number_of(page: Page, name: str) -> int:
    return next(r["number"] for r in page.desk.library.rows() if r["name"].endswith(name))


def number(value: float) -> str:
    return f"{value:.2f}"


# --- 1 runs ---------------------------------------------------------------------------------


def test_runs_are_listed_drawn_and_live(page: Page, folder: Path) -> None:
    assert page.browser.current_url == f"http://127.0.0.1:{page.server.port}/", "no token is left"
    page.says("table.runs", "learns-1")
    assert "60% online" in page.text("table.runs")
    for seed in (0, 1):
        page.click(f"input[aria-label$='learns-{seed}']")
    page.says("#runs .u-legend", "treasure hal (2 seeds)")
    assert page.is_drawn("#runs .u-wrap canvas")
    assert page.is_drawn("#runs canvas.heat")
    with (folder / "learns-1" / "metrics.jsonl").open("a") as file:
        file.write(json.dumps({"steps": 300, "episode/success": 0.77}) + "\n")
    page.says("table.runs", "77% online")


def test_names_of_strangers_are_only_text(page: Page) -> None:
    assert EVIL.replace("/", "-") in page.text("table.runs")
    assert "<script>" in page.text("table.runs")
    page.click("table.runs thead input")
    page.says("#runs .curves", "green_door")
    options = "return [...document.querySelectorAll('#runs option')].map(o => o.textContent)"
    wait_for(lambda: EVIL in page.browser.execute_script(options))
    page.click("table.runs thead input")
    assert page.browser.title == "HAL studio"
    assert page.all("img[src=x]") == []


# --- 2 episode ------------------------------------------------------------------------------


def test_an_episode_is_gone_through(page: Page) -> None:
    treasure = number_of(page, "treasure")
    page.click("table.runs tbody tr:last-child button")
    page.says("#episode .now", "step 0 of 64")
    assert page.desk.opened[0] == (treasure, "final")
    page.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_LEFT)
    page.says("#episode .now", "step 2 of 64 · did turn right · pursues red key")
    beliefs = page.desk.episode(0).beliefs()
    assert beliefs.probability is not None
    assert beliefs.values is not None
    for k, name in enumerate(TREASURE.milestones):
        own = page.row(name)
        shown = page.desk.episode(0).at(2).seen.shown
        assert shown.affordances is not None
        truth = "yes" if shown.affordances[k] else "no"
        assert own[:3] == [number(beliefs.probability[2, k]), truth, number(beliefs.values[2, k])]
    wait_for(lambda: page.row("red_key")[3].endswith("%"))
    chosen = page.text("#episode .actions .chosen")
    assert chosen.replace("\n", " ") == f"▶ turn right {number(beliefs.actions[2].max())}"
    for canvas in ("world", "timeline"):
        assert page.is_drawn(f"#episode canvas.{canvas}")
    wide = page.find("#episode .timeline").size["width"]
    page.click_at("#episode .timeline", wide * 30.5 / 65, 25)
    page.says("#episode .now", "step 30 of 64")
    page.press("]")
    got = [s for s, r in enumerate(page.desk.episode(0).records) if r.seen.shown.collected]
    page.says("#episode .now", f"step {next(s for s in got if s > 30)} of 64")
    page.press(Keys.HOME, " ")
    at = "return Number(document.querySelector('#episode .controls input').value)"
    wait_for(lambda: page.browser.execute_script(at) >= 3)
    page.press(" ", Keys.HOME)


def test_why_is_answered(page: Page) -> None:
    page.press(*[Keys.ARROW_RIGHT] * 5)
    page.says("#episode .now", "step 5 of 64")
    page.click("#episode tr[data-milestone=red_door] button")
    page.says("#episode .why", "Why red door?")
    player, k = page.desk.episode(0).player, TREASURE.milestones.index("red_door")
    assert player.examples is not None
    found = nearest(player.examples, page.desk.episode(0).at(5).seen.obs, k)
    words = f"has drawn {found.distance:.3f}, its margin {found.margin:.3f}: within"
    page.says("#episode .why", words)
    page.says("#episode .why", "red key")
    assert len(page.all("#episode .nearest figure")) == 5
    assert page.is_drawn("#episode .nearest canvas")
    page.press(Keys.HOME)
    page.says("#episode .why", "not possible, as the threshold is 0.50. In truth it is not")


# --- 3 interfere ----------------------------------------------------------------------------


def test_a_subtask_is_forced_and_undone(page: Page) -> None:
    page.press("3")
    page.says("#episode .tools", "Force a subtask")
    before = len(page.desk.episode(0).records)
    page.click("#episode .subtasks button", TREASURE.milestones.index("blue_key"))
    page.says("#episode .now", "is told to pursue blue key")
    assert page.desk.episode(0).at(0).is_forced
    page.press("u")
    page.says("#episode .now", f"step 0 of {before - 1} · pursues")


def test_the_keyboard_is_taken(page: Page) -> None:
    page.press("k", Keys.ARROW_LEFT)
    page.says("#episode .now", "step 1 of 1 · by hand: turn left")
    page.press(" ")
    page.says("#episode .now", "step 2 of 2 · by hand: interact")
    page.press("k", "g")
    wait_for(lambda: page.desk.episode(0).records[-1].seen.is_over)
    assert [r.came_by for r in page.desk.episode(0).records[:4]] == [
        "agent",
        "hand",
        "hand",
        "agent",
    ]
    page.press(Keys.HOME)


def test_the_world_is_changed(page: Page) -> None:
    page.says("#episode .now", "step 0 of")
    assert page.row("red_door")[1] == "no"
    page.click("#episode .items button[title='more red_key']")
    wait_for(lambda: page.row("red_door")[1] == "yes")
    beliefs = page.desk.episode(0).beliefs()
    assert beliefs.probability is not None
    assert page.row("red_door")[0] == number(beliefs.probability[0, 2])
    shown = page.desk.episode(0).at(0).seen.shown
    assert isinstance(shown, Frame)
    cell = page.find("#episode canvas.world").size["width"] / TREASURE.size
    row, col = np.argwhere(shown.grid == TREASURE.tiles.index("blue_door"))[0]
    page.click_at("#episode canvas.world", (col + 0.5) * cell, (row + 0.5) * cell)

    def tile(name: str, row: int, col: int) -> bool:
        shown = page.desk.episode(0).at(0).seen.shown
        return isinstance(shown, Frame) and bool(shown.grid[row, col] == TREASURE.tiles.index(name))

    wait_for(lambda: tile("open_blue_door", row, col))
    page.click("#episode .palette button[title=wall]")
    row, col = np.argwhere(shown.grid == TREASURE.tiles.index("scale"))[0]
    page.click_at("#episode canvas.world", (col + 0.5) * cell, (row + 0.5) * cell)
    wait_for(lambda: tile("wall", row, col))
    page.press("g")
    played = page.desk.episode(0)
    wait_for(lambda: len(played.records) > 10)
    wait_for(lambda: f"step 0 of {len(played.records) - 1}" in page.text("#episode .now"))


def test_a_page_that_is_reloaded_is_where_it_was(page: Page) -> None:
    page.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    wait_for(lambda: page.desk.places[0] == 2)
    now = page.text("#episode .now")
    page.browser.refresh()
    page.says("#episode .now", now)
    page.says("#episode .tools", "Change the world")


# --- 4 compare ------------------------------------------------------------------------------


def test_the_first_difference_is_found(page: Page) -> None:
    page.turn_to("episode")
    page.click("#episode > form .main")
    page.says("#episode .now", "step 0 of 64")
    page.turn_to("compare")
    second = "#compare .side:nth-child(2) form"
    exploration = page.find(f"{second} input[step='0.05']")
    exploration.clear()
    exploration.send_keys("0.3")
    page.click(f"{second} select option[value='{number_of(page, 'treasure')}']")
    page.click(f"{second} .main")
    page.says("#compare .verdict", "They first differ at step")
    one, other = (page.desk.episode(side).records for side in (0, 1))
    pairs = enumerate(zip(one, other, strict=False))
    step = next(s for s, (a, b) in pairs if (a.action, a.subtask) != (b.action, b.subtask))
    page.says("#compare .verdict", f"at step {step}:")
    page.click("#compare .side .timeline")
    page.press("d")
    for side in (1, 2):
        page.says(f"#compare .side:nth-child({side}) .now", f"step {step} of")
        assert page.is_drawn(f"#compare .side:nth-child({side}) canvas.world")


# --- 5 map ----------------------------------------------------------------------------------


def test_a_point_of_the_map_is_a_state(page: Page) -> None:
    page.turn_to("map")
    page.says("#map .note", "65 states by their contexts z(s)")
    assert page.is_drawn("#map canvas.map")
    points = page.desk.points
    assert points is not None
    canvas = page.find("#map canvas.map")
    size = np.array([canvas.size["width"], canvas.size["height"]])
    low, high = points.places.min(axis=0), points.places.max(axis=0)
    at = 14 + (points.places - low) / (high - low) * (size - 28)
    chosen = int(np.abs(points.places - points.places.mean(axis=0)).sum(axis=1).argmax())
    page.click_at("#map canvas.map", at[chosen, 0], size[1] - at[chosen, 1])
    page.says("#map .looked", f"step {chosen}, before")
    assert page.is_drawn("#map .looked canvas")
    page.click("#map select:first-of-type option[value=examples]")
    page.says("#map .hues", "discs are positives, squares negatives")
    page.click("#map .opener label:nth-of-type(3) option[value=truth]")
    page.says("#map .hues", "not possible")
    assert page.is_drawn("#map canvas.map")


# --- 6 share --------------------------------------------------------------------------------


def test_what_is_shared_opens_anywhere(page: Page, tmp_path: Path) -> None:
    page.turn_to("share")
    page.says("#share", "The episode with all beliefs, as one page")
    links = [link.get_attribute("href") or "" for link in page.all("#share a")]
    assert len(links) == 6, "of both sides"
    contents = []
    for link in links[:3]:
        status, content, headers = fetch(page.server, link.partition(str(page.server.port))[2])
        assert status == 200
        assert "attachment" in headers["content-disposition"]
        contents.append(content)
    picture, film = (Image.open(BytesIO(content)) for content in contents[1:])
    assert picture.size == film.size
    step = page.desk.places[0]
    assert getattr(film, "n_frames", 0) > 1
    (tmp_path / "episode.html").write_bytes(contents[0])
    before = page.browser.current_url
    page.browser.get((tmp_path / "episode.html").as_uri())
    page.says(".now", f"step {step} of 64")
    page.press(Keys.HOME, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    page.says(".now", "step 2 of 64 · did turn right · pursues red key")
    assert page.is_drawn("canvas.world")
    beliefs = page.desk.episode(0).beliefs()
    assert beliefs.probability is not None
    assert page.row("yellow_key")[0] == number(beliefs.probability[2, 1])
    assert page.logs() == []
    assert b"http" not in contents[0].replace(b"http-equiv", b"")
    page.browser.get(before)


# --- everything -----------------------------------------------------------------------------


def test_a_strangers_environment_is_imported_by_a_click(page: Page) -> None:
    page.turn_to("episode")
    strange = number_of(page, "strange")
    page.click(f"#episode form select option[value='{strange}']")
    page.says("#episode .consent", f"This run would import {PARTS}")
    page.click("#episode form .main")
    page.says("#error", "was not trained here")
    page.click("#episode .consent button")
    wait_for(lambda: strange in page.desk.trusted)
    page.click(f"#episode form select option[value='{strange}']")
    page.click("#episode form .main")
    wait_for(lambda: page.desk.opened[0] == (strange, "final"))
    seen = "const i = document.querySelector('#episode img.world'); return i.naturalWidth"
    wait_for(lambda: page.browser.execute_script(seen) == 32)
    page.turn_to("interfere")
    page.says("#episode .tools", "The state of this environment cannot be changed.")
    page.press(Keys.HOME, "k", "1")
    page.says("#episode .now", "step 1 of 1 · by hand: 4")
    page.press("k")
    page.click("#episode tr[data-milestone=key] button")
    page.says("#episode .why", "What the answer rests on")
    page.turn_to("runs")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1280])
def test_it_can_be_read(page: Page, width: int, scheme: str) -> None:
    set_screen(page.browser, width, 900, scheme)
    for view in VIEWS:
        page.turn_to(view)
        run = page.browser.execute_script
        assert run("return document.documentElement.scrollWidth") <= width, view
        cut = (
            "return [...document.querySelectorAll('main *')].filter(e => e.offsetParent &&"
            " (e.getBoundingClientRect().left < 0 ||"
            " e.getBoundingClientRect().right > innerWidth + 1)).map(e => e.outerHTML)"
        )
        assert run(cut) == [], view
        sizes = (
            "return [...document.querySelectorAll('body *')].filter(e => e.offsetParent &&"
            " [...e.childNodes].some(n => n.nodeType == 3 && n.data.trim()))"
            ".map(e => parseFloat(getComputedStyle(e).fontSize))"
        )
        assert min(run(sizes)) >= 12, view
    assert page.logs() == []
