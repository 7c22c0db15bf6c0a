"""Whoever is not the user's own page gets a line, and the studio goes on."""

import http.client
import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from hal.cli import main
from hal.studio.app import MOST_PAGES
from hal.studio.guard import LOOPBACK
from hal.studio.serve import MOST_MESSAGE, Server, is_loopback, names_of
from tests.browser import serving, wait_for
from tests.runs import learning, make_run


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("runs")
    make_run(folder / "run", learning([0.1, 0.2]))
    with serving(Server([folder], "127.0.0.1", 0)) as server:
        yield server


def cookie(server: Server, token: str | None = None) -> str:
    return f"hal_studio_{server.port}={token or server.token}"


def fetch(
    server: Server, path: str = "/", method: str = "GET", cookies: bool = True, **headers: str
) -> tuple[int, bytes, dict[str, str]]:
    """Return how the studio answers: status, content, headers."""
    link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    own = {"Host": f"127.0.0.1:{server.port}", **headers}
    link.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for name, value in {**own, **({"Cookie": cookie(server)} if cookies else {})}.items():
        link.putheader(name, value)
    link.endheaders()
    answer = link.getresponse()
    content = answer.read()
    link.close()
    return answer.status, content, {name.lower(): value for name, value in answer.getheaders()}


def ask(server: Server, *words: Any, **named: Any) -> tuple[int, str, dict[str, str]]:
    """Return the same with its content as text."""
    status, content, headers = fetch(server, *words, **named)
    return status, content.decode(errors="replace"), headers


def talk(server: Server, **changes: Any) -> ClientConnection:
    headers = {"Cookie": cookie(server), **changes.pop("headers", {})}
    origin = changes.pop("origin", f"http://127.0.0.1:{server.port}")
    address = f"ws://127.0.0.1:{server.port}/talk"
    unbounded: dict[str, Any] = {"max_size": None, "max_queue": None, "proxy": None}
    return connect(address, origin=origin, additional_headers=headers, **unbounded, **changes)


def hear(page: ClientConnection, kind: str) -> dict[str, Any]:
    """Return the next message of a kind."""
    while True:
        message: dict[str, Any] = json.loads(page.recv(30))
        if message["kind"] == kind:
            return message


def is_well(server: Server) -> bool:
    """Tell whether the studio answers the user's own page."""
    with talk(server) as page:
        return len(hear(page, "runs")["runs"]) == 1 and ask(server)[0] == 200


def test_the_first_address_gives_a_cookie(server: Server) -> None:
    status, _, headers = ask(server, f"/?token={server.token}", cookies=False)
    assert status == 303
    assert headers["location"] == "/"
    assert headers["set-cookie"] == f"{cookie(server)}; Path=/; HttpOnly; SameSite=Strict"
    status, text, headers = ask(server)
    assert status == 200
    assert "<title>HAL studio</title>" in text
    policy = headers["content-security-policy"]
    assert "default-src 'none'; script-src 'self'; style-src 'self'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "path",
    ["/", "/?token=wrong", "/?token=", "/?token=%00%ff", "/page/main.js", "/talk", "/share/x"],
)
def test_without_the_token_nothing_is_told(server: Server, path: str) -> None:
    status, text, _ = ask(server, path, cookies=False)
    assert (status, text) == (403, "hal studio: open the address that `hal studio` has printed\n")
    status, _, _ = ask(server, path, cookies=False, Cookie=cookie(server, "wrong"))
    assert status == 403


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:{port}", "", "["]
)
def test_foreign_hosts_are_refused(server: Server, host: str) -> None:
    status, text, _ = ask(server, Host=host.format(port=server.port))
    assert (status, text) == (421, "hal studio: unknown host\n")


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]", "LOCALHOST"])
def test_own_names_are_known(server: Server, host: str) -> None:
    assert ask(server, Host=f"{host}:{server.port}")[0] == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "https://127.0.0.1:{port}", "http://127.0.0.1:1"]
)
def test_foreign_origins_are_refused(server: Server, origin: str) -> None:
    origin = origin.format(port=server.port)
    assert ask(server, Origin=origin)[:2] == (403, "hal studio: foreign origin\n")
    with pytest.raises(InvalidStatus) as refusal:
        talk(server, origin=origin)
    assert refusal.value.response.status_code == 403


@pytest.mark.parametrize(
    "changes",
    [
        {"headers": {"Cookie": ""}},
        {"headers": {"Cookie": 'hal_studio=1; a="b'}},
        {"origin": None},
    ],
)
def test_websockets_are_checked_too(server: Server, changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidStatus) as refusal:
        talk(server, **changes)
    assert refusal.value.response.status_code == 403
    assert is_well(server)


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT"])
def test_other_methods_do_not_exist(server: Server, method: str) -> None:
    assert ask(server, method=method)[0] == 405


def test_nothing_is_posted(server: Server) -> None:
    assert ask(server, "/", "POST")[0] == 405
    assert ask(server, "/", "HEAD")[:2] == (200, "")


UP = ["../../guard.py", "..%2f..%2fguard.py", "%2e%2e/%2e%2e/guard.py", "....//guard.py"]
OUT = ["/etc/passwd", "C:\\boot.ini", "main.js%00.png", "uplot/../../guard.py", "\\..\\guard.py"]


@pytest.mark.parametrize("name", [*UP, *OUT])
@pytest.mark.parametrize(
    "place",
    [
        "/page/{}",
        "/atlas/{}",
        "/picture/{}/0/0",
        "/picture/0/{}/0",
        "/picture/0/0/{}",
        "/share/{}",
        "/share/moment.png?side={}&step=0",
        "/share/moment.png?side=0&step={}",
        "/share/episode.html?side=-1&step={}",
    ],
)
def test_no_way_leads_out(server: Server, place: str, name: str) -> None:
    status, text, _ = ask(server, place.format(name))
    assert status in (400, 404, 405)
    assert "root:" not in text
    assert "class Guard" not in text
    assert text.count("\n") <= 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense",
        "[" * 50_000,
        '{"do": "show"',
        '{"do": "select", "runs": ["../../etc"], "metric": "", "along": "", "heat": ""}',
        '{"do": "select", "runs": [5], "metric": "", "along": "steps", "heat": "mask/accuracy"}',
        '{"do": "play", "side": 0, "run": 0, "stage": "../x", "seed": 0, "epsilon": 0, "most": 1}',
        '{"do": "play", "side": 0, "run": 0, "stage": "a", "seed": 0, "epsilon": NaN, "most": 1}',
        '{"do": "at", "side": 0, "step": 1' + "0" * 5_000 + "}",
        b"\x00\xff",
    ],
)
def test_malformed_messages_get_a_line(server: Server, text: str | bytes) -> None:
    with talk(server) as page:
        hear(page, "ready")
        page.send(text)
        answer = hear(page, "error")["text"]
        assert 0 < len(answer) <= 500
        assert "\n" not in answer
        page.send(json.dumps({"do": "show", "view": "runs"}))
        assert hear(page, "desk")["view"] == "runs"


def test_oversized_messages_end_the_connection(server: Server) -> None:
    with talk(server) as page:
        hear(page, "ready")
        page.send("x" * (MOST_MESSAGE + 1))
        with pytest.raises(ConnectionClosed) as end:
            hear(page, "nothing more")
        assert end.value.rcvd is not None
        assert end.value.rcvd.code == 1009
    assert is_well(server)


def test_two_hundred_connections(server: Server) -> None:
    with ExitStack() as stack:
        for _ in range(200):
            stack.enter_context(socket.create_connection(("127.0.0.1", server.port), 30))
        assert is_well(server)
    with ExitStack() as stack:
        told: list[str] = []
        for _ in range(200):
            page = stack.enter_context(talk(server))
            if len(told) < MOST_PAGES:
                told.append(hear(page, "desk")["view"])
            else:
                assert "16 pages are open" in hear(page, "error")["text"]
        assert ask(server)[0] == 200
    wait_for(lambda: is_well_again(server))


def is_well_again(server: Server) -> bool:
    """Tell whether there is room again: that pages are gone is noticed a moment later."""
    with talk(server) as page:
        return "kind" in (message := json.loads(page.recv(30))) and message["kind"] != "error"


def test_who_is_not_loopback_is_named() -> None:
    assert [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "127.8.8.8")] == [
        True
    ] * 4
    assert not is_loopback("0.0.0.0")
    assert not is_loopback("example.org")
    assert names_of("127.0.0.1") == LOOPBACK
    assert {"0.0.0.0", socket.gethostname().lower()} < set(names_of("0.0.0.0"))


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["nowhere"], "there is no folder nowhere"),
        (["--port", "70000"], "port 70000; legal: whole numbers from 0 to 65535"),
        (["--port", "{port}"], "legal: a port that is free, 0 for any"),
        (["--host", "999.1.1.1"], "--host 999.1.1.1"),
    ],
)
def test_bad_commands_get_a_line(
    server: Server,
    words: list[str],
    reason: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    words = [word.format(port=server.port) for word in words]
    monkeypatch.setattr("sys.argv", ["hal", "studio", "--no-browser", *words])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    told = capsys.readouterr().err
    assert reason in told
    assert told.count("\n") == 1
