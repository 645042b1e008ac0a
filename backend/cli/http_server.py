"""The HTTP server inside our own process, stopped by us and not by its own signal handlers."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
from collections.abc import Iterator
from types import FrameType
from typing import Any

import uvicorn

from backend.cli.failure import Failure
from backend.cli.http_protocol import BoundedProtocol

_GRACE = 1
"""Seconds that requests in flight have to end when the server stops."""
_BACKLOG = 1024
_UNHEARD_MS = 60_000
"""How long what we send may stay without a sign that it arrived; a stream to somebody whose network
is gone would else hold its place for a quarter of an hour."""


class HttpServer(uvicorn.Server):
    """A uvicorn server that ends its open streams first.

    An open stream would hold the server to the end of its grace period, and the application learns
    of the shutdown only after that; so `closing` is set at once, and each stream waits on it.
    """

    def __init__(self, app: Any, closing: asyncio.Event) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=BoundedProtocol,
                ws="none",
                lifespan="on",
                log_config=None,
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=_GRACE,
                backlog=_BACKLOG,
            )
        )
        self._closing = closing
        self.answering = asyncio.Event()
        """Set once requests are answered."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer."""
        await super().startup(sockets)
        self.answering.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to whoever runs the process: they may come before we serve and after."""
        yield

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to stop: streams say goodbye, idle connections are closed, the rest may finish."""
        self._closing.set()
        super().handle_exit(sig, frame)


def listen(host: str, port: int, *, insecure: bool) -> socket.socket:
    """Open the listening socket; port 0 takes a free one.

    Raises Failure if the address is not on this machine alone and `insecure` was not said, or if
    it can't be had.
    """
    if not insecure and not _is_loopback(host):
        line = f"{host} is reachable from elsewhere and keys would cross the network unencrypted"
        raise Failure(f"{line}: put a TLS proxy before a loopback address, or add --insecure.", 2)
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, _, _, _, address = found[0]
        listener = socket.create_server(address[:2], family=family, backlog=_BACKLOG)
    except OSError as error:
        why = (error.strerror or str(error)).partition(" (while")[0]
        raise Failure(f"can't listen on {host} port {port}: {why}.") from None
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # Linux; each connection has it from its listener
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _UNHEARD_MS)
    return listener


def address_of(listener: socket.socket) -> str:
    """Return the address as a client writes it."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
