"""Between grant and end: renewing, releasing, running out, and what is said of a stale lease."""

from __future__ import annotations

from datetime import timedelta

import pytest

from backend.domain.identity import Identity
from backend.domain.refusals import NotFound, StaleLease
from backend.services.claim import claim, my_lease
from backend.services.lease import release, renew
from backend.services.redrive import redrive
from shared.vocabulary import ReleaseReason
from shared.wire.queue import Lease, ReleaseRequest, RenewRequest
from tests.support.desk import QUEUE, Desk, new_key

MINUTE = timedelta(minutes=1)


async def give_up(desk: Desk, who: Identity, lease: Lease, reason: ReleaseReason) -> None:
    request = ReleaseRequest(lease_token=lease.lease_token, reason=reason)
    await release(desk.db, who, lease.item_id, request)


async def test_renewing_gives_a_whole_lease_again(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item()
    lease = await desk.lease(ana)
    await desk.pass_time(2 * MINUTE)
    renewed = await renew(desk.db, ana, lease.item_id, RenewRequest(lease_token=lease.lease_token))
    assert 170_000 < renewed.expires_in_ms <= 180_000
    assert not renewed.capped


async def test_renewals_end_at_the_queues_longest_hold(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item()
    lease = await desk.lease(ana)
    request = RenewRequest(lease_token=lease.lease_token)
    for _ in range(28):
        await desk.pass_time(2 * MINUTE)
        assert not (await renew(desk.db, ana, lease.item_id, request)).capped
    await desk.pass_time(2 * MINUTE)
    renewed = await renew(desk.db, ana, lease.item_id, request)
    assert renewed.capped
    assert renewed.expires_in_ms <= 120_000
    await desk.pass_time(5 * MINUTE)
    assert (await renew(desk.db, ana, lease.item_id, request)).expires_in_ms < 0


async def test_a_lapsed_lease_that_nobody_took_can_be_renewed(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item()
    lease = await desk.lease(ana)
    await desk.pass_time(4 * MINUTE)
    await redrive(desk.db)
    await renew(desk.db, ana, lease.item_id, RenewRequest(lease_token=lease.lease_token))
    mine = (await my_lease(desk.db, desk.policy, ana)).lease
    assert mine is not None
    assert mine.lease_token == lease.lease_token
    assert mine.expires_in_ms > 0


async def test_somebody_elses_token_renews_nothing(desk: Desk) -> None:
    ana, ben = await desk.person("ana"), await desk.person("ben")
    await desk.item()
    lease = await desk.lease(ana)
    with pytest.raises(StaleLease) as refused:
        await renew(desk.db, ben, lease.item_id, RenewRequest(lease_token=lease.lease_token))
    assert refused.value.extra == {}


@pytest.mark.parametrize("item_id", ["0", "999999", "9" * 19, "9" * 40, "-1", "x", "", "\uff11"])
async def test_an_item_that_is_not_there_is_not_found(desk: Desk, item_id: str) -> None:
    ana = await desk.person("ana")
    with pytest.raises(NotFound):
        await renew(desk.db, ana, item_id, RenewRequest(lease_token=new_key()))


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


async def test_a_stale_lease_tells_who_holds_the_item_and_nothing_more(desk: Desk) -> None:
    ana, ben = await desk.person("ana"), await desk.person("ben")
    await desk.item()
    stale = await desk.lease(ana)
    await desk.pass_time(4 * MINUTE)
    await desk.lease(ben)
    with pytest.raises(StaleLease) as refused:
        await desk.decide(ana, stale)
    told = refused.value.extra
    assert (told["now"], told["holder"], told["can_reclaim"]) == ("leased", "ben", False)
    assert told["since"]


async def test_a_stale_lease_never_tells_the_colleagues_verdict(desk: Desk) -> None:
    ana, ben = await desk.person("ana"), await desk.person("ben")
    await desk.item()
    stale = await desk.lease(ana)
    await desk.pass_time(4 * MINUTE)
    await desk.decide(ben, await desk.lease(ben))
    with pytest.raises(StaleLease) as refused:
        await desk.decide(ana, stale)
    told = refused.value.extra
    assert told["now"] == "resolved"
    assert set(told) == {"now", "holder", "since", "can_reclaim"}
    assert told["holder"] is None
