"""A proxy before PostgreSQL that cuts the line right before or after something got through."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from enum import Enum
from urllib.parse import parse_qs, urlsplit, urlunsplit

_SETTLES = 0.05
"""Seconds that the server has to do what it was sent before the client loses the line."""


class Cut(Enum):
    """Where to cut: the server never sees what was sent, or the client never its answer."""

    BEFORE = "before"
    AFTER = "after"


class Proxy:
    """Passes everything on, until it is armed. `last` is what was cut, for the test to look at."""

    def __init__(self, socket: str) -> None:
        self._socket = socket
        self._armed: tuple[Cut, int] | None = None
        self.last: bytes | None = None

    def arm(self, where: Cut, message: int) -> None:
        """Cut at the n-th thing that a client sends from now on."""
        self._armed, self.last = (where, message), None

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass one connection on in both directions."""
        there, back = await asyncio.open_unix_connection(self._socket)
        answering = asyncio.create_task(_pass_on(there, writer))
        try:
            await self._listen(reader, back, answering)
        finally:
            answering.cancel()
            for one in (back, writer):
                one.transport.abort()

    async def _listen(
        self,
        reader: asyncio.StreamReader,
        back: asyncio.StreamWriter,
        answering: asyncio.Task[None],
    ) -> None:
        while data := await reader.read(2**16):
            cut = self._next_cut(data)
            if cut is Cut.BEFORE:
                return
            if cut is Cut.AFTER:
                answering.cancel()
            back.write(data)
            await back.drain()
            if cut is Cut.AFTER:
                await asyncio.sleep(_SETTLES)
                return

    def _next_cut(self, data: bytes) -> Cut | None:
        if self._armed is None:
            return None
        where, left = self._armed
        self._armed = (where, left - 1) if left > 1 else None
        if left > 1:
            return None
        self.last = data
        return where


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(2**16):
            writer.write(data)
            await writer.drain()


@contextlib.asynccontextmanager
async def proxied(url: str) -> AsyncIterator[tuple[Proxy, str]]:
    """Stand before the server of `url` (a socket's folder); yield the proxy and its own address."""
    parts = urlsplit(url)
    place = parse_qs(parts.query)
    proxy = Proxy(f"{place['host'][0]}/.s.PGSQL.{place['port'][0]}")
    listener = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    role = parts.netloc.removesuffix("@")
    own = urlunsplit((parts.scheme, f"{role}@127.0.0.1:{port}", parts.path, "sslmode=disable", ""))
    async with listener:
        yield proxy, own
