"""Moving: a lead takes items to another queue, each is answered for, and no token lives on."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from backend.domain.refusals import Forbidden, NotFound, QueueDraining, StaleLease
from backend.services import rounds
from backend.services.claim import claim
from backend.services.lease import renew
from backend.services.move import move
from backend.services.redrive import redrive
from shared.vocabulary import BulkResult, Role
from shared.wire.item import BulkAnswer, MoveRequest
from shared.wire.queue import RenewRequest
from tests.services.deeds import LAPSED, Told, history, set_aside, stranger
from tests.support.desk import QUEUE, Desk, new_key
from tests.support.office import DRAINED, change
from tests.support.trail import assert_every_chain_is_whole

NOWHERE = 2**62


async def carry(
    desk: Desk, *items: Any, to: str = "cases", lead: Any = None, tell: Told | None = None
) -> BulkAnswer:
    """Move items as a lead of all queues, unless told otherwise."""
    by = lead or await desk.person("lead", Role.LEAD)
    request = MoveRequest(items=tuple(map(str, items)), to=to)
    return await move(desk.db, desk.policy, by, request, tell=tell or Told())


def results(answer: BulkAnswer) -> list[BulkResult]:
    return [row.result for row in answer.rows]


async def row_of(desk: Desk, item: int) -> Any:
    return await desk.admin.fetchrow("SELECT * FROM item WHERE id = $1", item)


async def test_an_item_is_served_where_it_was_moved_with_its_rank(desk: Desk) -> None:
    item, told = await desk.item(rank=7), Told()
    answer = await carry(desk, item, tell=told)
    assert (results(answer), answer.done) == ([BulkResult.DONE], 1)
    row = await row_of(desk, item)
    assert (row["queue"], row["state"], row["rank"], row["base"]) == ("cases", "queued", 7.0, 7.0)
    assert row["moved_at"] is not None
    assert row["lease_epoch"] == 0
    assert told.queues == ["posts", "cases"]
    assert told.revoked == []
    assert await desk.value("SELECT count(*) FROM lease_log") == 0
    assert (await desk.lease(await desk.person("ana"), "cases")).item_id == str(item)
    await assert_every_chain_is_whole(desk.admin)
    kind = "SELECT convert_from(canonical, 'UTF8')::jsonb -> 'data' FROM event WHERE type = $1"
    data = await desk.value(f"SELECT ({kind})::text", "item.moved")
    assert '"to": "cases"' in data
    assert '"from": "posts"' in data
    assert '"key": "kkkkkkkkkkkk"' in data


async def test_whoever_holds_it_can_not_decide_it_any_more_and_is_told(desk: Desk) -> None:
    ana, told = await desk.person("ana"), Told()
    item = await desk.item()
    lease = await desk.lease(ana)
    await carry(desk, item, tell=told)
    row = await row_of(desk, item)
    assert (row["state"], row["owner"], row["fence_token"], row["leased_at"]) == (
        "queued",
        None,
        None,
        None,
    )
    assert row["lease_epoch"] == 2
    assert told.revoked == [(item, ana.principal_id)]
    assert await history(desk) == [("grant", 1), ("move", 1)]
    log = await desk.admin.fetchrow("SELECT * FROM lease_log WHERE happening = 'move'")
    assert log is not None
    assert log["principal_id"] == ana.principal_id
    assert log["by_principal"] == await desk.value("SELECT id FROM principal WHERE name = 'lead'")
    with pytest.raises(StaleLease) as refused:
        await desk.decide(ana, lease)
    assert refused.value.extra["now"] == "moved"
    with pytest.raises(StaleLease):
        await renew(
            desk.db, desk.policy, ana, lease.item_id, RenewRequest(lease_token=lease.lease_token)
        )
    assert await desk.value("SELECT count(*) FROM decision") == 0


async def test_a_token_that_outlived_its_lease_dies_too(desk: Desk) -> None:
    ana = await desk.person("ana")
    item = await desk.item()
    lease = await desk.lease(ana)
    await desk.pass_time(LAPSED)
    await redrive(desk.db)
    await carry(desk, item)
    assert (await history(desk))[-1] == ("move", 1)
    with pytest.raises(StaleLease):
        await desk.decide(ana, lease)


async def test_what_was_left_undecided_begins_anew_and_what_is_parked_stays_so(desk: Desk) -> None:
    item = await desk.item()
    await desk.admin.execute(
        "UPDATE item SET left_by = '{1,2,3}', abandoned = true, escalated_at = clock()"
    )
    other = await desk.item("c-2")
    await desk.admin.execute("UPDATE item SET stuck_at = clock() WHERE id = $1", other)
    third = await desk.item("c-3", rank=900)
    ana = await desk.person("ana")
    parked = await set_aside(desk, ana, await desk.lease(ana))
    answer = await carry(desk, item, other, third)
    assert results(answer) == [BulkResult.DONE] * 3
    row = await row_of(desk, item)
    assert (list(row["left_by"]), row["abandoned"]) == ([], False)
    assert row["escalated_at"] is not None
    assert (await row_of(desk, other))["stuck_at"] is None
    row = await row_of(desk, third)
    assert (row["state"], row["queue"], row["wake_at"]) == ("parked", "cases", parked.wake_at)


async def test_each_id_is_answered_for_in_the_order_asked(desk: Desk) -> None:
    ana = await desk.person("ana")
    decided = await desk.item("decided")
    await desk.decide(ana, await desk.lease(ana))
    there = await desk.item("there", queue="cases")
    first, second = await desk.item("first"), await desk.item("second")
    asked = [second, "x", decided, first, NOWHERE, second, "-1", there, 2**63, "", " 1", "9" * 30]
    answer = await carry(desk, *asked)
    assert [row.item_id for row in answer.rows] == list(map(str, asked))
    done, gone = BulkResult.DONE, BulkResult.NOT_FOUND
    same = BulkResult.UNCHANGED
    assert results(answer) == [
        *(done, gone, BulkResult.RESOLVED, done, gone, same),
        *(gone, same, gone, gone, gone, gone),
    ]
    assert answer.done == 2
    assert all(row.detail for row in answer.rows if row.result is not done)
    assert await desk.value("SELECT count(*) FROM event WHERE type = 'item.moved'") == 2


async def test_items_of_other_tenants_do_not_exist(desk: Desk) -> None:
    mine = await desk.item()
    answer = await carry(desk, mine, lead=await stranger(desk))
    assert results(answer) == [BulkResult.NOT_FOUND]
    assert (await row_of(desk, mine))["queue"] == QUEUE


async def test_a_lead_of_one_queue_moves_nothing_out_of_another_or_into_it(desk: Desk) -> None:
    mine, others = await desk.item("mine", queue="cases"), await desk.item("others")
    lead = await desk.person("cora", Role.LEAD, queue="cases")
    with pytest.raises(Forbidden):
        await carry(desk, mine, to=QUEUE, lead=lead)
    with pytest.raises(Forbidden):
        await carry(desk, mine, to="no-such-queue", lead=lead)
    answer = await carry(desk, others, mine, lead=lead)
    assert results(answer) == [BulkResult.FORBIDDEN, BulkResult.UNCHANGED]
    assert (await row_of(desk, others))["queue"] == QUEUE


async def test_a_queue_that_is_not_there_or_drains_takes_nothing(desk: Desk) -> None:
    item = await desk.item()
    with pytest.raises(NotFound):
        await carry(desk, item, to="no-such-queue")
    before = desk.policy
    await change(desk, DRAINED)
    with pytest.raises(QueueDraining):
        await carry(desk, item, lead=await desk.person("lead-2", Role.LEAD))
    # A process that has not heard of it yet: the database holds.
    desk.policy = before
    answer = await carry(desk, item, lead=await desk.person("lead-3", Role.LEAD))
    assert results(answer) == [BulkResult.REFUSED]
    assert (await row_of(desk, item))["queue"] == QUEUE


async def test_chunks_are_taken_in_the_order_of_ids_and_none_holds_up_the_rest(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rounds, "CHUNK", 3)
    items = [await desk.item(f"c-{number}") for number in range(10)]
    lead = await desk.person("lead", Role.LEAD)
    both = await asyncio.gather(
        carry(desk, *items, lead=lead), carry(desk, *reversed(items), lead=lead)
    )
    assert {answer.done for answer in both} <= set(range(11))
    assert sum(answer.done for answer in both) == 10
    assert await desk.value("SELECT count(*) FROM item WHERE queue = 'cases'") == 10
    assert await desk.value("SELECT count(*) FROM event WHERE type = 'item.moved'") == 10
    await assert_every_chain_is_whole(desk.admin)


async def test_a_claim_and_a_move_never_both_have_their_way(desk: Desk) -> None:
    items = [await desk.item(f"c-{number}") for number in range(10)]
    people = [await desk.person(f"p{number}") for number in range(10)]
    lead = await desk.person("lead", Role.LEAD)
    await asyncio.gather(
        carry(desk, *items, lead=lead),
        *(claim(desk.db, desk.policy, who, QUEUE, new_key()) for who in people),
    )
    moved = await desk.value(
        "SELECT count(*) FROM item WHERE queue = 'cases' AND state = 'queued' AND owner IS NULL"
    )
    assert moved == 10
    grants = await desk.value("SELECT count(*) FROM lease_log WHERE happening = 'grant'")
    assert await desk.value("SELECT count(*) FROM lease_log WHERE happening = 'move'") == grants
