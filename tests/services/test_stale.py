"""What is said of a lease that is stale: what is true now, what is final first."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from backend.domain.identity import Identity
from backend.domain.refusals import StaleLease
from backend.services.lease import renew
from backend.services.redrive import redrive
from shared.vocabulary import Role, Verdict
from shared.wire.queue import Lease, RenewRequest
from tests.services.deeds import LAPSED, fetch_back, give_up, go_on_at, set_aside
from tests.support.desk import Desk

COOLDOWN = timedelta(minutes=11)


async def told(desk: Desk, who: Identity, lease: Lease) -> dict[str, Any]:
    """Return what a stale token is told; asking changes nothing."""
    with pytest.raises(StaleLease) as refused:
        await renew(
            desk.db, desk.policy, who, lease.item_id, RenewRequest(lease_token=lease.lease_token)
        )
    return refused.value.extra


async def word(desk: Desk, who: Identity, lease: Lease) -> str:
    extra = await told(desk, who, lease)
    assert set(extra) == {"now", "holder", "since", "can_reclaim"}
    now: str = extra["now"]
    return now


async def moved(desk: Desk, item_id: str) -> None:
    """Put an item elsewhere, as a lead's move does."""
    await desk.admin.execute(
        "UPDATE item SET queue = 'escalation', moved_at = clock(), state = 'queued', owner = NULL,"
        " fence_token = NULL, claim_key = NULL, terminal = NULL, leased_at = NULL,"
        " lease_expires = NULL, lease_epoch = lease_epoch + 1 WHERE id = $1",
        int(item_id),
    )


async def test_a_stale_lease_tells_who_holds_the_item_and_nothing_more(desk: Desk) -> None:
    ana, ben = await desk.person("ana"), await desk.person("ben")
    await desk.item()
    stale = await desk.lease(ana)
    await desk.pass_time(LAPSED)
    await desk.lease(ben)
    with pytest.raises(StaleLease) as refused:
        await desk.decide(ana, stale)
    told = refused.value.extra
    assert (told["now"], told["holder"], told["can_reclaim"]) == ("leased", "ben", False)
    assert told["since"]


async def test_of_two_who_worked_on_one_item_one_decides_and_the_other_sees_who_holds_it(
    desk: Desk,
) -> None:
    ana, ben = await desk.person("ana"), await desk.person("ben")
    await desk.item()
    slow = await desk.lease(ana)
    await desk.pass_time(LAPSED)
    theirs = await desk.lease(ben)
    with pytest.raises(StaleLease) as refused:
        await desk.decide(ana, slow, Verdict.REJECT)
    assert refused.value.extra["holder"] == "ben"
    await desk.decide(ben, theirs)
    with pytest.raises(StaleLease):
        await desk.decide(ana, slow, Verdict.REJECT)
    await desk.apply_all()
    assert await desk.value("SELECT count(*) FROM decision") == 1
    assert await desk.value("SELECT count(*) FROM outbox WHERE kind = 'webhook'") == 1
    assert await desk.value("SELECT state FROM content") == "allowed"


async def test_a_stale_lease_never_tells_the_colleagues_verdict(desk: Desk) -> None:
    ana, ben = await desk.person("ana"), await desk.person("ben")
    await desk.item()
    stale = await desk.lease(ana)
    await desk.pass_time(LAPSED)
    await desk.decide(ben, await desk.lease(ben))
    with pytest.raises(StaleLease) as refused:
        await desk.decide(ana, stale)
    told = refused.value.extra
    assert told["now"] == "resolved"
    assert set(told) == {"now", "holder", "since", "can_reclaim"}
    assert told["holder"] is None


async def test_it_can_be_claimed_again_only_by_whoever_is_not_kept_from_it(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item()
    lease = await desk.lease(ana)
    await give_up(desk, ana, lease)
    assert (await told(desk, ana, lease))["now"] == "free"
    assert (await told(desk, ana, lease))["can_reclaim"] is False
    await desk.pass_time(COOLDOWN)
    assert (await told(desk, ana, lease))["can_reclaim"] is True
    await desk.admin.execute("UPDATE item SET abandoned = true")
    assert (await told(desk, ana, lease))["can_reclaim"] is False


async def test_it_can_be_claimed_again_only_by_whoever_holds_nothing_else(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item("released", rank=2)
    await desk.item("other", rank=1)
    lease = await desk.lease(ana)
    await give_up(desk, ana, lease)
    other = await desk.lease(ana)
    await desk.pass_time(timedelta(minutes=2))
    await renew(
        desk.db, desk.policy, ana, other.item_id, RenewRequest(lease_token=other.lease_token)
    )
    await desk.admin.execute("UPDATE exclusion SET until = clock()")
    assert (await told(desk, ana, lease))["can_reclaim"] is False
    await desk.decide(ana, other)
    assert (await told(desk, ana, lease))["can_reclaim"] is True


async def test_it_can_be_claimed_again_only_where_one_may_work(desk: Desk) -> None:
    ana = await desk.person("ana", Role.REVIEWER, queue="posts")
    await desk.item()
    lease = await desk.lease(ana)
    await give_up(desk, ana, lease)
    await desk.pass_time(COOLDOWN)
    assert (await told(desk, ana, lease))["can_reclaim"] is True
    elsewhere = await desk.person("elsewhere", Role.REVIEWER, queue="cases")
    same = Identity(
        principal_id=ana.principal_id,
        tenant_id=1,
        name="ana",
        key_id="k" * 12,
        grants=elsewhere.grants,
    )
    assert (await told(desk, same, lease))["can_reclaim"] is False


async def test_what_another_let_run_out_is_free_unless_that_was_once_too_often(
    desk: Desk,
) -> None:
    ana, ben, cem = [await desk.person(name) for name in ("ana", "ben", "cem")]
    await desk.item()
    lease = await desk.lease(ana)
    await give_up(desk, ana, lease)
    await desk.pass_time(COOLDOWN)
    await desk.lease(ben)
    assert (await told(desk, ana, lease))["now"] == "leased"
    await desk.pass_time(LAPSED)
    assert (await told(desk, ana, lease))["can_reclaim"] is True
    await desk.lease(cem)
    await desk.admin.execute(
        "UPDATE item SET left_by = ARRAY[$1::bigint, $2::bigint]",
        ana.principal_id,
        ben.principal_id,
    )
    await desk.pass_time(LAPSED)
    extra = await told(desk, ana, lease)
    assert (extra["now"], extra["can_reclaim"]) == ("free", False), "the third makes it abandoned"


async def test_a_move_and_an_escalation_are_told_by_the_later_of_them(desk: Desk) -> None:
    people = [await desk.person(name) for name in ("ana", "ben", "cem")]
    await desk.item()
    leases = []
    for who in people:
        leases.append(await desk.lease(who))
        await desk.pass_time(LAPSED)
    await redrive(desk.db)
    extra = await told(desk, people[0], leases[0])
    assert (extra["now"], extra["can_reclaim"]) == ("escalated", False)
    await moved(desk, leases[0].item_id)
    assert await word(desk, people[0], leases[0]) == "moved"
    await desk.admin.execute("UPDATE item SET moved_at = escalated_at - interval '1 second'")
    assert await word(desk, people[0], leases[0]) == "escalated"


async def test_what_went_elsewhere_before_the_grant_is_not_told(desk: Desk) -> None:
    lea = await desk.person("lea", Role.REVIEWER, Role.LEAD)
    item = await desk.item()
    await moved(desk, str(item))
    lease = await desk.lease(lea, "escalation")
    await give_up(desk, lea, lease)
    assert await word(desk, lea, lease) == "free"


async def test_the_move_that_ended_a_token_is_told_even_if_its_clock_was_read_before(
    desk: Desk,
) -> None:
    ana = await desk.person("ana")
    item = await desk.item()
    lease = await desk.lease(ana)
    await moved(desk, str(item))
    await desk.admin.execute(
        "INSERT INTO lease_log (item_id, lease_epoch, happening, principal_id)"
        " VALUES ($1, 1, 'move', $2)",
        item,
        ana.principal_id,
    )
    await desk.admin.execute("UPDATE item SET moved_at = moved_at - interval '1 hour'")
    assert await word(desk, ana, lease) == "moved"


async def test_what_is_final_is_told_before_what_is_past(desk: Desk) -> None:
    ana, ben = await desk.person("ana"), await desk.person("ben")
    lea = await desk.person("lea", Role.REVIEWER, Role.LEAD)
    await desk.item()
    lease = await desk.lease(ana)
    await fetch_back(desk, lea, lease)
    assert await word(desk, ana, lease) == "taken_back"
    theirs = await desk.lease(ben)
    assert await word(desk, ana, lease) == "leased"
    await moved(desk, lease.item_id)
    assert await word(desk, ben, theirs) == "moved"
    assert await word(desk, ana, lease) == "moved"
    await set_aside(desk, lea, await desk.lease(lea, "escalation"))
    assert await word(desk, ana, lease) == "parked"
    await desk.pass_time(timedelta(days=31))
    await redrive(desk.db)
    assert await word(desk, ana, lease) == "moved"
    last = await desk.lease(lea, "escalation")
    await desk.decide(lea, last)
    assert await word(desk, ana, lease) == "resolved"


async def test_what_was_withdrawn_is_told_so(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item()
    lease = await desk.lease(ana)
    await give_up(desk, ana, lease)
    await desk.admin.execute(
        "UPDATE item SET state = 'resolved', resolution = 'withdrawn', resolved_at = clock()"
    )
    extra = await told(desk, ana, lease)
    assert (extra["now"], extra["can_reclaim"]) == ("withdrawn", False)
    assert extra["since"]


async def test_what_another_holds_is_told_before_what_one_once_took_over(desk: Desk) -> None:
    ana, ben = await desk.person("ana"), await desk.person("ben")
    await desk.item()
    first = await desk.lease(ana)
    second = await go_on_at(desk, ana)
    assert await word(desk, ana, first) == "taken_over"
    await desk.pass_time(LAPSED)
    assert await word(desk, ana, first) == "taken_over"
    await desk.lease(ben)
    for lease in (first, second):
        extra = await told(desk, ana, lease)
        assert (extra["now"], extra["holder"]) == ("leased", "ben")
