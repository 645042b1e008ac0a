"""The gateway, again: known ids, other bodies, and many who submit the same at once."""

from __future__ import annotations

import asyncio
from typing import Any, TypeAlias

import asyncpg
import pytest

from backend.db.connection import Database
from backend.domain.identity import Identity
from backend.domain.policy import Policy
from backend.services.submit import submit
from tests.support.gateway import row, somebody, standard
from tests.support.trail import assert_every_chain_is_whole

Admin: TypeAlias = "asyncpg.Connection[Any]"


@pytest.fixture
async def policy(database: Database) -> Policy:
    return await standard(database)


@pytest.fixture
async def producer(database: Database, policy: Policy) -> Identity:  # noqa: ARG001 - after it
    return await somebody(database)


async def test_the_same_submission_again_returns_what_exists(
    database: Database, admin: Admin, policy: Policy, producer: Identity
) -> None:
    sent = row("c-1", {"hate": 0.5}, text="once")
    (first,) = await submit(database, policy, producer, [sent])
    (again,) = await submit(database, policy, producer, [sent])
    assert (again.created, again.same_body) == (False, True)
    assert (again.state, again.band, again.queue, again.item_id) == (
        first.state,
        first.band,
        first.queue,
        first.item_id,
    )
    for table in ("content", "payload", "score", "decision", "applied", "item", "evidence"):
        assert await admin.fetchval(f"SELECT count(*) FROM {table}") == 1, table
    assert await admin.fetchval("SELECT count(*) FROM event") == 3
    assert await admin.fetchval("SELECT count(*) FROM outbox") == 1


async def test_another_body_under_a_known_id_changes_nothing_and_is_noted_once(
    database: Database, admin: Admin, policy: Policy, producer: Identity
) -> None:
    await submit(database, policy, producer, [row("c-1", text="one")])
    for text, same in (("two", False), ("two", False), ("three", False), ("one", True)):
        (again,) = await submit(database, policy, producer, [row("c-1", text=text)])
        assert (again.created, again.same_body) == (False, same), text
    events = await admin.fetch("SELECT type FROM event ORDER BY seq")
    assert [event["type"] for event in events] == [
        "content.submitted",
        "decision.applied",
        "content.resubmitted",
        "content.resubmitted",
    ]
    assert await admin.fetchval("SELECT body->>'text' FROM payload") == "one"
    await assert_every_chain_is_whole(admin)


async def test_within_a_batch_the_first_of_an_id_wins(
    database: Database, admin: Admin, policy: Policy, producer: Identity
) -> None:
    first, same, other = row("c-1", text="a"), row("c-1", text="a"), row("c-1", text="b")
    receipts = await submit(database, policy, producer, [first, row("c-0"), same, other])
    assert [receipt.content_id for receipt in receipts] == ["c-1", "c-0", "c-1", "c-1"]
    assert [receipt.created for receipt in receipts] == [True, True, False, False]
    assert [receipt.same_body for receipt in receipts] == [True, True, True, False]
    assert (
        await admin.fetchval(
            "SELECT body->>'text' FROM payload p JOIN content c"
            " ON c.id = p.content_id WHERE c.content_id = 'c-1'"
        )
        == "a"
    )
    await assert_every_chain_is_whole(admin)


async def test_many_who_send_the_same_id_at_once_make_one_item(
    database: Database, admin: Admin, policy: Policy, producer: Identity
) -> None:
    sent = row("c-1", {"hate": 0.5})
    receipts = await asyncio.gather(
        *(submit(database, policy, producer, [sent]) for _ in range(20))
    )
    assert sum(receipt.created for (receipt,) in receipts) == 1
    assert len({receipt.item_id for (receipt,) in receipts}) == 1
    assert await admin.fetchval("SELECT count(*) FROM item") == 1
    assert await admin.fetchval("SELECT count(*) FROM decision") == 1


async def test_many_who_send_the_same_other_body_at_once_leave_one_note(
    database: Database, admin: Admin, policy: Policy, producer: Identity
) -> None:
    await submit(database, policy, producer, [row("c-1", text="one")])
    other = row("c-1", text="two")
    await slow_inserts(admin, "event", 0.03)
    await asyncio.gather(*(submit(database, policy, producer, [other]) for _ in range(12)))
    noted = "SELECT count(*) FROM event WHERE type = 'content.resubmitted'"
    assert await admin.fetchval(noted) == 1
    await assert_every_chain_is_whole(admin)


async def test_batches_that_share_ids_in_any_order_never_deadlock(
    database: Database, admin: Admin, policy: Policy, producer: Identity
) -> None:
    ids = [f"c-{number:03}" for number in range(120)]
    await slow_inserts(admin, "content", 0.001)
    before = await admin.fetchval(
        "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
    )

    async def send(turn: int) -> int:
        mine = ids[turn * 7 :] + ids[: turn * 7]
        mine = mine[::-1] if turn % 2 else mine
        text = f"body {turn % 3}"
        rows = [row(name, {"hate": 0.5}, text=text) for name in mine]
        return sum(receipt.created for receipt in await submit(database, policy, producer, rows))

    created = await asyncio.gather(*(send(turn) for turn in range(8)))
    assert sum(created) == len(ids)
    assert await admin.fetchval("SELECT count(*) FROM item") == len(ids)
    after = await admin.fetchval(
        "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
    )
    assert after == before
    await assert_every_chain_is_whole(admin)


async def slow_inserts(admin: Admin, table: str, seconds: float) -> None:
    """Make each row of a table take its time, so that transactions surely overlap."""
    await admin.execute(
        "CREATE FUNCTION take_time() RETURNS trigger LANGUAGE plpgsql AS"
        f" 'BEGIN PERFORM pg_sleep({seconds}); RETURN NEW; END'"
    )
    await admin.execute(
        f"CREATE TRIGGER a_slow BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION take_time()"
    )
