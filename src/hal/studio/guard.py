"""Who may talk to the studio: the outermost layer, before anything looks at a request.

A page elsewhere can make a browser send requests here. So the name in `Host` must be one of ours,
`Origin`, where it is sent, too, and the cookie must hold the token of the first address.
"""

import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlsplit

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

METHODS = ("GET", "HEAD", "POST")
LOOPBACK = ("localhost", "127.0.0.1", "::1")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)


class Guard:
    """Lets through what comes from the user's own page.

    Args:
        app: what is guarded.
        token: the secret of the first address.
        names: of this machine, as they may be in `Host` and `Origin`.
        port: as it may be there.
    """

    def __init__(self, app: App, token: str, names: tuple[str, ...], port: int) -> None:
        self._app = app
        self._token = token
        self._names = names
        self._port = port
        self.cookie = f"hal_studio_{port}"  # browsers do not tell ports apart

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or refuse in one line."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        refusal = self._refusal_of(scope)
        if refusal is None and scope["type"] == "http" and self._has_token(scope):
            await self._welcome(send)
        elif refusal is None and not self._has_cookie(scope):
            await _refuse(scope, send, 403, "open the address that `hal studio` has printed")
        elif refusal is not None:
            await _refuse(scope, send, *refusal)
        else:
            await self._app(scope, receive, _with_headers(send))

    def _refusal_of(self, scope: Scope) -> tuple[int, str] | None:
        hosts, origins = _headers(scope, b"host"), _headers(scope, b"origin")
        if len(hosts) != 1 or not self._is_ours(f"//{hosts[0]}"):
            return 421, "unknown host"
        is_needed = scope["type"] == "websocket"
        if len(origins) > 1 or (is_needed and not origins):
            return 403, "one origin is needed"
        if origins and not (origins[0].startswith("http://") and self._is_ours(origins[0])):
            return 403, "foreign origin"
        if scope["type"] == "http" and scope["method"] not in METHODS:
            return 405, f"unknown method; legal: {', '.join(METHODS)}"
        return None

    def _is_ours(self, address: str) -> bool:
        try:
            parts = urlsplit(address)
            return parts.hostname in self._names and parts.port == self._port and not parts.path
        except ValueError:
            return False

    def _has_token(self, scope: Scope) -> bool:
        """Tell whether this is the first address."""
        if scope["path"] != "/":
            return False
        try:
            given = parse_qs(scope["query_string"].decode("ascii")).get("token", [""])[0]
        except (UnicodeDecodeError, ValueError):
            return False
        return hmac.compare_digest(given.encode(), self._token.encode())

    def _has_cookie(self, scope: Scope) -> bool:
        for header in _headers(scope, b"cookie"):
            try:
                morsel = SimpleCookie(header).get(self.cookie)
            except CookieError:
                continue
            if morsel and hmac.compare_digest(morsel.value.encode(), self._token.encode()):
                return True
        return False

    async def _welcome(self, send: Send) -> None:
        """Give the cookie, and take the token out of the address."""
        cookie = f"{self.cookie}={self._token}; Path=/; HttpOnly; SameSite=Strict"
        headers = [(b"location", b"/"), (b"set-cookie", cookie.encode()), *HEADERS]
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


def _headers(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


def _with_headers(send: Send) -> Send:
    async def send_more(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", []), *HEADERS]
        await send(message)

    return send_more


async def _refuse(scope: Scope, send: Send, status: int, reason: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})  # before it is accepted: a 403
        return
    body = f"hal studio: {reason}\n".encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), *HEADERS]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
