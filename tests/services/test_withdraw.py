"""Withdrawing: nobody needs to look any more, and what held before holds again."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any

import pytest
from msgspec import structs

from backend.domain.identity import Grant, Identity
from backend.domain.refusals import Forbidden, NoOpenItem, NotFound, StaleLease
from backend.services.claim import claim
from backend.services.read import decision
from backend.services.reopen import reopen
from backend.services.steady import steadily
from backend.services.submit import submit, submit_case
from backend.services.withdraw import withdraw_content, withdraw_items
from shared.vocabulary import BulkResult, ContentState, NewsKind, Outcome, Role, Verdict
from shared.wire.item import BulkAnswer, ReopenRequest, WithdrawItemsRequest, Withdrawn
from tests.services.deeds import Told, history, set_aside, stranger
from tests.support.desk import QUEUE, Desk, new_key
from tests.support.gateway import case, row, somebody
from tests.support.trail import assert_every_chain_is_whole

LEFT_BEHIND = """
SELECT count(*) FROM item WHERE state = 'resolved' AND num_nonnulls(owner, fence_token, claim_key,
  terminal, leased_at, lease_expires, parked_at, wake_at) > 0
"""


async def drop(
    desk: Desk, *items: Any, lead: Identity | None = None, tell: Told | None = None
) -> BulkAnswer:
    by = lead or await desk.person("lead", Role.LEAD)
    request = WithdrawItemsRequest(items=tuple(map(str, items)))
    return await withdraw_items(desk.db, by, request, tell=tell or Told())


async def retract(
    desk: Desk, who: Identity, content_id: str = "c-1", tell: Told | None = None
) -> Withdrawn:
    return await withdraw_content(desk.db, who, content_id, tell=tell or Told())


async def producer_of(desk: Desk, content_id: str = "c-1") -> Identity:
    principal = await desk.value(
        "SELECT submitted_by FROM content WHERE content_id = $1", content_id
    )
    return Identity(
        principal_id=principal,
        tenant_id=1,
        name="producer",
        key_id="p" * 12,
        grants=(Grant(role=Role.PRODUCER),),
    )


async def states(desk: Desk) -> tuple[str, str]:
    """Return the state of the one content and of its newest item."""
    return (
        await desk.value("SELECT state FROM content"),
        await desk.value("SELECT state FROM item ORDER BY round DESC LIMIT 1"),
    )


async def events(desk: Desk) -> list[str]:
    rows = await desk.admin.fetch("SELECT type FROM event ORDER BY content_id, seq")
    return [each["type"] for each in rows]


async def test_a_lead_withdraws_what_waits_is_held_and_is_parked(desk: Desk) -> None:
    ana, told = await desk.person("ana"), Told()
    parked = await desk.item("parked", rank=3)
    await set_aside(desk, ana, await desk.lease(ana))
    held = await desk.item("held", rank=2)
    lease = await desk.lease(ana)
    waiting = await desk.item("waiting", rank=1)
    answer = await drop(desk, waiting, held, parked, tell=told)
    assert [each.result for each in answer.rows] == [BulkResult.DONE] * 3
    assert await desk.value("SELECT count(*) FROM item WHERE resolution = 'withdrawn'") == 3
    assert await desk.value(LEFT_BEHIND) == 0
    assert (await history(desk))[-1] == ("withdraw", 1)
    assert await desk.value("SELECT lease_epoch FROM item WHERE id = $1", held) == 2
    gone = [news for news in told.news if news.kind is NewsKind.ITEM_WITHDRAWN]
    assert [(news.item_pk, news.principal_id) for news in gone] == [(held, ana.principal_id)]
    assert told.queues == [QUEUE]
    assert (await events(desk)).count("item.withdrawn") == 3
    assert await desk.value("SELECT count(*) FROM content WHERE state = 'pending'") == 3
    with pytest.raises(StaleLease) as refused:
        await desk.decide(ana, lease)
    assert refused.value.extra["now"] == "withdrawn"
    assert (await claim(desk.db, desk.policy, ana, QUEUE, new_key())).lease is None
    await assert_every_chain_is_whole(desk.admin)


async def test_each_id_of_a_withdrawal_is_answered_for(desk: Desk) -> None:
    ana = await desk.person("ana")
    decided = await desk.item("decided")
    await desk.decide(ana, await desk.lease(ana))
    gone, appeal = await desk.item("gone"), await desk.item("appeal")
    await desk.admin.execute("UPDATE item SET source = 'appeal' WHERE id = $1", appeal)
    others = await desk.item("others", queue="cases")
    lead = await desk.person("lead", Role.LEAD, queue=QUEUE)
    asked = [gone, "no", appeal, decided, others, gone, 10**18]
    answer = await drop(desk, *asked, lead=lead)
    assert [each.result for each in answer.rows] == [
        BulkResult.DONE,
        BulkResult.NOT_FOUND,
        BulkResult.REFUSED,
        BulkResult.RESOLVED,
        BulkResult.FORBIDDEN,
        BulkResult.UNCHANGED,
        BulkResult.NOT_FOUND,
    ]
    assert answer.done == 1
    again = await drop(desk, gone, appeal, lead=lead)
    assert [each.result for each in again.rows] == [BulkResult.UNCHANGED, BulkResult.REFUSED]
    assert await desk.value("SELECT count(*) FROM item WHERE resolution = 'withdrawn'") == 1
    assert await desk.value("SELECT resolution FROM item WHERE id = $1", decided) == "decided"
    assert (await events(desk)).count("item.withdrawn") == 1


async def test_a_lead_of_another_tenant_finds_nothing_to_withdraw(desk: Desk) -> None:
    item = await desk.item()
    answer = await drop(desk, item, lead=await stranger(desk))
    assert answer.rows[0].result is BulkResult.NOT_FOUND
    assert (await states(desk)) == ("pending", "queued")


@pytest.mark.parametrize(
    ("said", "state"), [(Verdict.REJECT, "removed"), (Verdict.APPROVE, "allowed")]
)
async def test_what_people_looked_at_once_more_goes_back_to_what_held(
    desk: Desk, said: Verdict, state: str
) -> None:
    ana, lead = await desk.person("ana"), await desk.person("lead", Role.LEAD)
    await desk.item()
    await desk.decide(ana, await desk.lease(ana), said)
    await desk.apply_all()
    opened = await reopen(desk.db, desk.policy, lead, "c-1", ReopenRequest())
    assert await states(desk) == ("in_review", "queued")
    await drop(desk, opened.item_id, lead=lead)
    assert await states(desk) == (state, "resolved")
    view = await decision(desk.db, lead, "c-1")
    assert view.outcome is (Outcome.REMOVE if state == "removed" else Outcome.ALLOW)
    assert view.withdrawn_at is None
    await assert_every_chain_is_whole(desk.admin)


async def test_an_escalation_in_between_hides_nothing_of_what_held(desk: Desk) -> None:
    ana, lead = await desk.person("ana"), await desk.person("lead", Role.LEAD)
    await desk.item()
    await desk.decide(ana, await desk.lease(ana), Verdict.REJECT)
    await desk.apply_all()
    await reopen(desk.db, desk.policy, lead, "c-1", ReopenRequest())
    await desk.decide(ana, await desk.lease(ana), Verdict.ESCALATE)
    await desk.apply_all()
    third = await desk.value("SELECT id FROM item WHERE queue = 'escalation'")
    await drop(desk, third, lead=lead)
    assert await states(desk) == ("removed", "resolved")


async def test_a_producer_withdraws_his_content_and_is_told_the_same_again(desk: Desk) -> None:
    ana, told = await desk.person("ana"), Told()
    item = await desk.item()
    lease = await desk.lease(ana)
    producer = await producer_of(desk)
    first = await retract(desk, producer, tell=told)
    assert (first.content_id, first.item_id) == ("c-1", str(item))
    assert await states(desk) == ("pending", "resolved")
    assert await history(desk) == [("grant", 1), ("withdraw", 1)]
    assert [news.kind for news in told.news] == [NewsKind.ITEM_WITHDRAWN, NewsKind.QUEUE_DEPTH]
    assert told.news[0].principal_id == ana.principal_id
    again = Told()
    assert await retract(desk, producer, tell=again) == first
    assert again.news == []
    assert await events(desk) == ["content.withdrawn"]
    assert (await decision(desk.db, producer, "c-1")).withdrawn_at == first.withdrawn_at
    with pytest.raises(StaleLease) as refused:
        await desk.decide(ana, lease)
    assert refused.value.extra["now"] == "withdrawn"
    await assert_every_chain_is_whole(desk.admin)


async def test_what_waits_for_its_score_is_withdrawn_and_waits_no_more(desk: Desk) -> None:
    producer = await somebody(desk.db)
    held = row("c-1", {"child_safety": 0.01})
    labels = {key: value for key, value in held.labels.items() if key != "child_safety"}
    await submit(desk.db, desk.policy, producer, [structs.replace(held, labels=labels)])
    assert await desk.value("SELECT count(*) FROM intake") == 1
    gone = await retract(desk, producer)
    assert gone.item_id is None
    assert await desk.value("SELECT count(*) FROM intake") == 0
    assert await retract(desk, producer) == gone
    await assert_every_chain_is_whole(desk.admin)


async def test_what_is_decided_or_about_to_be_is_not_withdrawn(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item()
    producer = await producer_of(desk)
    await desk.decide(ana, await desk.lease(ana))
    for _ in range(2):
        with pytest.raises(NoOpenItem):
            await retract(desk, producer)
        await desk.apply_all()
    assert await states(desk) == ("allowed", "resolved")
    assert await desk.value("SELECT withdrawn_at IS NULL FROM content")


async def test_an_appeal_is_not_withdrawn_by_who_is_contested(desk: Desk) -> None:
    await desk.item()
    await desk.admin.execute("UPDATE item SET source = 'appeal'")
    with pytest.raises(NoOpenItem):
        await retract(desk, await producer_of(desk))
    assert (await states(desk))[1] == "queued"


async def test_a_content_is_withdrawn_by_its_producer_and_who_has_its_queue(desk: Desk) -> None:
    producer = await somebody(desk.db, name="mine")
    other = await somebody(desk.db, queue=QUEUE, name="other")
    await submit_case(desk.db, desk.policy, producer, "cases", case("k-1"))
    with pytest.raises(Forbidden):
        await retract(desk, other, "k-1")
    for nothing in ("k-2", "-", "", "k\x00", "x" * 70):
        with pytest.raises(NotFound):
            await retract(desk, producer, nothing)
    with pytest.raises(NotFound):
        await retract(desk, await stranger(desk, Role.PRODUCER), "k-1")
    assert await desk.value("SELECT state FROM item") == "queued"
    own = structs.replace(producer, grants=(Grant(role=Role.PRODUCER, queue=QUEUE),))
    assert (await retract(desk, own, "k-1")).item_id is not None


async def test_a_reopening_is_withdrawn_by_the_producer_too(desk: Desk) -> None:
    ana, lead = await desk.person("ana"), await desk.person("lead", Role.LEAD)
    await desk.item()
    await desk.decide(ana, await desk.lease(ana), Verdict.REJECT)
    await desk.apply_all()
    opened = await reopen(desk.db, desk.policy, lead, "c-1", ReopenRequest())
    gone = await retract(desk, await producer_of(desk))
    assert gone.item_id == opened.item_id
    assert await states(desk) == ("removed", "resolved")
    view = await decision(desk.db, lead, "c-1")
    assert (view.state, view.withdrawn_at) == (ContentState.REMOVED, gone.withdrawn_at)
    await reopen(desk.db, desk.policy, lead, "c-1", ReopenRequest())
    assert (await decision(desk.db, lead, "c-1")).withdrawn_at is None


async def test_a_verdict_and_a_withdrawal_never_both_have_their_way(desk: Desk) -> None:
    people = [await desk.person(f"p{number}") for number in range(12)]
    items = [await desk.item(f"c-{number}") for number in range(12)]
    leases = [await desk.lease(who) for who in people]
    producer, lead = await producer_of(desk, "c-0"), await desk.person("lead", Role.LEAD)
    ended: list[Any] = await asyncio.gather(
        *(desk.decide(who, lease) for who, lease in zip(people, leases, strict=True)),
        *(
            steadily(lambda name=f"c-{number}": retract(desk, producer, name))  # type: ignore[misc]
            for number in range(6)
        ),
        drop(desk, *items[6:], lead=lead),
        return_exceptions=True,
    )
    fine = (StaleLease, NoOpenItem)
    assert [end for end in ended if isinstance(end, BaseException) and type(end) not in fine] == []
    assert await desk.value("SELECT count(*) FROM item WHERE state <> 'resolved'") == 0
    decided = await desk.value("SELECT count(*) FROM item WHERE resolution = 'decided'")
    assert await desk.value("SELECT count(*) FROM decision") == decided
    withdrawals = [kind for kind in await events(desk) if kind.endswith("withdrawn")]
    assert decided + len(withdrawals) == 12
    await assert_every_chain_is_whole(desk.admin)


async def test_a_withdrawal_says_when_by_the_clock_of_the_database(desk: Desk) -> None:
    await desk.item()
    gone = await retract(desk, await producer_of(desk))
    assert isinstance(gone.withdrawn_at, datetime)
    assert gone.withdrawn_at == await desk.value("SELECT resolved_at FROM item")
    assert gone.withdrawn_at == await desk.value("SELECT withdrawn_at FROM content")
