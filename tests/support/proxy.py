"""A proxy before PostgreSQL that cuts a connection right before or after a COMMIT gets through."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from enum import Enum
from urllib.parse import parse_qs, urlsplit, urlunsplit

_COMMIT = b"COMMIT;"
"""What the driver sends to end a transaction, as one simple query."""


class Cut(Enum):
    """Where to cut, once: the server never sees the commit, or the client never its answer."""

    BEFORE = "before"
    AFTER = "after"


class Proxy:
    """Passes everything on, until it is armed."""

    def __init__(self, socket: str) -> None:
        self._socket = socket
        self._armed: tuple[Cut, int] | None = None
        self.cuts = 0

    def arm(self, where: Cut, commits: int = 1) -> None:
        """Cut at the n-th commit from now on."""
        self._armed = (where, commits)

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
            cut = self._next_cut() if _COMMIT in data else None
            if cut is Cut.BEFORE:
                return
            if cut is Cut.AFTER:
                answering.cancel()
                back.write(data)
                await back.drain()
                await asyncio.sleep(0.2)  # it has committed; nobody will hear of it
                return
            back.write(data)
            await back.drain()

    def _next_cut(self) -> Cut | None:
        if self._armed is None:
            return None
        where, left = self._armed
        self._armed = (where, left - 1) if left > 1 else None
        if left > 1:
            return None
        self.cuts += 1
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
