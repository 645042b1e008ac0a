"""The statements that take over, take back, set aside and wake, each alone and to the moment."""

from __future__ import annotations

import asyncio
import uuid
from datetime import timedelta
from typing import Any

import asyncpg
import pytest

from backend.db.lease import (
    give_back,
    item_now,
    lock_abandoned,
    lock_run_out,
    own_end,
    release_lease,
    take_back_lease,
    take_over_lease,
)
from backend.db.park import lock_for_park, park_item, wake_due, wake_items
from tests.sql.test_fence import ANN, BO, NOON, TTL, leased, turn_clock
from tests.sql.world import STOPPED_CLOCK, make_world
from tests.support.postgres import Dsn

Connection = Any
MOMENT = timedelta(microseconds=1)
LATER = NOON + timedelta(hours=1)


@pytest.fixture
async def noon(admin: Connection, runtime: Connection) -> Connection:
    """The runtime role in a small world where it is noon: items 2 and 3 wait, 2 before 3."""
    await make_world(runtime)
    await admin.execute(
        "UPDATE item SET state = 'resolved', resolution = 'withdrawn', resolved_at = now(),"
        " owner = NULL, fence_token = NULL, lease_expires = NULL WHERE id = 1"
    )
    await admin.execute("DELETE FROM exclusion")
    await admin.execute("SET ROLE fencepost_owner")
    await admin.execute(STOPPED_CLOCK)
    await admin.execute("RESET ROLE")
    await admin.execute("UPDATE item SET sla_from = clock() WHERE id IN (2, 3)")
    return runtime


async def aside(
    connection: Connection, item: int, token: uuid.UUID, who: int, **changed: Any
) -> Any:
    said = {"reason": "await_date", "text": None, "now": NOON, "wake_at": LATER, **changed}
    return await park_item(connection, item_id=item, fence_token=token, principal_id=who, **said)


async def test_an_item_is_parked_by_its_holder_with_its_token_alone(noon: Connection) -> None:
    lease = await leased(noon, ANN)
    assert await aside(noon, lease.item_pk, uuid.uuid4(), ANN) is None
    assert await aside(noon, lease.item_pk, lease.fence_token, BO) is None
    assert await aside(noon, lease.item_pk + 1, lease.fence_token, ANN) is None
    assert await noon.fetchval("SELECT count(*) FROM item WHERE state = 'parked'") == 0
    assert await aside(noon, lease.item_pk, lease.fence_token, ANN) is not None
    assert await aside(noon, lease.item_pk, lease.fence_token, ANN) is None
    assert await noon.fetchval("SELECT count(*) FROM question WHERE wake_at = $1", LATER) == 1


async def test_a_lease_that_ends_this_very_moment_parks_nothing(noon: Connection) -> None:
    lease = await leased(noon, ANN)
    assert await aside(noon, lease.item_pk, lease.fence_token, ANN, now=NOON + TTL) is None
    last = NOON + TTL - MOMENT
    assert await aside(noon, lease.item_pk, lease.fence_token, ANN, now=last) is not None


async def test_the_lock_of_a_parking_wants_the_token_and_holds_item_and_content(
    noon: Connection, admin: Connection
) -> None:
    lease = await leased(noon, ANN)
    for tenant, item, token, found in (
        (1, lease.item_pk, uuid.uuid4(), False),
        (1, lease.item_pk + 1, lease.fence_token, False),
        (2, lease.item_pk, lease.fence_token, False),
        (1, lease.item_pk, lease.fence_token, True),
    ):
        row = await lock_for_park(noon, tenant_id=tenant, item_id=item, fence_token=token)
        assert (row is not None) is found
    async with noon.transaction():
        await lock_for_park(noon, tenant_id=1, item_id=lease.item_pk, fence_token=lease.fence_token)
        for table in ("item", "content"):
            with pytest.raises(asyncpg.LockNotAvailableError):
                await admin.execute(
                    f"SELECT FROM {table} WHERE id = $1 FOR UPDATE NOWAIT", lease.item_pk
                )


async def test_what_is_parked_wakes_at_the_very_moment_and_ages_on_from_where_it_was(
    noon: Connection, admin: Connection
) -> None:
    lease = await leased(noon, ANN)
    await turn_clock(admin, NOON + timedelta(minutes=1))
    await aside(noon, lease.item_pk, lease.fence_token, ANN, now=NOON + timedelta(minutes=1))
    await turn_clock(admin, LATER - MOMENT)
    assert await wake_due(noon, limit=10) == []
    await turn_clock(admin, LATER)
    (woken,) = await wake_due(noon, limit=10)
    assert (woken.item_pk, woken.tenant_id, woken.queue) == (lease.item_pk, 1, "posts")
    assert await wake_due(noon, limit=10) == []
    row = await noon.fetchrow("SELECT * FROM item WHERE id = $1", lease.item_pk)
    assert (row["state"], row["rank"]) == ("queued", lease.rank)
    assert LATER - row["sla_from"] == timedelta(minutes=1)


async def test_only_what_is_parked_is_woken_on_a_leads_word(noon: Connection) -> None:
    lease, held = await leased(noon, ANN), await leased(noon, BO)
    await aside(noon, lease.item_pk, lease.fence_token, ANN)
    both = [lease.item_pk, held.item_pk]
    assert await wake_items(noon, tenant_id=2, item_ids=both, by=BO) == []
    (woken,) = await wake_items(noon, tenant_id=1, item_ids=both, by=BO)
    assert woken.item_pk == lease.item_pk
    rows = await noon.fetch("SELECT item_id, by_principal FROM lease_log WHERE happening = 'wake'")
    assert [tuple(row) for row in rows] == [(lease.item_pk, BO)]
    row = await noon.fetchrow("SELECT state FROM item WHERE id = $1", held.item_pk)
    assert row["state"] == "leased"


async def test_waking_passes_over_what_somebody_works_on_and_stays_bounded(
    noon: Connection, admin: Connection
) -> None:
    for who in (ANN, BO):
        lease = await leased(noon, who)
        await aside(noon, lease.item_pk, lease.fence_token, who)
    await turn_clock(admin, LATER)
    async with admin.transaction():
        await admin.execute("SELECT FROM item WHERE id = 2 FOR UPDATE")
        assert [row.item_pk for row in await wake_due(noon, limit=1)] == [3]
    assert [row.item_pk for row in await wake_due(noon, limit=1)] == [2]


async def test_the_lease_of_one_epoch_is_taken_back_and_no_other(noon: Connection) -> None:
    lease = await leased(noon, ANN)
    said: dict[str, Any] = {"by_principal": BO, "reason": "mistake"}
    epoch = await noon.fetchval("SELECT lease_epoch FROM item WHERE id = $1", lease.item_pk)
    for item, wrong in ((lease.item_pk, epoch + 1), (lease.item_pk, epoch - 1), (3, epoch)):
        assert await take_back_lease(noon, item_id=item, lease_epoch=wrong, **said) is None
    taken = await take_back_lease(noon, item_id=lease.item_pk, lease_epoch=epoch, **said)
    assert taken is not None
    assert (taken.holder_pk, taken.queue) == (ANN, "posts")
    assert await noon.fetchval("SELECT owner FROM item WHERE id = $1", lease.item_pk) is None
    again = await take_back_lease(noon, item_id=lease.item_pk, lease_epoch=epoch + 1, **said)
    assert again is None, "it is nobody's"


async def test_a_person_takes_over_what_is_his_alone(noon: Connection) -> None:
    lease = await leased(noon, ANN)
    key = uuid.uuid4()
    assert await take_over_lease(noon, principal_id=BO, claim_key=key, terminal="t") is None
    taken = await take_over_lease(noon, principal_id=ANN, claim_key=key, terminal="t")
    assert taken is not None
    assert (taken.item_pk, taken.rotated, taken.was_waiting) == (lease.item_pk, True, False)
    row = await noon.fetchrow("SELECT * FROM item WHERE id = $1", lease.item_pk)
    assert (row["owner"], row["terminal"], row["claim_key"]) == (ANN, "t", key)
    assert row["fence_token"] != lease.fence_token
    logged = await noon.fetchrow("SELECT * FROM lease_log ORDER BY id DESC LIMIT 1")
    assert (logged["happening"], logged["token"], logged["lease_epoch"]) == (
        "take_over",
        row["fence_token"],
        row["lease_epoch"],
    )


async def test_a_take_over_waits_for_a_claim_of_the_same_person(
    noon: Connection, dsn: Dsn, admin: Connection
) -> None:
    """What he let lapse is not made live while he is about to be given another item."""
    lapsed = await leased(noon, ANN)
    await turn_clock(admin, NOON + TTL)
    other = await asyncpg.connect(dsn.runtime)
    async with noon.transaction():
        await leased(noon, ANN)
        second = asyncio.create_task(
            take_over_lease(other, principal_id=ANN, claim_key=uuid.uuid4(), terminal=None)
        )
        await asyncio.wait([second], timeout=0.2)
        assert not second.done()
    await second
    await other.close()
    live = "SELECT count(*) FROM item WHERE owner = $1 AND state = 'leased' AND lease_expires > $2"
    assert await noon.fetchval(live, ANN, NOON + TTL) == 1
    assert await noon.fetchval("SELECT state FROM item WHERE id = $1", lapsed.item_pk) != "leased"


async def test_a_take_over_chooses_among_ones_own_leases_alone(
    noon: Connection, admin: Connection
) -> None:
    mine = await leased(noon, ANN)
    await turn_clock(admin, NOON + timedelta(minutes=1))
    await leased(noon, BO)
    taken = await take_over_lease(noon, principal_id=ANN, claim_key=uuid.uuid4(), terminal=None)
    assert taken is not None
    assert taken.item_pk == mine.item_pk


async def test_a_take_over_that_waited_for_anothers_claim_takes_nothing(
    noon: Connection, dsn: Dsn, admin: Connection
) -> None:
    lapsed = await leased(noon, ANN)
    await turn_clock(admin, NOON + TTL)
    other = await asyncpg.connect(dsn.runtime)
    async with noon.transaction():
        assert (await leased(noon, BO)).item_pk == lapsed.item_pk
        second = asyncio.create_task(
            take_over_lease(other, principal_id=ANN, claim_key=uuid.uuid4(), terminal=None)
        )
        await asyncio.wait([second], timeout=0.2)
        assert not second.done()
    assert await second is None
    await other.close()
    row = await noon.fetchrow("SELECT * FROM item WHERE id = $1", lapsed.item_pk)
    assert (row["owner"], row["lease_epoch"]) == (BO, 2)


async def test_only_a_deed_of_ones_own_is_found_again(noon: Connection) -> None:
    lease = await leased(noon, ANN)
    fence: dict[str, Any] = {"item_id": lease.item_pk, "fence_token": lease.fence_token}
    await release_lease(noon, **fence, principal_id=ANN, reason="tech", counts=False)
    for changed, found in (
        ({}, True),
        ({"principal_id": BO}, False),
        ({"happening": "park"}, False),
        ({"item_id": 3}, False),
        ({"fence_token": uuid.uuid4()}, False),
    ):
        asked: dict[str, Any] = {**fence, "principal_id": ANN, "happening": "release", **changed}
        assert (await own_end(noon, **asked) is not None) is found


async def test_each_queue_has_its_share_of_a_redrive(noon: Connection, admin: Connection) -> None:
    await admin.execute(
        "INSERT INTO queue (tenant_id, name, title, severity, lease_ttl, max_hold,"
        " abandon_threshold, escalation_boost, undo_window, release_cooldown, sla)"
        " SELECT tenant_id, 'b', title, severity, lease_ttl, max_hold, abandon_threshold,"
        " escalation_boost, undo_window, release_cooldown, sla FROM queue WHERE name = 'posts'"
    )
    await admin.execute("UPDATE item SET queue = 'b' WHERE id = 3")
    await leased(noon, ANN)
    await noon.execute(
        "UPDATE item SET state = 'leased', owner = $1, fence_token = gen_random_uuid(),"
        " leased_at = clock(), lease_expires = clock() WHERE id = 3",
        BO,
    )
    await turn_clock(admin, NOON + TTL)
    run_out = await lock_run_out(noon, limit=1)
    assert sorted(run_out) == [2, 3]
    given = await give_back(noon, item_ids=sorted(run_out))
    assert {(row.item_pk, row.queue) for row in given} == {(2, "posts"), (3, "b")}


async def test_what_is_abandoned_is_walked_by_id(noon: Connection, admin: Connection) -> None:
    await admin.execute("UPDATE item SET abandoned = true WHERE id IN (2, 3)")
    for after, found in ((0, [2, 3]), (2, [3]), (3, [])):
        rows = await lock_abandoned(noon, after=after, limit=10)
        assert [row.item_pk for row in rows] == found


async def test_whoever_is_told_of_a_stale_lease_may_have_the_item_from_the_very_moment(
    noon: Connection, admin: Connection
) -> None:
    lease = await leased(noon, ANN)
    fence: dict[str, Any] = {"item_id": lease.item_pk, "fence_token": lease.fence_token}
    await release_lease(noon, **fence, principal_id=ANN, reason="tech", counts=False)
    until = await noon.fetchval("SELECT until FROM exclusion WHERE principal_id = $1", ANN)
    for at, may in ((until - MOMENT, False), (until, True)):
        await turn_clock(admin, at)
        row = await item_now(noon, tenant_id=1, principal_id=ANN, **fence)
        assert row is not None
        assert row.can_have is may
