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


class Server:
    """A studio at an address, which nobody is served at yet.

    Args:
        roots: folders of runs.
        host: whom it is for.
        port: where; 0 for any that is free.
    """

    def __init__(self, roots: list[Path], host: str, port: int) -> None:
        library = Library(roots)
        library.rows()  # what is wrong with the folders is said before anything is served
        self._listener = _listener(host, port)
        self.port: int = self._listener.getsockname()[1]
        self.token = secrets.token_urlsafe(24)
        self.address = f"http://{_in_address(host)}:{self.port}/?token={self.token}"
        self.desk = Desk(library)
        config = uvicorn.Config(
            Guard(Studio(self.desk).app, self.token, names_of(host), self.port),
            log_level="error",
            ws_max_size=MOST_MESSAGE,
            limit_concurrency=MOST_CONNECTIONS,
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=2,
        )
        self._server = uvicorn.Server(config)

    def run(self) -> None:
        """Serve until somebody stops it."""
        self._server.run(sockets=[self._listener])

    def stop(self) -> None:
        """End it, from another thread."""
        self._server.should_exit = True


def serve(roots: list[Path], host: str, port: int, opens_browser: bool) -> None:
    """Serve the studio until somebody stops it."""
    server = Server(roots, host, port)
    if not is_loopback(host):
        what = "whoever reaches this machine and has the address can steer, and reads along"
        print(f"hal: --host {host}: {what}", file=sys.stderr)
    say(f"the studio is at {server.address}  (Ctrl-C ends it)")
    if opens_browser:
        webbrowser.open(server.address)
    server.run()


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
        listener.listen()  # from now on whoever comes waits, the browser first
    except OSError as error:
        listener.close()
        what = f"--host {host} --port {port}: {error.strerror or error}"
        raise ValueError(f"{what}; legal: a port that is free, 0 for any") from error
    return listener
