"""The studio as a web application: files of the page, pictures, downloads, and one websocket.

The websocket carries commands to the desk and its answers to all pages; work is done in a thread,
one piece at a time.
"""

import asyncio
import json
import sys
import time
import traceback
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from hal.checks import printable
from hal.envs.grid.rules import GAMES
from hal.studio.desk import Desk, Messages
from hal.studio.pack import Packed, atlas
from hal.studio.share import gif, page_file, picture, shared_page

MOST_PAGES, MOST_WAITING = 16, 200  # pages at once; messages that a slow one may wait for
POLL_SECONDS = 2.0  # at least, between two looks at the runs
POLL_SHARE = 0.01  # at most, of a core, for looking
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".png": "image/png",
    ".gif": "image/gif",
}
T = TypeVar("T")


class Studio:
    """What serves a desk to its pages.

    Args:
        desk: what is open.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._lock = asyncio.Lock()
        self._pages: set[asyncio.Queue[Packed]] = set()
        self._rows: list[Packed] = []
        self.app = Starlette(
            routes=[
                Route("/", self.file),
                Route("/page/{name:path}", self.file),
                Route("/atlas/{game}", self.atlas),
                Route("/picture/{side}/{version}/{step}", self.picture),
                Route("/share/{what}", self.share),
                WebSocketRoute("/talk", self.talk),
            ],
            lifespan=self._life,
            exception_handlers={HTTPException: _told, Exception: _told},
        )

    async def _work(self, job: Callable[..., T], *values: Any) -> T:
        async with self._lock:
            return await asyncio.to_thread(job, *values)

    # --- the websocket ----------------------------------------------------------------------

    async def talk(self, socket: WebSocket) -> None:
        """Serve a page as long as it is there."""
        await socket.accept()
        if len(self._pages) >= MOST_PAGES:
            await socket.send_json(_error(f"{MOST_PAGES} pages are open; legal: close one"))
            await socket.close(1013)
            return
        page: asyncio.Queue[Packed] = asyncio.Queue(MOST_WAITING)
        self._pages.add(page)
        sender = asyncio.create_task(_send_all(page, socket))
        try:
            await self._answer(page, self._desk.everything)
            while True:
                text = await _received(socket)
                await self._answer(page, self._called, text)
        except WebSocketDisconnect:
            pass
        finally:
            self._pages.discard(page)
            sender.cancel()

    def _called(self, text: str | None) -> Messages:
        try:
            message = json.loads(text or "")
        except (ValueError, RecursionError):
            raise ValueError("a message is not JSON") from None
        return self._desk.call(message)

    async def _answer(
        self, page: asyncio.Queue[Packed], job: Callable[..., Messages], *values: Any
    ) -> None:
        """Do what a page asks for; all pages see what came of it, itself what went wrong."""
        self._tell({"kind": "busy"})
        try:
            answers, pages = await self._work(job, *values), list(self._pages)
        except (ValueError, OSError) as error:
            answers, pages = [_error(str(error))], [page]
        except Exception as error:  # a fault of ours or of an environment: the others go on
            traceback.print_exc(file=sys.stderr)
            answers, pages = [_error(f"this failed: {error!r}")], [page]
        for answer in answers:
            self._tell(answer, pages)
        self._tell({"kind": "ready"})

    def _tell(self, message: Packed, pages: list[asyncio.Queue[Packed]] | None = None) -> None:
        for page in list(self._pages) if pages is None else pages:
            with suppress(asyncio.QueueFull):  # it does not read
                page.put_nowait(message)

    @asynccontextmanager
    async def _life(self, _: Starlette) -> AsyncIterator[None]:
        watcher = asyncio.create_task(self._watch())
        yield
        watcher.cancel()

    async def _watch(self) -> None:
        """Tell pages what has become of the runs, live while they train."""
        took = 0.0
        while True:
            await asyncio.sleep(max(POLL_SECONDS, took / POLL_SHARE))
            if not self._pages:
                continue
            with suppress(ValueError, OSError):  # a folder that is moved comes back, or does not
                news, took = await self._work(self._news)
                for message in news:
                    self._tell(message)

    def _news(self) -> tuple[Messages, float]:
        """Return what has changed since the last look, and the CPU seconds that this one took."""
        start, news = time.thread_time(), Messages()
        before, self._rows = self._rows, self._desk.library.rows()
        if self._rows != before:
            news.append({"kind": "runs", "runs": self._rows})
        if any(row not in before for row in self._rows if row["number"] in self._desk.selected):
            news += self._desk.learned()
        return news, time.thread_time() - start

    # --- files ------------------------------------------------------------------------------

    async def file(self, request: Request) -> Response:
        """Return a file of the page."""
        name = request.path_params.get("name", "index.html")
        content = page_file(name)
        if content is None:
            raise HTTPException(404, "there is no such file")
        return Response(content, media_type=TYPES.get(Path(name).suffix, "text/plain"))

    async def atlas(self, request: Request) -> Response:
        """Return the pictures of a game's tiles."""
        games = {game.name: game for game in GAMES}
        game = games.get(request.path_params["game"])
        if game is None:
            raise HTTPException(404, f"unknown game; legal: {', '.join(games)}")
        return Response(await asyncio.to_thread(cache(atlas), game), media_type=TYPES[".png"])

    async def picture(self, request: Request) -> Response:
        """Return what an environment that is not of this package shows at a step."""
        side, version, step = (_number(request.path_params[k]) for k in ("side", "version", "step"))
        png = await self._work(self._png, side, version, step)
        return Response(png, media_type=TYPES[".png"])

    def _png(self, side: int, version: int, step: int) -> bytes:
        shown = self._desk.episode(side).at(step).seen.shown
        png: bytes | None = getattr(shown, "png", None)
        if png is None or version != self._desk.versions[side]:
            raise ValueError("there is no such picture")
        return png

    async def share(self, request: Request) -> Response:
        """Return a page, a picture or a film to give away."""
        what = request.path_params["what"]
        makers = {"episode.html": shared_page, "moment.png": picture, "episode.gif": gif}
        if what not in makers:
            raise HTTPException(404, f"unknown file; legal: {', '.join(makers)}")
        side = _number(request.query_params.get("side", "0"))
        step = _number(request.query_params.get("step", "0"))
        content = await self._work(makers[what], self._desk, side, step)
        headers = {"content-disposition": f'attachment; filename="{what}"'}
        return Response(content, media_type=TYPES[Path(what).suffix], headers=headers)


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise ValueError("not a number; legal: digits")
    return int(text)


async def _received(socket: WebSocket) -> str | None:
    """Return the next text; None for bytes, which nobody sends."""
    message = await socket.receive()
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", 1000))
    text: str | None = message.get("text")
    return text


async def _send_all(page: asyncio.Queue[Packed], socket: WebSocket) -> None:
    with suppress(WebSocketDisconnect, RuntimeError):  # it has gone
        while True:
            message = await page.get()
            await socket.send_text(json.dumps(message, allow_nan=False, separators=(",", ":")))


def _error(text: str) -> Packed:
    return {"kind": "error", "text": printable(text)[:500]}


async def _told(_: Request, error: Exception) -> Response:
    """Refuse in one line."""
    if isinstance(error, HTTPException):
        return PlainTextResponse(f"hal studio: {error.detail}\n", error.status_code)
    if isinstance(error, ValueError):
        return PlainTextResponse(f"hal studio: {printable(str(error))}\n", 400)
    return PlainTextResponse("hal studio: this failed\n", 500)
