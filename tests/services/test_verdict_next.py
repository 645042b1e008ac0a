"""Verdict and claim in one request: two transactions, and the verdict never hangs on the claim."""

from __future__ import annotations

from datetime import timedelta

from backend.services.verdict import verdict
from tests.support.desk import Desk, new_key

LAPSED = timedelta(minutes=4)


async def test_the_next_item_comes_with_the_verdict(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item("a", rank=2)
    await desk.item("b", rank=1)
    reply = await desk.decide(ana, await desk.lease(ana), claim_next=new_key())
    following = reply.answer.next
    assert following is not None
    assert following.lease is not None
    assert following.lease.content_id == "b"


async def test_a_replay_reads_the_next_item_anew_and_gives_the_same_lease(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item("a", rank=2)
    await desk.item("b", rank=1)
    lease = await desk.lease(ana)
    request = desk.saying(lease, claim_next=new_key())
    first = await verdict(desk.db, desk.policy, ana, lease.item_id, request)
    again = await verdict(desk.db, desk.policy, ana, lease.item_id, request)
    assert first.answer.next is not None
    assert first.answer.next.lease is not None
    assert again.answer.next is not None
    assert again.answer.next.lease is not None
    assert again.answer.next.lease.lease_token == first.answer.next.lease.lease_token


async def test_an_empty_queue_does_not_undo_the_verdict(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item()
    reply = await desk.decide(ana, await desk.lease(ana), claim_next=new_key())
    assert reply.answer.next is not None
    assert reply.answer.next.lease is None
    assert await desk.value("SELECT count(*) FROM decision") == 1


async def test_the_next_item_is_the_one_that_is_held_already(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item("a", rank=2)
    await desk.item("b", rank=1)
    lapsed = await desk.lease(ana)
    await desk.pass_time(LAPSED)
    held = await desk.lease(ana)
    reply = await desk.decide(ana, lapsed, claim_next=new_key())
    assert reply.answer.next is not None
    assert reply.answer.next.lease is not None
    assert reply.answer.next.lease.lease_token == held.lease_token


async def test_a_lost_right_to_the_next_item_does_not_hide_the_verdict(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item()
    lease = await desk.lease(ana)
    request = desk.saying(lease, claim_next=new_key())
    first = await verdict(desk.db, desk.policy, ana, lease.item_id, request)
    stripped = type(ana)(
        principal_id=ana.principal_id, tenant_id=1, name="ana", key_id=ana.key_id, grants=()
    )
    again = await verdict(desk.db, desk.policy, stripped, lease.item_id, request)
    assert again.replayed
    assert again.answer.decision == first.answer.decision
    assert again.answer.next is None
