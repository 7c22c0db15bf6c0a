"""The command's side of the studio: a socket, a token, the browser, until Ctrl-C."""

import secrets
import socket
import sys
import webbrowser
from ipaddress import ip_address
from pathlib import Path

import uvicorn

from hal.runs.display import say
from hal.studio.app import Studio
from hal.studio.desk import Desk
from hal.studio.guard import LOOPBACK, Guard
from hal.studio.library import Library

MOST_MESSAGE = 65_536  # bytes of a message from the page
MOST_CONNECTIONS = 500


def serve(roots: list[Path], host: str, port: int, opens_browser: bool) -> None:
    """Serve the studio until somebody stops it."""
    library = Library(roots)
    library.rows()  # what is wrong with the folders is said before anything is served
    listener = _listener(host, port)
    port = listener.getsockname()[1]
    token = secrets.token_urlsafe(24)
    guard = Guard(Studio(Desk(library)).app, token, names_of(host), port)
    address = f"http://{_in_address(host)}:{port}/?token={token}"
    if not is_loopback(host):
        print(
            f"hal: --host {host}: whoever reaches this machine and has the address can steer",
            file=sys.stderr,
        )
    say(f"the studio is at {address}  (Ctrl-C ends it)")
    if opens_browser:
        webbrowser.open(address)
    config = uvicorn.Config(
        guard,
        log_level="error",
        ws_max_size=MOST_MESSAGE,
        limit_concurrency=MOST_CONNECTIONS,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=2,
    )
    uvicorn.Server(config).run(sockets=[listener])


def is_loopback(host: str) -> bool:
    """Tell whether a host is this machine, to itself alone."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def names_of(host: str) -> tuple[str, ...]:
    """Return how pages may call this machine."""
    if is_loopback(host):
        return LOOPBACK
    name = socket.gethostname()
    return (*LOOPBACK, host.lower(), name.lower(), *_addresses_of(name))


def _addresses_of(name: str) -> set[str]:
    try:
        return {str(found[4][0]) for found in socket.getaddrinfo(name, None)}
    except OSError:
        return set()


def _in_address(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _listener(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        what = f"--host {host} --port {port}: {error.strerror or error}"
        raise ValueError(f"{what}; legal: a port that is free, 0 for any") from error
    return listener
