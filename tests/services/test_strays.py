"""What still comes to a queue that was just closed is brought to one that people work in."""

from __future__ import annotations

import asyncio
from typing import Any

import asyncpg
import pytest

from backend.db.connection import Database
from backend.services.claim import claim
from backend.services.news import News
from backend.services.strays import rescue_strays
from backend.services.submit import submit_case
from backend.workers.redriver import redriver
from shared.vocabulary import NewsKind, Role
from tests.support.desk import Desk, new_key
from tests.support.gateway import case
from tests.support.office import DELETED, MERGED, RENAMED, as_known_now, change, in_queues
from tests.support.renaming import renamed
from tests.support.trail import assert_every_chain_is_whole


async def submitted_late(desk: Desk, text: str, *names: str) -> None:
    """Submit cases by a process that does not know yet that their queue was closed."""
    producer = await desk.person("shop", Role.PRODUCER)
    old = desk.policy
    await change(desk, text)
    for name in names:
        receipt = await submit_case(desk.db, old, producer, "cases", case(name))
        assert (receipt.created, receipt.queue) == (True, "cases")


@pytest.mark.parametrize(
    ("text", "home"),
    [(RENAMED, "files"), (MERGED, "posts"), (DELETED, "posts")],
    ids=["renamed", "merged", "gone"],
)
async def test_a_case_that_came_a_moment_late_is_brought_to_people(
    desk: Desk, text: str, home: str
) -> None:
    await submitted_late(desk, text, "c-1", "c-2")
    before = await desk.admin.fetch("SELECT * FROM item ORDER BY id")
    told: list[News] = []
    assert await rescue_strays(desk.db, tell=told.append) == 2
    assert [(news.kind, news.queue) for news in told] == [
        (NewsKind.QUEUE_DEPTH, "cases"),
        (NewsKind.QUEUE_DEPTH, home),
    ]
    after = await desk.admin.fetch("SELECT * FROM item ORDER BY id")
    for old, new in zip(before, after, strict=True):
        assert {name for name in old.keys() if old[name] != new[name]} == {"queue"}  # noqa: SIM118 - a record
    assert await in_queues(desk) == {home: 2}
    event = await desk.value("SELECT canonical FROM event WHERE type = 'item.moved' LIMIT 1")
    assert f'"to":"{home}","why":"stray"'.encode() in event
    ana = await desk.person("ana", queue=home)
    assert (await desk.lease(ana, home)).queue == home
    assert await rescue_strays(desk.db, tell=told.append) == 0
    assert len(told) == 2
    await assert_every_chain_is_whole(desk.admin)


async def test_a_stray_follows_through_every_name_that_its_queue_had_since(desk: Desk) -> None:
    producer = await desk.person("shop", Role.PRODUCER)
    old = desk.policy
    await change(desk, RENAMED)
    await change(desk, renamed(RENAMED, "files", "folders", "v-3"))
    await submit_case(desk.db, old, producer, "cases", case("c-1"))
    assert await rescue_strays(desk.db) == 1
    assert await in_queues(desk) == {"folders": 1}


async def test_a_closed_queue_offers_nothing(desk: Desk) -> None:
    """Also where a process does not know yet: who takes it there might have no right to it here."""
    ana = await desk.person("ana", queue="cases")
    old = desk.policy
    await submitted_late(desk, DELETED, "c-1")
    answer = await claim(desk.db, old, ana, "cases", new_key())
    assert answer.lease is None
    assert await desk.value("SELECT state FROM item") == "queued"


async def test_a_lease_on_a_stray_goes_on(desk: Desk) -> None:
    """Taken at the very moment of the activation, when the item was passed over."""
    ana = await desk.person("ana", queue="cases")
    old = desk.policy
    await submitted_late(desk, RENAMED, "c-1")
    closed = "UPDATE queue SET disabled_at = $1, successor = $2 WHERE name = 'cases'"
    await desk.admin.execute(closed, None, None)
    new, desk.policy = desk.policy, old
    lease = await desk.lease(ana, "cases")
    desk.policy = new
    await desk.admin.execute(closed, await desk.value("SELECT clock()"), "files")
    assert await rescue_strays(desk.db) == 1
    reply = await desk.decide(await as_known_now(desk, ana), lease, reason="documents_match")
    assert reply.answer.decision.content_id == "c-1"


async def test_what_is_rescued_is_bounded_and_passes_over_what_others_work_on(
    desk: Desk, runtime: asyncpg.Connection[Any]
) -> None:
    await submitted_late(desk, RENAMED, "c-1", "c-2", "c-3")
    async with runtime.transaction():
        await runtime.execute("SELECT FROM fencepost.item ORDER BY id LIMIT 1 FOR UPDATE")
        async with asyncio.timeout(5):
            assert await rescue_strays(desk.db, limit=2) == 1
            assert await rescue_strays(desk.db, limit=9) == 1
    assert await in_queues(desk) == {"cases": 1, "files": 2}
    assert await rescue_strays(desk.db, limit=2) == 1


async def test_what_is_served_next_goes_first(desk: Desk) -> None:
    for name, rank in (("low", 1.0), ("high", 9.0), ("middle", 5.0)):
        await desk.item(name, queue="cases", rank=rank)
    await desk.admin.execute("UPDATE queue SET disabled_at = clock() WHERE name = 'cases'")
    assert await rescue_strays(desk.db, limit=1) == 1
    there = (
        "SELECT n.content_id FROM content n JOIN item i ON i.content_id = n.id"
        " WHERE i.queue = 'posts'"
    )
    assert await desk.value(there) == "high"


async def test_two_items_of_one_content_keep_its_trail_whole(desk: Desk) -> None:
    await submitted_late(desk, RENAMED, "c-1")
    await desk.admin.execute(
        "INSERT INTO item (tenant_id, content_id, queue, round, source, severity, base, rank,"
        " evidence_revision) SELECT tenant_id, content_id, queue, 2, 'golden', 1, 1, 1, 1 FROM item"
    )
    assert await rescue_strays(desk.db) == 2
    await assert_every_chain_is_whole(desk.admin)


async def test_several_who_rescue_at_once_move_each_stray_once(
    desk: Desk, database: Database
) -> None:
    await submitted_late(desk, RENAMED, *(f"c-{number}" for number in range(20)))
    moved = 0
    while await in_queues(desk) != {"files": 20}:
        moved += sum(await asyncio.gather(*(rescue_strays(database, limit=3) for _ in range(4))))
    assert moved == 20
    assert await desk.value("SELECT count(*) FROM event WHERE type = 'item.moved'") == 20
    await assert_every_chain_is_whole(desk.admin)


async def test_the_redriver_brings_strays_to_people_by_itself(desk: Desk) -> None:
    await submitted_late(desk, DELETED, "c-1")
    told: list[News] = []
    worker = redriver(desk.db, tell=told.append, every=0.01)
    running = asyncio.create_task(worker.run())
    try:
        async with asyncio.timeout(10):
            while await in_queues(desk) != {"posts": 1} or not told:  # noqa: ASYNC110 - the database tells nobody
                await asyncio.sleep(0.01)
    finally:
        worker.stop()
        await running
    assert {news.queue for news in told} == {"cases", "posts"}
