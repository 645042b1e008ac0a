"""The line between processes: news crosses it, it comes back by itself, and nothing trusts it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
from structlog.testing import capture_logs

from backend.db.connection import Database
from backend.db.listen import CHANNEL
from backend.services.claim import claim
from backend.services.news import News, written
from backend.services.policies import shipped_policy
from backend.services.relay import FLUSH_EVERY, UNSENT_AT_MOST
from backend.services.verdict import verdict
from shared.vocabulary import NewsKind, Role
from tests.services.test_hub import depth_of, person, taken
from tests.support.desk import QUEUE, new_key, set_up_desk
from tests.support.live import listeners, next_of, relaying, until
from tests.support.postgres import Dsn
from tests.support.road import Road, road_to
from tests.support.tree import files, short

RESYNC, DEPTH = NewsKind.RESYNC, NewsKind.QUEUE_DEPTH


APART_AND_MORE = 0.6


@pytest.fixture
async def road(dsn: Dsn) -> AsyncIterator[Road]:
    """A road of one process to the database, to be closed or frozen."""
    async with road_to(dsn.runtime) as built:
        yield built


async def test_what_one_process_tells_is_heard_in_all_of_them(dsn: Dsn, admin: Any) -> None:
    async with relaying(dsn.runtime) as (here, mine), relaying(dsn.runtime) as (_, theirs):
        await listeners(admin, 2)
        with mine.stream(person(1)) as own, theirs.stream(person(2)) as other:
            here.tell(depth_of("posts"))
            for stream in (own, other):
                assert (await next_of(stream, DEPTH, 2)).queue == "posts"


async def test_many_news_are_few_messages(dsn: Dsn, admin: Any) -> None:
    messages: list[str] = []
    await admin.add_listener(CHANNEL, lambda *said: messages.append(str(said[3])))
    async with relaying(dsn.runtime) as (relay, hub):
        await listeners(admin)
        with hub.stream(person(1)) as stream:
            for _ in range(100):
                for item in range(1, 200):
                    relay.tell(
                        News(kind=NewsKind.ITEM_RESOLVED, tenant_id=1, item_pk=item, principal_id=1)
                    )
            await next_of(stream, NewsKind.ITEM_RESOLVED)
            assert len(await taken(stream, 0.2)) == 198
    assert 2 <= len(messages) <= 4
    assert max(len(message) for message in messages) < 8_000


async def test_a_killed_session_comes_back_within_two_seconds_with_a_resync(
    dsn: Dsn, admin: Any
) -> None:
    async with relaying(dsn.runtime) as (relay, hub):
        (before,) = await listeners(admin)
        with hub.stream(person()) as stream, capture_logs() as said:
            await taken(stream, 1)
            await admin.execute("SELECT pg_terminate_backend($1)", before)
            await next_of(stream, RESYNC, 2)
            (after,) = await listeners(admin)
            assert after != before
            relay.tell(depth_of("posts"))
            await next_of(stream, DEPTH, 2)
        assert [line["event"] for line in said] == ["live.down", "live.up_again"]


async def test_what_is_told_while_the_line_is_down_is_told_when_it_is_up(
    dsn: Dsn, admin: Any, road: Road
) -> None:
    async with relaying(dsn.runtime) as (_, hub), relaying(road.url) as (relay, _):
        await listeners(admin, 2)
        with hub.stream(person()) as stream:
            relay.tell(depth_of("cases"))
            await asyncio.sleep(FLUSH_EVERY / 5)
            road.close()  # while the news waits for more, or is on its way
            await listeners(admin, 1)
            for _ in range(3):
                relay.tell(depth_of("posts"))
                await asyncio.sleep(0.1)
            road.resume()
            heard = {(await next_of(stream, DEPTH)).queue for _ in range(2)}
            assert heard == {"cases", "posts"}


async def test_a_long_absence_costs_no_memory_and_is_told_as_a_resync(
    dsn: Dsn, admin: Any, road: Road
) -> None:
    async with relaying(dsn.runtime) as (_, hub), relaying(road.url) as (relay, _):
        await listeners(admin, 2)
        with hub.stream(person(5, Role.LEAD)) as stream:
            await taken(stream, 0.6)
            road.close()
            await listeners(admin, 1)
            for item in range(1, 2 * UNSENT_AT_MOST):
                relay.tell(News(kind=NewsKind.ITEM_RESOLVED, tenant_id=1, item_pk=item))
            assert len(relay._unsent) <= UNSENT_AT_MOST
            road.resume()
            await next_of(stream, RESYNC)


async def test_a_frozen_network_is_noticed(admin: Any, road: Road) -> None:
    async with relaying(road.url, beat=0.1, answer_within=0.3) as (relay, hub):
        await listeners(admin)
        with hub.stream(person()) as stream:
            await taken(stream, 0.6)
            road.freeze()
            await asyncio.sleep(1)
            relay.tell(depth_of("posts"))
            road.resume()
            await next_of(stream, RESYNC, 5)
            await next_of(stream, DEPTH, 5)


async def test_trouble_is_logged_once_and_never_with_an_address(road: Road) -> None:
    road.close()
    with capture_logs() as said:
        async with relaying(road.url) as (_, hub):
            with hub.stream(person()) as stream:
                await asyncio.sleep(1)
                road.resume()
                await next_of(stream, RESYNC)
                await asyncio.sleep(APART_AND_MORE)
                await next_of(stream, RESYNC)
    assert [line["event"] for line in said] == ["live.down", "live.up_again"]
    assert "127.0.0.1" not in str(said)


@pytest.mark.parametrize(
    "junk",
    ["", "x" * 7_999, "[" * 7_000, '[{"kind":"queue_depth","tenant_id":1,"queue":"\\u0000"}]'],
    ids=["empty", "long", "deep", "nul"],
)
async def test_whoever_may_notify_may_send_junk(dsn: Dsn, admin: Any, junk: str) -> None:
    async with relaying(dsn.runtime) as (_, hub):
        (before,) = await listeners(admin)
        with hub.stream(person(role=Role.LEAD)) as stream, capture_logs() as said:
            await taken(stream, 0.6)
            await admin.execute("SELECT pg_notify($1, $2)", CHANNEL, junk)
            await admin.execute("SELECT pg_notify($1, $2)", CHANNEL, *written([depth_of("posts")]))
            assert [event.queue for event in await taken(stream, 0.5)] == ["posts"]
        assert await listeners(admin) == [before]
        assert said == []


async def test_it_stops_at_once_up_or_down(dsn: Dsn, admin: Any, road: Road) -> None:
    clock = asyncio.get_running_loop().time
    async with relaying(dsn.runtime):
        await listeners(admin)
        began = clock()
    assert clock() - began < 1
    road.close()
    async with relaying(road.url):
        await asyncio.sleep(0.5)
        began = clock()
    assert clock() - began < 1


async def test_what_was_told_last_is_still_sent_at_the_end(dsn: Dsn, admin: Any) -> None:
    messages: list[str] = []
    await admin.add_listener(CHANNEL, lambda *said: messages.append(str(said[3])))
    async with relaying(dsn.runtime) as (relay, _):
        await listeners(admin)
        relay.tell(depth_of("posts"))

    async def sent() -> list[str]:
        await admin.fetchval("SELECT 1")
        return messages

    assert await until(sent) == written([depth_of("posts")])


async def test_the_line_is_none_of_the_pool(dsn: Dsn, admin: Any) -> None:
    pool = Database(dsn.runtime, size=1, durable=False, true_clock=False)
    async with pool as db, relaying(dsn.runtime) as (relay, hub), db.transaction():
        await listeners(admin)
        with hub.stream(person()) as stream:
            relay.tell(depth_of("posts"))
            await next_of(stream, DEPTH, 2)


def test_nothing_is_notified_but_by_the_line_itself() -> None:
    """Beside a write it would take a lock that the whole server shares, until it commits."""
    notifies = re.compile(r"\bNOTIFY\s+\w|pg_notify", re.IGNORECASE)
    found = [
        short(path)
        for path in [*files(".sql", "sql"), *files(".py", "backend")]
        if notifies.search(path.read_text(encoding="utf-8"))
    ]
    assert found == ["sql/queries/listen.sql"]


async def test_a_claim_and_a_verdict_send_nothing_by_themselves(
    database: Database, admin: Any
) -> None:
    messages: list[Any] = []
    await admin.add_listener(CHANNEL, lambda *said: messages.append(said))
    desk = await set_up_desk(database, admin, shipped_policy())
    await desk.item()
    who = await desk.person("anna")
    told: list[News] = []
    lease = (await claim(database, desk.policy, who, QUEUE, new_key(), tell=told.append)).lease
    assert lease is not None
    await verdict(database, desk.policy, who, lease.item_id, desk.saying(lease), tell=told.append)
    assert {news.kind for news in told} == {DEPTH, NewsKind.ITEM_RESOLVED}
    assert await desk.apply_all() == 1
    await admin.fetchval("SELECT 1")
    assert messages == []
