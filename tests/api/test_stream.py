"""`GET /v1/stream` over real sockets: who hears what, when it ends, and what it never does."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import httpx
import msgspec
import pytest

from backend.api import stream as streams
from backend.db.connection import Database
from backend.services import keys
from backend.services.hub import STREAMS_EACH
from shared.client import FencepostClient
from shared.vocabulary import NewsKind, Role
from shared.wire.content import Case
from shared.wire.live import LiveEvent
from shared.wire.queue import ClaimRequest
from tests.support.api import problem
from tests.support.desk import new_key
from tests.support.gateway import key_for, standard
from tests.support.live import LiveServer, listeners, live_server, opened, until
from tests.support.postgres import Dsn

RESYNC = LiveEvent(kind=NewsKind.RESYNC)
CASES = LiveEvent(kind=NewsKind.QUEUE_DEPTH, queue="cases")
SOON = 2.0


@pytest.fixture
async def server(database: Database, dsn: Dsn) -> AsyncIterator[LiveServer]:
    """One process with a policy in force."""
    await standard(database)
    async with live_server(database, dsn) as running:
        yield running


async def heard(client: FencepostClient, wanted: LiveEvent, within: float = SOON) -> None:
    """Read until this event comes."""
    async with asyncio.timeout(within):
        async for event in client.live():
            if event == wanted:
                return


async def test_a_stream_says_how_it_is_to_be_read(server: LiveServer, database: Database) -> None:
    async with opened(server, await key_for(database, Role.REVIEWER)) as stream:
        headers = stream.response.headers
        assert headers["content-type"].startswith("text/event-stream")
        assert headers["cache-control"] == "no-store"
        assert headers["x-accel-buffering"] == "no"
        assert "content-encoding" not in headers
        said = [await stream.line() for _ in range(4)]
    assert said == ["retry: 2000", "event: resync", 'data: {"kind":"resync"}', ""]


async def test_a_deed_in_one_process_is_heard_in_a_stream_of_another(
    server: LiveServer, database: Database, dsn: Dsn, admin: Any
) -> None:
    producer, lead = await key_for(database), await key_for(database, Role.LEAD)
    async with live_server(database, dsn) as other:
        await listeners(admin, 2)
        async with server.client(producer) as here, other.client(lead) as there:
            listening = asyncio.create_task(heard(there, CASES))
            await until(lambda: streams_of(other))
            await here.submit_case("cases", Case(content_id="case-1"))
            await listening


async def test_it_is_heard_again_after_the_line_was_cut_and_after_the_stream_was(
    server: LiveServer, database: Database, dsn: Dsn, admin: Any
) -> None:
    producer, lead = await key_for(database), await key_for(database, Role.LEAD)
    events: asyncio.Queue[LiveEvent] = asyncio.Queue()

    async def listen(client: FencepostClient) -> None:
        async for event in client.live():
            events.put_nowait(event)

    async def comes(wanted: LiveEvent) -> None:
        async with asyncio.timeout(SOON):
            while await events.get() != wanted:
                pass

    async with live_server(database, dsn) as other:
        pids = await listeners(admin, 2)
        async with server.client(producer) as here, other.client(lead) as there:
            listening = asyncio.create_task(listen(there))
            await comes(RESYNC)
            for pid in pids:
                await admin.execute("SELECT pg_terminate_backend($1)", pid)
            await comes(RESYNC)
            await listeners(admin, 2)
            await here.submit_case("cases", Case(content_id="case-1"))
            await comes(CASES)
            for stream in await streams_of(other):
                stream.end()
            await comes(RESYNC)
            await here.submit_case("cases", Case(content_id="case-2"))
            await comes(CASES)
            listening.cancel()


async def streams_of(server: LiveServer) -> list[Any]:
    return list(server.hub._of_tenant(0))


async def test_nothing_but_ids_is_told(server: LiveServer, database: Database, admin: Any) -> None:
    producer, lead = await key_for(database), await key_for(database, Role.LEAD)
    await listeners(admin)
    async with opened(server, lead) as stream, server.client(producer) as client:
        await stream.until("resync")
        case = Case(content_id="secret-id", text="secret-text", author_id="secret-author")
        await client.submit_case("cases", case)
        said: list[str] = []
        while not said or '"cases"' not in said[-1]:
            said.append(await stream.line())
    assert "secret" not in "".join(said)
    data = msgspec.json.decode(said[-1].removeprefix("data: "))
    assert data == {"kind": "queue_depth", "queue": "cases"}


async def test_news_that_were_missed_change_nothing_but_when_it_is_seen(
    database: Database, dsn: Dsn
) -> None:
    await standard(database)
    producer, reviewer = await key_for(database), await key_for(database, Role.REVIEWER)
    deaf = live_server(database, dsn, with_line=False)
    async with deaf as server, server.client(producer) as here, server.client(reviewer) as there:
        await here.submit_case("cases", Case(content_id="case-1"))
        with pytest.raises(TimeoutError):
            await heard(there, CASES, 1)
        assert (await there.queue("cases")).figures.free == 1
        claimed = await there.claim("cases", ClaimRequest(claim_key=new_key()))
        assert claimed.lease is not None


@pytest.mark.parametrize("role", [Role.REVIEWER, Role.LEAD])
async def test_a_revoked_key_ends_its_stream(
    server: LiveServer, database: Database, monkeypatch: pytest.MonkeyPatch, role: Role
) -> None:
    monkeypatch.setattr(streams, "LOOK_AGAIN", 0.5)
    key, other = await key_for(database, role), await key_for(database, role, name="other")
    async with opened(server, key) as ending, opened(server, other) as lasting:
        await lasting.until("resync")
        await keys.revoke(database, key.split("_")[2])
        async with asyncio.timeout(3):
            await ending.end()
        server.tell_depth("cases")
        await lasting.until("cases")


async def test_other_rights_are_looked_at_while_it_is_open(
    server: LiveServer, database: Database, admin: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "LOOK_AGAIN", 0.2)
    key = await key_for(database, Role.REVIEWER, "posts")
    async with server.client(key) as client:
        listening = asyncio.create_task(heard(client, CASES, 10))
        await until(lambda: streams_of(server))
        server.tell_depth("cases")
        await asyncio.sleep(1)
        assert not listening.done()
        await admin.execute("UPDATE role_grant SET queue = 'cases'")
        await asyncio.sleep(1.2)
        server.tell_depth("cases")
        await listening
        await admin.execute("DELETE FROM role_grant")
        assert await until(lambda: nobody_streams(server))


async def nobody_streams(server: LiveServer) -> bool:
    return not await streams_of(server)


async def test_a_database_that_is_away_ends_no_stream(
    server: LiveServer, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "LOOK_AGAIN", 0.1)
    monkeypatch.setattr(database, "_acquire_within", 0.05)
    key = await key_for(database, Role.REVIEWER)
    async with opened(server, key) as stream, contextlib.AsyncExitStack() as stack:
        await stream.until("resync")
        for _ in range(10):
            await stack.enter_async_context(database.connection())
        await asyncio.sleep(1)
        server.tell_depth("cases")
        await stream.until("cases")


async def test_a_person_has_so_many_and_a_place_is_free_again_when_one_goes(
    server: LiveServer, database: Database
) -> None:
    key = await key_for(database, Role.REVIEWER)
    async with contextlib.AsyncExitStack() as stack:
        first = [
            await stack.enter_async_context(opened(server, key)) for _ in range(STREAMS_EACH - 1)
        ]
        for stream in first:
            await stream.until("resync")
        async with opened(server, key) as last, httpx.AsyncClient() as http:
            await last.until("resync")
            headers = {"authorization": f"Bearer {key}"}
            refused = await http.get(f"{server.address}/v1/stream", headers=headers)
            problem(refused, 503, "busy")
            assert int(refused.headers["retry-after"]) >= 1
        await until(lambda: is_free(server))
        async with opened(server, key) as again:
            await again.until("resync")
    assert await until(lambda: nobody_streams(server))


async def test_of_those_who_come_at_once_so_many_are_let_in_and_the_others_are_told(
    server: LiveServer, database: Database
) -> None:
    headers = {"authorization": f"Bearer {await key_for(database, Role.REVIEWER)}"}
    async with httpx.AsyncClient(timeout=10) as http:
        asked = [http.build_request("GET", f"{server.address}/v1/stream", headers=headers)] * 20
        come = await asyncio.gather(*(http.send(one, stream=True) for one in asked))
        let_in = [response for response in come if response.status_code == 200]
        assert len(let_in) == STREAMS_EACH
        for response in come:
            if response not in let_in:
                await response.aread()
                problem(response, 503, "busy")
            else:
                line = await asyncio.wait_for(anext(response.aiter_lines()), 5)
                assert line.startswith("retry:")
                await response.aclose()
    assert await until(lambda: nobody_streams(server))


async def is_free(server: LiveServer) -> bool:
    return len(await streams_of(server)) < STREAMS_EACH


async def test_a_reader_that_reads_nothing_costs_nothing_and_leaves_nothing(
    server: LiveServer, database: Database
) -> None:
    key = await key_for(database, Role.REVIEWER)
    reader, writer = await by_hand(server, key, limit=1)
    await reader.read(1)
    (stream,) = await until(lambda: streams_of(server))
    for number in range(40_000):
        server.hear_of_item(number + 1, stream.who.principal_id)
        if number % 100 == 0:
            await asyncio.sleep(0)
    assert len(stream._waiting) <= 256
    writer.transport.abort()
    assert await until(lambda: nobody_streams(server), 15 * SOON)  # no promise: room


async def test_two_hundred_streams_hear_and_end_at_once(
    server: LiveServer, database: Database, admin: Any
) -> None:
    await listeners(admin)
    people = [await key_for(database, Role.REVIEWER, name=f"p-{n}") for n in range(25)]
    keyed = [key for key in people for _ in range(STREAMS_EACH)]
    readers = await asyncio.gather(*[by_hand(server, key) for key in keyed])
    async with asyncio.timeout(60):
        await asyncio.gather(*[reader.readuntil(b"resync") for reader, _ in readers])
    clock = asyncio.get_running_loop().time
    async with server.client(await key_for(database)) as producer:
        began = clock()
        await producer.submit_case("cases", Case(content_id="case-1"))
    await asyncio.gather(*[reader.readuntil(b"cases") for reader, _ in readers])
    assert clock() - began < SOON
    began = clock()
    ends = asyncio.gather(*[reader.read() for reader, _ in readers])
    await server.stop()
    await ends
    assert clock() - began < SOON
    for _, writer in readers:
        writer.close()


async def by_hand(
    server: LiveServer, key: str, **options: Any
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Open a stream with nothing but a socket."""
    host, port = server.address.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port), **options)
    head = f"GET /v1/stream HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {key}\r\n\r\n"
    writer.write(head.encode())
    return reader, writer


async def test_a_silent_stream_shows_that_it_lives(
    server: LiveServer, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "HEARTBEAT_SECONDS", 0.2)
    async with opened(server, await key_for(database, Role.REVIEWER)) as stream:
        said = [await stream.line() for _ in range(8)]
    assert said[4:] == [": still here", "", ": still here", ""]
