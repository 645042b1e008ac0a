"""Abandonment: what different people leave undecided moves up once, and nothing is stranded."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from backend.db.lease import give_back, lock_run_out, mark_stuck, move_to_escalation
from backend.domain.refusals import StaleLease
from backend.services import redrive as redriving
from backend.services.claim import claim
from backend.services.redrive import redrive
from shared.vocabulary import ReleaseReason
from tests.services.deeds import LAPSED, Told, give_up, history, set_aside
from tests.support.desk import QUEUE, Desk, new_key
from tests.support.trail import assert_every_chain_is_whole


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


async def test_the_log_says_that_an_escalation_ended_the_last_token(desk: Desk) -> None:
    item = await desk.item()
    await abandon(desk, 2)
    last = await desk.person("last")
    await desk.lease(last)
    await desk.pass_time(LAPSED)
    told = Told()
    await redrive(desk.db, tell=told)
    assert (await history(desk))[-2:] == [("lapse", 3), ("escalate", 3)]
    by = "SELECT principal_id FROM lease_log WHERE happening = 'escalate'"
    assert await desk.value(by) == last.principal_id
    assert told.revoked == [(item, last.principal_id)]
    assert set(told.queues) == {QUEUE, "escalation"}


async def test_what_nobody_held_any_more_escalates_without_a_word_in_the_log(desk: Desk) -> None:
    await desk.item()
    for number in range(3):
        who = await desk.person(f"p{number}")
        await give_up(desk, who, await desk.lease(who), ReleaseReason.NEED_TIME)
    told = Told()
    assert (await redrive(desk.db, tell=told)).escalated == 1
    assert "escalate" not in [word for word, _ in await history(desk)]
    assert told.revoked == []


async def test_what_is_given_back_or_found_stuck_is_told_to_its_queue(desk: Desk) -> None:
    await desk.item(queue="escalation")
    told = Told()
    await redrive(desk.db, tell=told)
    assert told.news == []
    for number in range(3):
        await desk.lease(await desk.person(f"p{number}"), "escalation")
        await desk.pass_time(LAPSED)
        await redrive(desk.db, tell=told)
        assert set(told.queues) == {"escalation"}
    assert await desk.value("SELECT stuck_at IS NOT NULL FROM item")


async def test_an_item_that_can_not_be_moved_holds_up_no_other(desk: Desk) -> None:
    for name in ("a", "broken", "c"):
        await desk.item(name)
    people = [await desk.person(f"p{number}") for number in range(3)]
    for who in people:
        for _ in range(3):
            await give_up(desk, who, await desk.lease(who), ReleaseReason.NEED_TIME)
    await desk.admin.execute("UPDATE content SET seq = 7 WHERE content_id = 'broken'")
    report = await redrive(desk.db)
    assert report.escalated == 2
    where = "SELECT queue FROM item i JOIN content n ON n.id = i.content_id WHERE n.content_id = $1"
    assert [await desk.value(where, name) for name in ("a", "broken", "c")] == [
        "escalation",
        QUEUE,
        "escalation",
    ]


@pytest.mark.parametrize("at", ["give_back", "wake_due", "move_to_escalation", "advance_trail"])
async def test_a_redriver_that_dies_half_way_leaves_nothing_half_done(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    """Cancelled right after a statement, before its commit: as a kill would leave it."""
    await desk.item("abandoned", rank=9)
    await desk.item("parked", rank=8)
    await desk.item("dropped", rank=7)
    for number in range(3):
        who = await desk.person(f"p{number}")
        await give_up(desk, who, await desk.lease(who), ReleaseReason.NEED_TIME)
    ana, ben = await desk.person("ana"), await desk.person("ben")
    await set_aside(desk, ana, await desk.lease(ana))
    await desk.lease(ben)
    await desk.pass_time(timedelta(days=31))
    real = getattr(redriving, at)

    async def dies(*args: Any, **kwargs: Any) -> None:
        await real(*args, **kwargs)
        raise asyncio.CancelledError

    with monkeypatch.context() as patch:
        patch.setattr(redriving, at, dies)
        with pytest.raises(asyncio.CancelledError):
            await redrive(desk.db)
    for _ in range(2):
        await redrive(desk.db)
    words = [word for word, _ in await history(desk)]
    assert (words.count("lapse"), words.count("wake")) == (1, 1)
    assert await desk.value("SELECT count(*) FROM event WHERE type = 'item.escalated'") == 1
    assert await desk.value("SELECT count(*) FROM item WHERE state = 'queued'") == 3
    assert await desk.value("SELECT rank FROM item WHERE queue = 'escalation'") == 19.0
    await assert_every_chain_is_whole(desk.admin)


async def test_twenty_poison_items_of_the_highest_rank_keep_nobody_from_the_rest(
    desk: Desk,
) -> None:
    for number in range(20):
        await desk.item(f"poison-{number}", rank=100)
    await desk.item("good", rank=1)
    people = [await desk.person(f"p{number}") for number in range(4)]
    dropped, served = 0, False
    for _ in range(40):
        for who in people:
            answer = await claim(desk.db, desk.policy, who, QUEUE, new_key())
            if answer.lease is not None and answer.lease.content_id == "good":
                await desk.decide(who, answer.lease)
                served = True
            elif not served:
                dropped += answer.lease is not None
        await desk.pass_time(LAPSED)
        await redrive(desk.db)
    assert served
    assert dropped <= 60, "three people for each of twenty"
    assert await desk.value("SELECT count(*) FROM item WHERE queue = 'escalation'") == 20


async def test_a_redriver_with_an_old_view_moves_nothing_that_was_decided(desk: Desk) -> None:
    ana = await desk.person("ana")
    item = await desk.item()
    lease = await desk.lease(ana)
    await desk.pass_time(LAPSED)
    async with desk.db.transaction() as conn:
        seen = await lock_run_out(conn, limit=10)
    assert seen == [item]
    await desk.decide(ana, lease)
    async with desk.db.transaction() as conn:
        assert await give_back(conn, item_ids=seen) == []
        await move_to_escalation(conn, item_id=item, queue="escalation", boost=10)
        await mark_stuck(conn, item_id=item)
    assert await desk.value("SELECT state FROM item") == "resolved"
    assert await desk.value("SELECT queue FROM item") == QUEUE
