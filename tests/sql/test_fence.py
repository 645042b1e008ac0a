"""The statements that fence, one by one and without the services above them.

Each holds by itself: what a service checks before, the statement checks again.
"""

from __future__ import annotations

import asyncio
import uuid
from datetime import datetime, timedelta
from typing import Any

import asyncpg
import pytest

from backend.db.apply import take_pending
from backend.db.claim import LeaseRow, claim_next, find_my_lease
from backend.db.lease import give_back, lock_run_out, release_lease, renew_lease
from backend.db.verdict import DecisionRow, FencedRow, NewDecision, decide_item, lock_for_verdict
from tests.support.postgres import Dsn

Connection = Any
ANN, BO = 2, 3
TTL = timedelta(minutes=3)
NOON = datetime.fromisoformat("2030-01-01T12:00:00+00:00")


async def turn_clock(admin: Connection, at: datetime) -> None:
    await admin.execute("UPDATE stopped_clock SET at = $1", at)


async def claim(connection: Connection, who: int) -> LeaseRow | None:
    return await claim_next(
        connection, tenant_id=1, queue="posts", principal_id=who, claim_key=uuid.uuid4()
    )


async def leased(connection: Connection, who: int) -> LeaseRow:
    lease = await claim(connection, who)
    assert lease is not None
    return lease


async def decide(connection: Connection, item: int, token: uuid.UUID) -> DecisionRow | None:
    decision = NewDecision(
        item_id=item,
        fence_token=token,
        tenant_id=1,
        content_id=item,
        principal_id=ANN,
        kind="verdict",
        actor="reviewer",
        verdict="approve",
        outcome="allow",
        reason="fine",
        evidence_hash=await connection.fetchval(
            "SELECT hash FROM evidence WHERE content_id = $1", item
        ),
        verdict_token=uuid.uuid4(),
        supersedes=await connection.fetchval(
            "SELECT max(id) FROM decision WHERE content_id = $1", item
        ),
        apply_after=NOON,
        late_by=timedelta(0),
        seen=None,
        dwell=None,
        renderer=None,
        policy_version="p-1",
        model_version=None,
        note="why",
    )
    return await decide_item(connection, decision)


async def lock(
    connection: Connection, item: int, token: uuid.UUID, *, tenant: int = 1
) -> FencedRow | None:
    return await lock_for_verdict(
        connection,
        tenant_id=tenant,
        item_id=item,
        fence_token=token,
        principal_id=ANN,
        verdict_token=uuid.uuid4(),
    )


async def test_the_deciding_statement_fences_by_itself(world: Connection) -> None:
    lease = await leased(world, ANN)
    assert await decide(world, lease.item_pk, uuid.uuid4()) is None
    assert await world.fetchval("SELECT state FROM item WHERE id = $1", lease.item_pk) == "leased"
    assert await world.fetchval("SELECT count(*) FROM note WHERE text = 'why'") == 0
    assert await decide(world, lease.item_pk, lease.fence_token) is not None
    assert await decide(world, lease.item_pk, lease.fence_token) is None
    decided = "SELECT count(*) FROM decision WHERE item_id = $1"
    assert await world.fetchval(decided, lease.item_pk) == 1


async def test_a_decided_item_has_no_token_and_no_owner(world: Connection) -> None:
    lease = await leased(world, ANN)
    await decide(world, lease.item_pk, lease.fence_token)
    row = await world.fetchrow("SELECT * FROM item WHERE id = $1", lease.item_pk)
    assert (row["state"], row["fence_token"], row["owner"]) == ("resolved", None, None)


async def test_the_lock_of_a_verdict_wants_the_token_of_the_item_and_its_tenant(
    world: Connection,
) -> None:
    lease = await leased(world, ANN)
    for tenant, item, token, found in (
        (1, lease.item_pk, lease.fence_token, True),
        (1, lease.item_pk, uuid.uuid4(), False),
        (1, lease.item_pk + 1, lease.fence_token, False),
        (2, lease.item_pk, lease.fence_token, False),
    ):
        row = await lock(world, item, token, tenant=tenant)
        assert (row is not None) is found


async def test_a_verdict_holds_its_item_and_its_content(
    world: Connection, admin: Connection
) -> None:
    lease = await leased(world, ANN)
    async with world.transaction():
        await lock(world, lease.item_pk, lease.fence_token)
        for table in ("item", "content"):
            with pytest.raises(asyncpg.LockNotAvailableError):
                await admin.execute(
                    f"SELECT FROM {table} WHERE id = $1 FOR UPDATE NOWAIT", lease.item_pk
                )


@pytest.mark.parametrize("what", ["renew", "release"])
async def test_a_lease_is_changed_by_its_holder_with_its_token_alone(
    world: Connection, what: str
) -> None:
    lease = await leased(world, ANN)

    async def change(token: uuid.UUID, who: int) -> object | None:
        fence: dict[str, Any] = {
            "item_id": lease.item_pk,
            "fence_token": token,
            "principal_id": who,
        }
        if what == "renew":
            return await renew_lease(world, **fence)
        return await release_lease(world, **fence, reason="tech", counts=False)

    assert await change(uuid.uuid4(), ANN) is None
    assert await change(lease.fence_token, BO) is None
    assert await change(lease.fence_token, ANN) is not None


async def test_a_lapsed_lease_is_not_revived_beside_another(
    world: Connection, admin: Connection
) -> None:
    lapsed = await leased(world, ANN)
    await turn_clock(admin, NOON + TTL)
    await leased(world, ANN)
    fence: dict[str, Any] = {"item_id": lapsed.item_pk, "fence_token": lapsed.fence_token}
    told = await renew_lease(world, **fence, principal_id=ANN)
    assert told is not None
    assert (told.expires_in_ms, told.capped) == (0, True)
    live = "SELECT count(*) FROM item WHERE owner = $1 AND state = 'leased'"
    assert await world.fetchval(live, ANN) == 1


async def test_two_claims_of_one_person_at_once_are_given_one_item(
    world: Connection, dsn: Dsn
) -> None:
    other = await asyncpg.connect(dsn.runtime)
    async with world.transaction():
        assert await claim(world, ANN) is not None
        second = asyncio.create_task(claim(other, ANN))
        await asyncio.wait([second], timeout=0.2)
        assert not second.done(), "it can't know yet"
    assert await second is None
    assert await claim(other, BO) is not None
    await other.close()


async def test_a_claim_passes_over_an_item_that_somebody_is_about_to_take(
    world: Connection, admin: Connection
) -> None:
    async with admin.transaction():
        await admin.execute("SELECT FROM item WHERE id = 2 FOR UPDATE")
        assert (await leased(world, ANN)).item_pk == 3


async def test_a_claim_passes_over_a_run_out_lease_that_somebody_works_on(
    world: Connection, admin: Connection
) -> None:
    await leased(world, ANN)
    await turn_clock(admin, NOON + TTL)
    async with admin.transaction():
        await admin.execute("SELECT FROM item WHERE id = 2 FOR UPDATE")
        assert (await leased(world, BO)).item_pk == 3


async def test_a_lease_is_whole_until_the_very_moment_it_ends(
    world: Connection, admin: Connection
) -> None:
    lease = await leased(world, ANN)
    assert (lease.item_pk, lease.expires_in_ms) == (2, TTL // timedelta(milliseconds=1))
    await turn_clock(admin, NOON + TTL - timedelta(microseconds=1))
    assert (await leased(world, BO)).item_pk == 3
    assert await claim(world, ANN) is None, "he holds one"


async def test_a_lease_has_run_out_at_the_very_moment_it_ends(
    world: Connection, admin: Connection
) -> None:
    await leased(world, ANN)
    await turn_clock(admin, NOON + TTL)
    assert (await leased(world, BO)).item_pk == 2


async def test_what_has_run_out_does_not_keep_its_holder_from_the_next(
    world: Connection, admin: Connection
) -> None:
    await leased(world, ANN)
    await turn_clock(admin, NOON + TTL)
    assert (await leased(world, ANN)).item_pk == 3, "what he let lapse is for others first"


async def test_the_redriver_ends_a_lease_at_the_same_moment_as_a_claim(
    world: Connection, admin: Connection
) -> None:
    await leased(world, ANN)
    await turn_clock(admin, NOON + TTL - timedelta(microseconds=1))
    assert await lock_run_out(world, limit=10) == []
    assert await give_back(world, item_ids=[2]) == []
    await turn_clock(admin, NOON + TTL)
    assert await lock_run_out(world, limit=10) == [2]
    assert [row.item_pk for row in await give_back(world, item_ids=[2])] == [2]


async def test_a_token_is_never_granted_twice_and_always_logged(
    world: Connection, admin: Connection
) -> None:
    tokens = []
    for turn in range(4):
        await turn_clock(admin, NOON + turn * timedelta(hours=1))
        tokens.append((await leased(world, ANN if turn % 2 else BO)).fence_token)
    assert len(set(tokens)) == 4
    logged = await world.fetch("SELECT token FROM lease_log WHERE happening = 'grant' AND id > 1")
    assert [row["token"] for row in logged] == tokens


async def test_a_decision_is_taken_from_the_line_once(world: Connection) -> None:
    assert await take_pending(world, decision_ids=[1, 2]) == {2}
    assert await take_pending(world, decision_ids=[1, 2]) == set()


async def test_an_item_at_its_threshold_is_offered_to_nobody(
    world: Connection, admin: Connection
) -> None:
    await admin.execute("UPDATE item SET abandoned = true WHERE id = 2")
    assert (await leased(world, ANN)).item_pk == 3


async def test_what_somebody_holds_is_his_alone(world: Connection) -> None:
    lease = await leased(world, ANN)
    mine = await find_my_lease(world, principal_id=ANN)
    assert mine is not None
    assert mine.fence_token == lease.fence_token
    assert await find_my_lease(world, principal_id=BO) is None
