"""A road to PostgreSQL that can be closed or freeze over: nothing passes, and nothing says so."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from urllib.parse import parse_qs, urlsplit, urlunsplit


class Road:
    """Passes everything on while it is open; `url` is where it begins."""

    def __init__(self, socket: str) -> None:
        self._socket = socket
        self._open = asyncio.Event()
        self._open.set()
        self._closed = False
        self._travellers: set[asyncio.Task[None]] = set()
        self.url = ""

    def close(self) -> None:
        """Cut every connection, and each new one at once."""
        self._closed = True
        for task in self._travellers:
            task.cancel()

    def freeze(self) -> None:
        """Let nothing pass in either direction, and tell nobody."""
        self._open.clear()

    def resume(self) -> None:
        """Let everything pass again."""
        self._closed = False
        self._open.set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass one connection on until either side ends it."""
        task = asyncio.current_task()
        assert task is not None
        self._travellers.add(task)
        back = None
        try:
            if self._closed:
                return
            there, back = await asyncio.open_unix_connection(self._socket)
            async with asyncio.TaskGroup() as both:
                both.create_task(self._pass_on(reader, back))
                both.create_task(self._pass_on(there, writer))
        except (asyncio.CancelledError, ExceptionGroup):
            return
        finally:
            self._travellers.discard(task)
            for one in (back, writer):
                if one is not None:
                    one.transport.abort()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(2**16):
            await self._open.wait()
            writer.write(data)
            await writer.drain()
        raise ConnectionError("one side ended it, so the other one ends too")


@contextlib.asynccontextmanager
async def road_to(url: str) -> AsyncIterator[Road]:
    """Build a road to the server of `url`, which names a socket's folder."""
    parts = urlsplit(url)
    place = parse_qs(parts.query)
    road = Road(f"{place['host'][0]}/.s.PGSQL.{place['port'][0]}")
    listener = await asyncio.start_server(road.serve, "127.0.0.1", 0)
    begins = f"{parts.netloc.removesuffix('@')}@127.0.0.1:{listener.sockets[0].getsockname()[1]}"
    road.url = urlunsplit((parts.scheme, begins, parts.path, "sslmode=disable", ""))
    try:
        async with listener:
            yield road
            road.close()
    finally:
        road.close()
