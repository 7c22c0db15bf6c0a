"""What can be given away: an episode as one page that needs nothing else, pictures, a film."""

import json
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path

from hal.envs.observations import pick
from hal.pictures.frame import Frame, Scene, Shown, to_png
from hal.pictures.render import draw
from hal.studio.desk import Desk
from hal.studio.episode import Episode, Record
from hal.studio.pack import atlas, data_url, pack_episode
from hal.viewer.film import write_gif
from hal.viewer.play import Pictures
from hal.viewer.watch import with_beliefs

PAGE = Path(__file__).parent / "page"
SUFFIXES = (".html", ".css", ".js", ".svg")
SHARED = ("dom.js", "colours.js", "world.js", "timeline.js", "beliefs.js", "pane.js", "shared.js")


@cache
def page_files() -> dict[str, bytes]:
    """Return the files of the page by their names: nothing else is ever served."""
    paths = [path for path in PAGE.rglob("*") if path.suffix in SUFFIXES]
    return {path.relative_to(PAGE).as_posix(): path.read_bytes() for path in paths}


def page_file(name: str) -> bytes | None:
    """Return a file of the page, None if there is no such file."""
    return page_files().get(name)


def shared_page(desk: Desk, side: int, step: int) -> bytes:
    """Return an episode with all that the agent believes, as one HTML file."""
    episode = desk.episode(side)
    packed = {**pack_episode(episode), "rates": episode.player.rates, "step": step}
    first = episode.records[0].seen.shown
    if isinstance(first, Frame):
        packed["atlas"] = data_url(atlas(first.game))
    else:
        packed["pictures"] = [_own_picture(one.seen.shown) for one in episode.records]
    # Nothing in the data can end the element that it is in.
    data = json.dumps(packed, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    text = (PAGE / "shared.html").read_text(encoding="utf-8")
    for mark, content in (
        ("/* STYLE */", (PAGE / "studio.css").read_text(encoding="utf-8")),
        ("/* SCRIPT */", _joined_modules()),
        ("/* DATA */", data),
    ):
        text = text.replace(mark, content, 1)
    return text.encode()


def _own_picture(shown: Shown) -> str | None:
    return data_url(shown.png) if isinstance(shown, Scene) and shown.png else None


def _joined_modules() -> str:
    """Return modules as one: a file that is opened from a disk cannot import others."""
    modules = [(PAGE / name).read_text(encoding="utf-8") for name in SHARED]
    lines = [line for module in modules for line in module.splitlines()]
    return "\n".join(
        line.removeprefix("export ") for line in lines if not line.startswith("import ")
    )


def picture(desk: Desk, side: int, step: int) -> bytes:
    """Return a moment with what the agent believes as a PNG, as `hal watch` shows it."""
    return to_png(draw(_moments(desk.episode(side), step)[0]))


def gif(desk: Desk, side: int, step: int) -> bytes:
    """Return an episode from a step on as a GIF."""
    moments = _moments(desk.episode(side), step, to_the_end=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "episode.gif"
        write_gif(Pictures(moments), path)
        return path.read_bytes()


def _moments(episode: Episode, step: int, to_the_end: bool = False) -> list[Shown]:
    episode.at(step)
    chosen = episode.records[step:] if to_the_end else [episode.records[step]]
    return [_with_beliefs(episode, record) for record in chosen]


def _with_beliefs(episode: Episode, record: Record) -> Shown:
    shown = with_beliefs(record.seen.shown, episode.policy, pick(record.seen.obs, 0))
    subtasks = episode.subtasks
    return replace(shown, subtask=subtasks[record.subtask] if subtasks else None)
