"""Abandonment: what different people leave undecided moves up once, and nothing is stranded."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from backend.domain.refusals import StaleLease
from backend.services.claim import claim
from backend.services.redrive import redrive
from tests.support.desk import QUEUE, Desk, new_key

LAPSED = timedelta(minutes=4)


async def abandon(desk: Desk, times: int, queue: str = QUEUE, prefix: str = "p") -> None:
    for number in range(times):
        who = await desk.person(f"{prefix}{number}")
        await desk.lease(who, queue)
        await desk.pass_time(LAPSED)
        await redrive(desk.db)


async def test_three_different_people_send_an_item_up_once(desk: Desk) -> None:
    await desk.item(rank=5)
    await abandon(desk, 3)
    row = await desk.admin.fetchrow("SELECT * FROM item")
    assert row is not None
    assert (row["queue"], row["rank"], row["state"]) == ("escalation", 15.0, "queued")
    assert row["escalated_at"] is not None
    assert (row["fence_token"], list(row["left_by"]), row["abandoned"]) == (None, [], False)
    for _ in range(3):
        await redrive(desk.db)
    assert await desk.value("SELECT rank FROM item") == 15.0
    assert await desk.value("SELECT count(*) FROM event WHERE type = 'item.escalated'") == 1


async def test_one_person_who_keeps_dropping_an_item_forces_nothing(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item()
    for _ in range(5):
        await desk.lease(ana)
        await desk.pass_time(timedelta(minutes=15))
        await redrive(desk.db)
        await desk.pass_time(timedelta(minutes=15))
    assert await desk.value("SELECT queue FROM item") == QUEUE
    assert await desk.value("SELECT lease_count FROM item") == 5
    assert await desk.value("SELECT cardinality(left_by) FROM item") == 1


async def test_what_somebody_let_lapse_is_offered_to_others_first(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item("dropped", rank=9)
    await desk.item("other", rank=1)
    await desk.lease(ana)
    await desk.pass_time(LAPSED)
    assert (await desk.lease(ana)).content_id == "other"
    assert (await desk.lease(await desk.person("ben"))).content_id == "dropped"


async def test_at_its_threshold_an_item_is_nobodys_until_it_moves(desk: Desk) -> None:
    await desk.item()
    for number in range(3):
        await desk.lease(await desk.person(f"p{number}"))
        await desk.pass_time(LAPSED)
    fourth = await desk.person("p4")
    answer = await claim(desk.db, desk.policy, fourth, QUEUE, new_key())
    assert answer.lease is None
    assert await desk.value("SELECT abandoned FROM item")
    assert (await redrive(desk.db)).escalated == 1
    assert (await desk.lease(fourth, "escalation")).content_id == "c-1"


async def test_who_left_an_item_can_not_decide_it_after_it_moved(desk: Desk) -> None:
    await desk.item()
    for number in range(2):
        await desk.lease(await desk.person(f"p{number}"))
        await desk.pass_time(LAPSED)
    last = await desk.person("last")
    lease = await desk.lease(last)
    await desk.pass_time(LAPSED)
    await redrive(desk.db)
    with pytest.raises(StaleLease) as refused:
        await desk.decide(last, lease)
    assert refused.value.extra["now"] == "escalated"


async def test_what_is_left_undecided_at_the_top_is_stuck_and_stays_claimable(desk: Desk) -> None:
    await desk.item(queue="escalation")
    await abandon(desk, 3, "escalation")
    assert await desk.value("SELECT stuck_at IS NOT NULL FROM item")
    fourth = await desk.person("p4")
    await desk.lease(fourth, "escalation")
    await desk.pass_time(LAPSED)
    await redrive(desk.db)
    assert (await desk.lease(await desk.person("p5"), "escalation")).content_id == "c-1"


async def test_poison_items_do_not_block_what_stands_behind_them(desk: Desk) -> None:
    for number in range(5):
        await desk.item(f"poison-{number}", rank=100)
    await desk.item("good", rank=1)
    people = [await desk.person(f"p{number}") for number in range(3)]
    for _ in range(10):
        for who in people:
            answer = await claim(desk.db, desk.policy, who, QUEUE, new_key())
            if answer.lease is not None and answer.lease.content_id == "good":
                await desk.decide(who, answer.lease)
        await desk.pass_time(LAPSED)
        await redrive(desk.db)
    moved = "SELECT count(*) FROM item WHERE queue = 'escalation' AND rank > 100"
    assert await desk.value(moved) == 5
    assert await desk.value("SELECT count(*) FROM decision") == 1


async def test_the_redriver_and_a_verdict_never_both_have_their_way(desk: Desk) -> None:
    people = [await desk.person(f"p{number}") for number in range(10)]
    for number in range(10):
        await desk.item(f"c-{number}")
    leases = [await desk.lease(who) for who in people]
    await desk.pass_time(LAPSED)
    await asyncio.gather(
        *(redrive(desk.db) for _ in range(4)),
        *(desk.decide(who, lease) for who, lease in zip(people, leases, strict=True)),
    )
    assert await desk.value("SELECT count(*) FROM item WHERE state = 'resolved'") == 10
    assert await desk.value("SELECT count(*) FROM decision") == 10
