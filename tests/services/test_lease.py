"""Between grant and end: renewing, releasing, running out."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from backend.domain.refusals import NotFound, StaleLease
from backend.services.claim import claim, my_lease
from backend.services.lease import release, renew
from backend.services.redrive import redrive
from shared.vocabulary import ReleaseReason
from shared.wire.queue import ReleaseRequest, RenewRequest
from tests.services.deeds import Told, give_up, history
from tests.support.desk import QUEUE, Desk, new_key

MINUTE = timedelta(minutes=1)


async def test_renewing_gives_a_whole_lease_again(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item()
    lease = await desk.lease(ana)
    await desk.pass_time(2 * MINUTE)
    renewed = await renew(
        desk.db, desk.policy, ana, lease.item_id, RenewRequest(lease_token=lease.lease_token)
    )
    assert 170_000 < renewed.expires_in_ms <= 180_000
    assert not renewed.capped


async def test_renewals_end_at_the_queues_longest_hold(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item()
    lease = await desk.lease(ana)
    request = RenewRequest(lease_token=lease.lease_token)
    for _ in range(28):
        await desk.pass_time(2 * MINUTE)
        assert not (await renew(desk.db, desk.policy, ana, lease.item_id, request)).capped
    await desk.pass_time(2 * MINUTE)
    renewed = await renew(desk.db, desk.policy, ana, lease.item_id, request)
    assert renewed.capped
    assert renewed.expires_in_ms <= 120_000
    await desk.pass_time(5 * MINUTE)
    assert (await renew(desk.db, desk.policy, ana, lease.item_id, request)).expires_in_ms < 0


async def test_a_lapsed_lease_that_nobody_took_can_be_renewed(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item()
    lease = await desk.lease(ana)
    await desk.pass_time(4 * MINUTE)
    await redrive(desk.db)
    await renew(
        desk.db, desk.policy, ana, lease.item_id, RenewRequest(lease_token=lease.lease_token)
    )
    mine = (await my_lease(desk.db, desk.policy, ana)).lease
    assert mine is not None
    assert mine.lease_token == lease.lease_token
    assert mine.expires_in_ms > 0


async def test_somebody_elses_token_renews_nothing(desk: Desk) -> None:
    ana, ben = await desk.person("ana"), await desk.person("ben")
    await desk.item()
    lease = await desk.lease(ana)
    with pytest.raises(StaleLease) as refused:
        await renew(
            desk.db, desk.policy, ben, lease.item_id, RenewRequest(lease_token=lease.lease_token)
        )
    assert refused.value.extra == {}


@pytest.mark.parametrize("item_id", ["0", "999999", "9" * 19, "9" * 40, "-1", "x", "", "\uff11"])
async def test_an_item_that_is_not_there_is_not_found(desk: Desk, item_id: str) -> None:
    ana = await desk.person("ana")
    with pytest.raises(NotFound):
        await renew(desk.db, desk.policy, ana, item_id, RenewRequest(lease_token=new_key()))


async def test_a_release_rotates_the_token(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item()
    lease = await desk.lease(ana)
    await give_up(desk, ana, lease, ReleaseReason.TECH)
    assert await desk.value("SELECT fence_token FROM item") is None
    with pytest.raises(StaleLease):
        await desk.decide(ana, lease)
    assert (await my_lease(desk.db, desk.policy, ana)).lease is None


async def test_a_released_item_is_not_offered_to_the_same_person_for_a_while(desk: Desk) -> None:
    ana, ben = await desk.person("ana"), await desk.person("ben")
    await desk.item()
    await give_up(desk, ana, await desk.lease(ana), ReleaseReason.NEED_TIME)
    assert (await claim(desk.db, desk.policy, ana, QUEUE, new_key())).lease is None
    await give_up(desk, ben, await desk.lease(ben), ReleaseReason.TECH)
    await desk.pass_time(11 * MINUTE)
    assert (await desk.lease(ana)).content_id == "c-1"


@pytest.mark.parametrize(
    ("reason", "counts"),
    [
        (ReleaseReason.NEED_TIME, 1),
        (ReleaseReason.POLICY_UNCLEAR, 1),
        (ReleaseReason.SIGN_OFF, 1),
        (ReleaseReason.TECH, 0),
        (ReleaseReason.DISTRESS, 0),
        (ReleaseReason.CONFLICT, 0),
        (ReleaseReason.LANGUAGE, 0),
    ],
)
async def test_only_some_releases_say_that_the_item_is_hard(
    desk: Desk, reason: ReleaseReason, counts: int
) -> None:
    ana = await desk.person("ana")
    await desk.item()
    await give_up(desk, ana, await desk.lease(ana), reason)
    assert await desk.value("SELECT cardinality(left_by) FROM item") == counts


async def test_a_release_that_is_sent_again_is_answered_like_the_first(desk: Desk) -> None:
    ana, ben = await desk.person("ana"), await desk.person("ben")
    await desk.item()
    lease = await desk.lease(ana)
    told = Told()
    request = ReleaseRequest(lease_token=lease.lease_token, reason=ReleaseReason.TECH)
    answers = await asyncio.gather(
        *(release(desk.db, ana, lease.item_id, request, tell=told) for _ in range(5))
    )
    assert [answer.item_id for answer in answers] == [lease.item_id] * 5
    assert told.queues == [QUEUE], "the repetitions changed nothing"
    mine = await desk.lease(ben)
    assert (await release(desk.db, ana, lease.item_id, request)).item_id == lease.item_id
    await desk.decide(ben, mine)
    assert (await release(desk.db, ana, lease.item_id, request)).item_id == lease.item_id
    assert await history(desk) == [("grant", 1), ("release", 1), ("grant", 3)]


async def test_only_the_one_who_released_can_repeat_it(desk: Desk) -> None:
    ana, ben = await desk.person("ana"), await desk.person("ben")
    await desk.item()
    lease = await desk.lease(ana)
    await give_up(desk, ana, lease, ReleaseReason.TECH)
    with pytest.raises(StaleLease) as refused:
        await give_up(desk, ben, lease, ReleaseReason.TECH)
    assert refused.value.extra == {}


async def test_what_ended_otherwise_is_not_released_again(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item()
    lease = await desk.lease(ana)
    await desk.decide(ana, lease)
    with pytest.raises(StaleLease) as refused:
        await give_up(desk, ana, lease, ReleaseReason.TECH)
    assert refused.value.extra["now"] == "resolved"


async def test_a_lapse_leaves_its_trace_in_the_items_history(desk: Desk) -> None:
    ana, ben = await desk.person("ana"), await desk.person("ben")
    await desk.item()
    await desk.lease(ana)
    await desk.pass_time(4 * MINUTE)
    await redrive(desk.db)
    await desk.lease(ben)
    await desk.pass_time(4 * MINUTE)
    await desk.lease(await desk.person("cem"))
    rows = await desk.admin.fetch(
        "SELECT p.name, l.at FROM lease_log l JOIN principal p ON p.id = l.principal_id"
        " WHERE l.happening = 'lapse' ORDER BY l.id"
    )
    assert [row["name"] for row in rows] == ["ana", "ben"], "by redriver and by claim"
    assert rows[0]["at"] < rows[1]["at"]
