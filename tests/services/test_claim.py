"""Claiming: who gets what, in which order, and what is said when there is nothing."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from backend.db.claim import claim_next
from backend.domain.identity import Identity
from backend.domain.refusals import Forbidden, LeaseHeld, NotFound
from backend.services.claim import claim, my_lease
from backend.services.lease import renew
from shared.evidence import open_evidence
from shared.vocabulary import Role
from shared.wire.queue import RenewRequest
from tests.support.desk import QUEUE, Desk, new_key

LAPSED = timedelta(minutes=4)


async def test_a_claim_serves_strictly_by_rank(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item("low", rank=1)
    await desk.item("high", rank=9)
    await desk.item("middle", rank=5)
    served = []
    for _ in range(3):
        lease = await desk.lease(ana)
        served.append(lease.content_id)
        await desk.decide(ana, lease)
    assert served == ["high", "middle", "low"]


async def test_equal_ranks_are_served_in_the_order_of_arrival(desk: Desk) -> None:
    ana, ben = await desk.person("ana"), await desk.person("ben")
    await desk.item("first", rank=5)
    await desk.item("second", rank=5)
    assert (await desk.lease(ana)).content_id == "first"
    assert (await desk.lease(ben)).content_id == "second"


async def test_fifty_people_who_claim_at_once_get_fifty_items(desk: Desk) -> None:
    people = [await desk.person(f"p{number}") for number in range(50)]
    for number in range(50):
        await desk.item(f"c-{number}", rank=number)
    answers = await asyncio.gather(
        *(claim(desk.db, desk.policy, who, QUEUE, new_key()) for who in people)
    )
    items = [answer.lease.item_id for answer in answers if answer.lease is not None]
    assert len(set(items)) == 50


async def test_one_item_goes_to_one_of_many(desk: Desk) -> None:
    people = [await desk.person(f"p{number}") for number in range(20)]
    await desk.item()
    answers = await asyncio.gather(
        *(claim(desk.db, desk.policy, who, QUEUE, new_key()) for who in people)
    )
    assert sum(answer.lease is not None for answer in answers) == 1


async def test_the_same_claim_returns_the_same_lease(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item("a")
    await desk.item("b")
    key = new_key()
    first = await claim(desk.db, desk.policy, ana, QUEUE, key)
    again = await claim(desk.db, desk.policy, ana, QUEUE, key)
    assert first.lease is not None
    assert again.lease is not None
    assert again.lease.lease_token == first.lease.lease_token


async def test_two_tries_of_one_claim_at_once_are_granted_one_lease(desk: Desk) -> None:
    ana = await desk.person("ana")
    for number in range(5):
        await desk.item(f"c-{number}")
    key = new_key()
    answers = await asyncio.gather(
        *(claim(desk.db, desk.policy, ana, QUEUE, key) for _ in range(5))
    )
    tokens = {answer.lease.lease_token for answer in answers if answer.lease is not None}
    assert len(tokens) == 1
    assert await desk.value("SELECT count(*) FROM lease_log WHERE happening = 'grant'") == 1


@pytest.mark.parametrize("queue", [QUEUE, "cases"])
async def test_a_claim_sent_again_after_its_lease_ran_out_is_granted_anew(
    desk: Desk, queue: str
) -> None:
    ana, key = await desk.person("ana"), new_key()
    await desk.item("a", rank=9)
    await desk.item("b", rank=1, queue=queue)
    await claim(desk.db, desk.policy, ana, QUEUE, key)
    await desk.pass_time(LAPSED)
    answers = [await claim(desk.db, desk.policy, ana, queue, key) for _ in range(2)]
    shown = [answer.lease and answer.lease.content_id for answer in answers]
    assert shown == ["b", "b"]


async def test_whoever_holds_an_item_is_given_no_second(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item("a")
    await desk.item("b")
    lease = await desk.lease(ana)
    with pytest.raises(LeaseHeld) as refused:
        await claim(desk.db, desk.policy, ana, QUEUE, new_key())
    assert refused.value.extra["item_id"] == lease.item_id


async def test_two_claims_of_one_person_at_once_are_granted_one_lease(desk: Desk) -> None:
    """The second has looked before the first commits, and still waits for it and sees it."""
    ana = await desk.person("ana")
    await desk.item("a")
    await desk.item("b")
    async with desk.db.transaction() as first:
        granted = await claim_next(first, **_by(ana))
        second = asyncio.create_task(claim(desk.db, desk.policy, ana, QUEUE, new_key()))
        await asyncio.wait([second], timeout=0.3)
        assert not second.done()
    assert granted is not None
    with pytest.raises(LeaseHeld):
        await second
    assert await desk.value("SELECT count(*) FROM item WHERE state = 'leased'") == 1


async def test_a_claim_and_the_revival_of_a_lapsed_lease_at_once_make_one_lease(
    desk: Desk,
) -> None:
    ana = await desk.person("ana")
    await desk.item("a")
    lapsed = await desk.lease(ana)
    await desk.item("b")
    await desk.pass_time(LAPSED)
    async with desk.db.transaction() as first:
        assert await claim_next(first, **_by(ana)) is not None
        request = RenewRequest(lease_token=lapsed.lease_token)
        renewing = asyncio.create_task(renew(desk.db, desk.policy, ana, lapsed.item_id, request))
        await asyncio.wait([renewing], timeout=0.3)
    assert (await renewing).expires_in_ms <= 0
    assert await desk.value("SELECT count(*) FROM item WHERE state = 'leased'") == 1


def _by(who: Identity) -> dict[str, Any]:
    return {
        "tenant_id": who.tenant_id,
        "queue": QUEUE,
        "principal_id": who.principal_id,
        "claim_key": UUID(new_key()),
    }


async def test_a_run_out_lease_goes_to_the_next_who_asks(desk: Desk) -> None:
    ana, ben = await desk.person("ana"), await desk.person("ben")
    await desk.item()
    first = await desk.lease(ana)
    await desk.pass_time(LAPSED)
    second = await desk.lease(ben)
    assert second.item_id == first.item_id
    assert second.lease_token != first.lease_token
    log = await desk.admin.fetch("SELECT happening FROM lease_log ORDER BY id")
    assert [row["happening"] for row in log] == ["grant", "lapse", "grant"]


async def test_a_run_out_item_of_higher_rank_goes_before_a_fresh_one(desk: Desk) -> None:
    ana, ben = await desk.person("ana"), await desk.person("ben")
    await desk.item("high", rank=9)
    await desk.lease(ana)
    await desk.item("low", rank=1)
    await desk.pass_time(LAPSED)
    assert (await desk.lease(ben)).content_id == "high"


async def test_a_fresh_item_of_higher_rank_goes_before_a_run_out_one(desk: Desk) -> None:
    ana, ben = await desk.person("ana"), await desk.person("ben")
    await desk.item("low", rank=1)
    await desk.lease(ana)
    await desk.item("high", rank=9)
    await desk.pass_time(LAPSED)
    assert (await desk.lease(ben)).content_id == "high"
    assert await desk.value("SELECT state FROM item WHERE rank = 1") == "queued"


async def test_a_lease_that_has_not_run_out_is_nobody_elses(desk: Desk) -> None:
    ana, ben = await desk.person("ana"), await desk.person("ben")
    await desk.item()
    await desk.lease(ana)
    await desk.pass_time(timedelta(minutes=2))
    answer = await claim(desk.db, desk.policy, ben, QUEUE, new_key())
    assert answer.lease is None
    assert answer.figures is not None
    assert answer.figures.free == 0
    assert answer.figures.held == 1
    assert answer.figures.free_in_ms is not None


async def test_an_excluded_person_is_passed_over_and_told_so(desk: Desk) -> None:
    ana, ben = await desk.person("ana"), await desk.person("ben")
    item = await desk.item()
    await desk.admin.execute(
        "INSERT INTO exclusion (item_id, principal_id, why) VALUES ($1, $2, 'conflict')",
        item,
        ana.principal_id,
    )
    answer = await claim(desk.db, desk.policy, ana, QUEUE, new_key())
    assert answer.lease is None
    assert answer.figures is not None
    assert answer.figures.not_for_you == 1
    assert (await desk.lease(ben)).item_id == str(item)


async def test_an_exclusion_from_a_content_covers_its_rounds_until_it_ends(desk: Desk) -> None:
    ana = await desk.person("ana")
    item = await desk.item()
    await desk.admin.execute(
        "INSERT INTO exclusion (content_id, principal_id, until, why)"
        " SELECT content_id, $2, clock() + interval '1 hour', 'decided_before'"
        " FROM item WHERE id = $1",
        item,
        ana.principal_id,
    )
    assert (await claim(desk.db, desk.policy, ana, QUEUE, new_key())).lease is None
    await desk.pass_time(timedelta(hours=2))
    assert (await desk.lease(ana)).item_id == str(item)


async def test_a_queue_that_is_not_yours_or_not_there_is_refused(desk: Desk) -> None:
    ana = await desk.person("ana", Role.REVIEWER, queue="cases")
    with pytest.raises(Forbidden):
        await claim(desk.db, desk.policy, ana, QUEUE, new_key())
    with pytest.raises(NotFound):
        await claim(desk.db, desk.policy, ana, "nowhere", new_key())


async def test_a_producer_may_not_claim(desk: Desk) -> None:
    service = await desk.person("svc", Role.PRODUCER)
    with pytest.raises(Forbidden):
        await claim(desk.db, desk.policy, service, QUEUE, new_key())


async def test_what_i_hold_is_returned_lapsed_or_not(desk: Desk) -> None:
    ana = await desk.person("ana")
    assert (await my_lease(desk.db, desk.policy, ana)).lease is None
    await desk.item()
    lease = await desk.lease(ana)
    await desk.pass_time(LAPSED)
    mine = (await my_lease(desk.db, desk.policy, ana)).lease
    assert mine is not None
    assert mine.lease_token == lease.lease_token
    assert mine.expires_in_ms < 0


async def test_the_evidence_of_a_lease_is_what_was_hashed(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item(text="café \u202e hidden")
    lease = await desk.lease(ana)
    shown = open_evidence(lease.evidence, lease.evidence_hash)
    assert shown.content.text == "café \u202e hidden"
    with pytest.raises(ValueError, match="not the evidence"):
        open_evidence(lease.evidence + " ", lease.evidence_hash)
