"""What tests of the live path begin with: relays that run, streams that are read, lines cut."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import asyncpg
import httpx

from backend.api.app import create_app
from backend.cli.http_server import HttpServer, address_of, listen
from backend.db.connection import Database
from backend.db.listen import NAME
from backend.services.hub import Hub, Stream
from backend.services.news import News, depth
from backend.services.relay import Relay
from backend.settings import Settings
from shared.client import FencepostClient
from shared.vocabulary import NewsKind
from shared.wire.live import LiveEvent
from tests.support.postgres import Dsn

PATIENCE = 10.0


@contextlib.asynccontextmanager
async def relaying(url: str, **options: float) -> AsyncIterator[tuple[Relay, Hub]]:
    """Run the live path of one process."""
    hub = Hub()
    relay = Relay(url, hub, **options)
    running = asyncio.create_task(relay.run())
    try:
        yield relay, hub
    finally:
        relay.stop()
        async with asyncio.timeout(PATIENCE):
            await running


async def listeners(admin: asyncpg.Connection[Any], count: int = 1) -> list[int]:
    """Wait until so many processes listen; return the server processes behind their lines."""

    async def enough() -> list[int]:
        found = await admin.fetch(
            "SELECT pid FROM pg_stat_activity WHERE application_name = $1 AND state = 'idle'"
            " AND datname = current_database() AND query ~ 'LISTEN|pg_notify|pg_backend_pid'"
            " AND backend_start < clock_timestamp() - interval '50 ms'",
            NAME,
        )
        pids = [row["pid"] for row in found]
        return pids if len(pids) == count else []

    pids: list[int] = await until(enough)
    return pids


async def nobody_listens(admin: asyncpg.Connection[Any]) -> bool:
    """Wait until no line is left."""
    query = "SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = $1"
    query += " AND datname = current_database()"
    return bool(await until(lambda: admin.fetchval(query, NAME)))


async def until(holds: Callable[[], Awaitable[Any]], within: float = PATIENCE) -> Any:
    """Wait until something holds; return what it is."""
    async with asyncio.timeout(within):
        while not (found := await holds()):  # noqa: ASYNC110 - it is asked of a database
            await asyncio.sleep(0.01)
    return found


async def next_of(stream: Stream, kind: NewsKind, within: float = PATIENCE) -> LiveEvent:
    """Take events until one of this kind comes."""
    async with asyncio.timeout(within):
        while True:
            event = await stream.take(within)
            if event is not None and event.kind is kind:
                return event


class LiveServer:
    """A server in this process, on a real socket, with its own line."""

    def __init__(self, address: str, relay: Relay, hub: Hub, server: HttpServer) -> None:
        self.address = address
        self.relay = relay
        self.hub = hub
        self._server = server
        self.serving: asyncio.Task[None] | None = None

    def client(self, key: str) -> FencepostClient:
        """A client of one holder."""
        return FencepostClient(self.address, key)

    def tell_depth(self, queue: str) -> None:
        """Let the news come in that the depth of a queue changed."""
        for news in depth(1, queue):
            self.hub.hear(news)

    def hear_of_item(self, item_pk: int, principal_id: int) -> None:
        """Let news of an item come in, for one person."""
        kind = NewsKind.ITEM_RESOLVED
        self.hub.hear(News(kind=kind, tenant_id=1, item_pk=item_pk, principal_id=principal_id))

    async def stop(self) -> None:
        """Stop as a signal would."""
        self._server.handle_exit(signal.SIGTERM, None)
        if self.serving is not None:
            await self.serving


@contextlib.asynccontextmanager
async def live_server(
    database: Database, dsn: Dsn, *, with_line: bool = True
) -> AsyncIterator[LiveServer]:
    """Serve a database over HTTP, with what joins it to other processes."""
    hub = Hub()
    relay = Relay(dsn.runtime, hub)
    closing = asyncio.Event()
    app = create_app(database, Settings(env="test"), closing, tell=relay.tell, hub=hub)
    listener = listen("127.0.0.1", 0, insecure=False)
    http = HttpServer(app, closing)
    http.config.timeout_graceful_shutdown = 30  # a stream that does not end by itself is seen
    server = LiveServer(address_of(listener), relay, hub, http)
    server.serving = asyncio.create_task(server._server.serve(sockets=[listener]))
    relaying = asyncio.create_task(relay.run()) if with_line else None
    await server._server.answering.wait()
    try:
        yield server
    finally:
        relay.stop()
        await server.stop()
        if relaying is not None:
            await relaying


class RawStream:
    """A stream opened by hand: its answer, and its lines as they come."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self._lines = response.aiter_lines()

    async def line(self) -> str:
        """The next line."""
        async with asyncio.timeout(PATIENCE):
            return await anext(self._lines)

    async def until(self, said: str) -> None:
        """Read on until a line says this."""
        while said not in await self.line():
            pass

    async def end(self) -> None:
        """Read on until the server ends it."""
        async for _ in self._lines:
            pass


@contextlib.asynccontextmanager
async def opened(server: LiveServer, key: str) -> AsyncIterator[RawStream]:
    """Open a stream, and have it begun."""
    headers = {"authorization": f"Bearer {key}"}
    async with (
        httpx.AsyncClient(base_url=server.address, timeout=20) as http,
        http.stream("GET", "/v1/stream", headers=headers) as response,
    ):
        assert response.status_code == 200
        yield RawStream(response)
