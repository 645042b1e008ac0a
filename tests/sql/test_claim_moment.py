"""What a claim does to the moment: it wakes, keeps away, and lets nobody in anybody's way."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta
from typing import Any

import pytest

from backend.db.claim import claim_next, fair_order, find_claimable
from tests.sql.test_fence import ANN, BO, NOON, TTL, claim, leased, turn_clock

Connection = Any
MOMENT = timedelta(microseconds=1)
HOUR = timedelta(hours=1)


async def park(admin: Connection, item: int, *, wake_at: datetime = NOON + HOUR) -> None:
    """Set an item aside that somebody holds."""
    await admin.execute(
        "UPDATE item SET state = 'parked', owner = NULL, fence_token = NULL, claim_key = NULL,"
        " leased_at = NULL, lease_expires = NULL, sla_from = clock() - interval '1 minute',"
        " parked_at = clock(), wake_at = $2 WHERE id = $1",
        item,
        wake_at,
    )


async def state(connection: Connection, item: int) -> str:
    found: str = await connection.fetchval("SELECT state FROM item WHERE id = $1", item)
    return found


async def keep_from(admin: Connection, who: int, column: str, until: datetime | None) -> None:
    """Keep somebody from item 2, by itself or by its content, which has the same number."""
    columns = f"{column}, principal_id, until, why"
    await admin.execute(
        f"INSERT INTO exclusion ({columns}) VALUES (2, $1, $2, 'conflict')", who, until
    )


async def test_an_item_wakes_at_the_very_moment_that_was_said(
    world: Connection, admin: Connection
) -> None:
    await leased(world, BO)
    await park(admin, 2)
    await turn_clock(admin, NOON + HOUR - MOMENT)
    await leased(world, ANN)
    assert await state(world, 2) == "parked"
    await turn_clock(admin, NOON + HOUR)
    await claim(world, ANN)
    assert await state(world, 2) == "queued"


async def test_what_wakes_has_aged_by_the_time_it_was_not_parked_alone(
    world: Connection, admin: Connection
) -> None:
    await leased(world, BO)
    await park(admin, 2)
    epoch = await world.fetchval("SELECT lease_epoch FROM item WHERE id = 2")
    await turn_clock(admin, NOON + 2 * HOUR)
    await leased(world, ANN)
    row = await world.fetchrow("SELECT * FROM item WHERE id = 2")
    assert row["sla_from"] == NOON + 2 * HOUR - timedelta(minutes=1)
    assert (row["parked_at"], row["wake_at"], row["lease_epoch"]) == (None, None, epoch)
    logged = await world.fetchrow("SELECT * FROM lease_log WHERE happening = 'wake'")
    assert (logged["item_id"], logged["principal_id"], logged["token"]) == (2, None, None)


async def test_a_claim_passes_over_what_somebody_is_about_to_wake(
    world: Connection, admin: Connection
) -> None:
    await leased(world, BO)
    await park(admin, 2)
    await turn_clock(admin, NOON + HOUR)
    async with admin.transaction():
        await admin.execute("SELECT FROM item WHERE id = 2 FOR UPDATE")
        assert (await leased(world, ANN)).item_pk == 3
    assert await state(world, 2) == "parked"


@pytest.mark.parametrize("column", ["item_id", "content_id"])
async def test_whoever_is_kept_away_may_come_back_at_the_very_moment_that_was_said(
    world: Connection, admin: Connection, column: str
) -> None:
    await keep_from(admin, ANN, column, NOON + HOUR)
    await turn_clock(admin, NOON + HOUR - MOMENT)
    assert (await leased(world, ANN)).item_pk == 3
    assert (await leased(world, BO)).item_pk == 2
    await turn_clock(admin, NOON + HOUR)
    await admin.execute(
        "UPDATE item SET state = 'queued', owner = NULL, fence_token = NULL, claim_key = NULL,"
        " lease_expires = NULL WHERE state = 'leased'"
    )
    assert (await leased(world, ANN)).item_pk == 2


@pytest.mark.parametrize("until", [None, "infinity"])
@pytest.mark.parametrize("column", ["item_id", "content_id"])
async def test_whoever_is_kept_away_for_good_stays_away(
    world: Connection, admin: Connection, column: str, until: str | None
) -> None:
    await keep_from(admin, ANN, column, None)
    await admin.execute("UPDATE exclusion SET until = $1::text::timestamptz", until)
    await turn_clock(admin, NOON + 100 * 365 * 24 * HOUR)
    assert (await leased(world, ANN)).item_pk == 3
    assert (await leased(world, BO)).item_pk == 2


@pytest.mark.parametrize("until", [None, NOON + 2 * TTL])
@pytest.mark.parametrize("column", ["item_id", "content_id"])
async def test_what_ran_out_is_kept_from_whom_what_waits_would_be(
    world: Connection, admin: Connection, column: str, until: datetime | None
) -> None:
    await leased(world, BO)
    await keep_from(admin, ANN, column, until)
    await turn_clock(admin, NOON + TTL)
    assert (await leased(world, ANN)).item_pk == 3


async def test_the_grant_names_whose_token_it_ended_and_nobody_elses(
    world: Connection, admin: Connection
) -> None:
    first = await leased(world, ANN)
    assert first.taken_from is None
    await turn_clock(admin, NOON + TTL)
    second = await leased(world, BO)
    assert (second.item_pk, second.taken_from) == (2, ANN)


async def test_a_lease_that_is_given_back_keeps_its_terminal_and_loses_its_key(
    world: Connection, admin: Connection
) -> None:
    key = uuid.uuid4()
    await claim_next(
        world, tenant_id=1, queue="posts", principal_id=ANN, claim_key=key, terminal="desk-1"
    )
    await turn_clock(admin, NOON + TTL)
    await admin.execute("UPDATE item SET rank = rank + 1 WHERE id = 3")
    assert (await leased(world, BO)).item_pk == 3
    row = await world.fetchrow("SELECT * FROM item WHERE id = 2")
    assert (row["state"], row["owner"], row["terminal"]) == ("queued", ANN, "desk-1")
    assert (row["claim_key"], row["lease_expires"]) == (None, None)


async def test_one_look_answers_each_person_and_queue_by_itself(
    world: Connection, admin: Connection
) -> None:
    await keep_from(admin, ANN, "item_id", None)
    await admin.execute("UPDATE item SET abandoned = true WHERE id = 3")
    queues = ["posts", "escalation", "posts", "nowhere", "posts"]
    places = await find_claimable(
        world, tenant_ids=[1, 1, 1, 1, 2], queues=queues, principal_ids=[ANN, BO, BO, BO, BO]
    )
    assert places == [2]


async def test_a_look_sees_what_ran_out_and_what_is_due_at_the_very_moment(
    world: Connection, admin: Connection
) -> None:
    await leased(world, BO)
    await admin.execute("UPDATE item SET abandoned = true WHERE id = 3")

    async def seen() -> bool:
        return bool(
            await find_claimable(world, tenant_ids=[1], queues=["posts"], principal_ids=[ANN])
        )

    for at, is_seen in ((NOON + TTL - MOMENT, False), (NOON + TTL, True)):
        await turn_clock(admin, at)
        assert await seen() is is_seen
    await park(admin, 2)
    for at, is_seen in ((NOON + HOUR - MOMENT, False), (NOON + HOUR, True)):
        await turn_clock(admin, at)
        assert await seen() is is_seen


async def test_the_fair_order_is_of_ones_own_queues_alone(world: Connection) -> None:
    assert await fair_order(world, tenant_id=2, queues=["posts"]) == []
    assert await fair_order(world, tenant_id=1, queues=["posts", "nowhere"]) == ["posts"]
