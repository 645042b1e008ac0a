"""Items that people drop: they block at most themselves, and one person alone forces nothing."""

from __future__ import annotations

from datetime import timedelta

import pytest

from backend.domain.identity import Identity
from backend.services.claim import claim, queue_view
from backend.services.claim_any import claim_any
from backend.services.lease import release
from backend.services.redrive import redrive
from shared.vocabulary import ReleaseReason
from shared.wire.queue import ClaimAnyRequest, Lease, ReleaseRequest
from tests.support.desk import QUEUE, Desk, new_key

LAPSED = timedelta(minutes=4)
POISON = 20


async def drop(desk: Desk, who: Identity, lease: Lease, reason: ReleaseReason) -> None:
    request = ReleaseRequest(lease_token=lease.lease_token, reason=reason)
    await release(desk.db, who, lease.item_id, request)


async def test_behind_twenty_items_that_all_drop_the_next_is_served_within_as_many_claims(
    desk: Desk,
) -> None:
    """Whoever drops gives it back at once; no time passes and no redriver runs."""
    for number in range(POISON):
        await desk.item(f"poison-{number}", rank=100 + number)
    await desk.item("good", rank=1)
    people = [await desk.person(name) for name in ("ana", "ben", "cy")]
    claims = dict.fromkeys((who.name for who in people), 0)
    decided = []
    for _ in range(POISON + 1):
        for who in people:
            answer = await claim(desk.db, desk.policy, who, QUEUE, new_key())
            claims[who.name] += 1
            if answer.lease is None:
                continue
            if answer.lease.content_id == "good":
                await desk.decide(who, answer.lease)
                decided.append(claims[who.name])
            else:
                await drop(desk, who, answer.lease, ReleaseReason.NEED_TIME)
    assert len(decided) == 1
    assert decided[0] <= POISON + 1
    abandoned = "SELECT count(*) FROM item WHERE abandoned AND cardinality(left_by) = 3"
    assert await desk.value(abandoned) == POISON
    await redrive(desk.db)
    moved = "SELECT count(*) FROM item WHERE queue = 'escalation' AND rank >= 110"
    assert await desk.value(moved) == POISON


async def test_behind_twenty_items_that_all_let_lapse_the_next_is_served_without_a_redriver(
    desk: Desk,
) -> None:
    for number in range(POISON):
        await desk.item(f"poison-{number}", rank=100 + number)
    await desk.item("good", rank=1)
    people = [await desk.person(f"p{number}") for number in range(4)]
    claims = 0
    while await desk.value("SELECT count(*) FROM decision") == 0:
        for who in people:
            answer = await claim(desk.db, desk.policy, who, QUEUE, new_key())
            claims += 1
            if answer.lease is not None and answer.lease.content_id == "good":
                await desk.decide(who, answer.lease)
        await desk.pass_time(LAPSED)
        assert claims <= 4 * (POISON + 1)
    assert await desk.value("SELECT count(*) FROM item WHERE cardinality(left_by) > 3") == 0


@pytest.mark.parametrize("reason", [None, ReleaseReason.NEED_TIME, ReleaseReason.SIGN_OFF])
async def test_one_person_who_drops_again_and_again_forces_nothing_in_any_queue(
    desk: Desk, reason: ReleaseReason | None
) -> None:
    """By letting it lapse or by giving it back, in one queue or in all."""
    ana = await desk.person("ana")
    for queue in ("posts", "cases", "escalation"):
        await desk.item(f"in-{queue}", queue=queue)
    for _ in range(12):
        request = ClaimAnyRequest(claim_key=new_key())
        lease = (await claim_any(desk.db, desk.policy, ana, request)).lease
        if lease is not None and reason is not None:
            await drop(desk, ana, lease, reason)
        await desk.pass_time(LAPSED)
        await redrive(desk.db)
    rows = await desk.admin.fetch("SELECT * FROM item ORDER BY id")
    assert [row["queue"] for row in rows] == ["posts", "cases", "escalation"]
    for row in rows:
        assert row["lease_count"] >= 2, "it came to him again and again"
        assert row["left_by"] == [ana.principal_id]
        assert (row["escalated_at"], row["stuck_at"], row["abandoned"]) == (None, None, False)
    assert (await desk.lease(await desk.person("ben"))).content_id == "in-posts"


async def test_what_is_on_its_way_to_escalation_is_held_and_not_free(desk: Desk) -> None:
    """Before anybody gave it back, after a claim did, and until the redriver moved it."""
    people = [await desk.person(f"p{number}") for number in range(4)]
    await desk.item("c-1", queue="posts")

    async def figures(who: Identity) -> tuple[int, int, int]:
        told = (await queue_view(desk.db, desk.policy, who, QUEUE)).figures
        return told.free, told.held, told.not_for_you

    for who in people[:3]:
        assert await figures(who) == (1, 0, 0)
        await desk.lease(who)
        assert await figures(who) == (0, 1, 0)
        await desk.pass_time(LAPSED)
    for who in people:
        assert await figures(who) == (0, 1, 0)
    answer = await claim(desk.db, desk.policy, people[3], QUEUE, new_key())
    assert answer.lease is None
    assert answer.figures is not None
    assert (answer.figures.free, answer.figures.held) == (0, 1)
    await redrive(desk.db)
    assert await figures(people[3]) == (0, 0, 0)
    assert (await desk.lease(people[3], "escalation")).content_id == "c-1"


async def test_what_is_stuck_and_ran_out_is_free_again(desk: Desk) -> None:
    people = [await desk.person(f"p{number}") for number in range(4)]
    await desk.item(queue="escalation")
    for who in people[:3]:
        await desk.lease(who, "escalation")
        await desk.pass_time(LAPSED)
        await redrive(desk.db)
    await desk.lease(people[3], "escalation")
    await desk.pass_time(LAPSED)
    for who, mine in ((people[0], 0), (people[3], 1)):
        told = (await queue_view(desk.db, desk.policy, who, "escalation")).figures
        assert (told.free, told.held, told.not_for_you) == (1, 0, mine)
