"""A lead takes back the lease that he saw, and only that one."""

from __future__ import annotations

import asyncio

import pytest

from backend.domain.identity import Identity
from backend.domain.refusals import Forbidden, NotFound, StaleLease
from backend.services.claim import claim, my_lease
from backend.services.redrive import redrive
from backend.services.take_back import take_back
from shared.vocabulary import Role, TakeBackReason
from shared.wire.item import TakeBackRequest
from tests.services.deeds import LAPSED, Told, fetch_back, give_up, go_on_at, history, set_aside
from tests.support.desk import QUEUE, Desk, new_key

AWAY = TakeBackRequest(lease_epoch=1, reason=TakeBackReason.HOLDER_AWAY)


@pytest.fixture
async def lead(desk: Desk) -> Identity:
    return await desk.person("lea", Role.LEAD)


async def test_a_lease_that_was_taken_back_decides_nothing_and_says_so(
    desk: Desk, lead: Identity
) -> None:
    ana, ben = await desk.person("ana"), await desk.person("ben")
    await desk.item()
    lease = await desk.lease(ana)
    taken = await fetch_back(desk, lead, lease)
    assert (taken.item_id, taken.holder) == (lease.item_id, "ana")
    assert (await my_lease(desk.db, desk.policy, ana)).lease is None
    with pytest.raises(StaleLease) as refused:
        await desk.decide(ana, lease)
    told = refused.value.extra
    assert (told["now"], told["holder"], told["can_reclaim"]) == ("taken_back", None, False)
    assert told["since"]
    await desk.decide(ben, await desk.lease(ben))


@pytest.mark.parametrize("swept", [False, True])
async def test_a_lapsed_lease_is_taken_back_too(desk: Desk, lead: Identity, swept: bool) -> None:
    ana = await desk.person("ana")
    await desk.item()
    lease = await desk.lease(ana)
    await desk.pass_time(LAPSED)
    if swept:
        await redrive(desk.db)
    assert (await fetch_back(desk, lead, lease)).holder == "ana"
    with pytest.raises(StaleLease):
        await desk.decide(ana, lease)


async def test_it_says_nothing_of_how_hard_the_item_is_and_keeps_the_holder_away(
    desk: Desk, lead: Identity
) -> None:
    ana = await desk.person("ana")
    await desk.item()
    await fetch_back(desk, lead, await desk.lease(ana))
    assert await desk.value("SELECT cardinality(left_by) FROM item") == 0
    assert (await claim(desk.db, desk.policy, ana, QUEUE, new_key())).lease is None
    await desk.pass_time(3 * LAPSED)
    assert (await desk.lease(ana)).content_id == "c-1"


async def test_the_log_says_from_whom_by_whom_and_why(desk: Desk, lead: Identity) -> None:
    ana = await desk.person("ana")
    await desk.item()
    await fetch_back(desk, lead, await desk.lease(ana))
    assert await history(desk) == [("grant", 1), ("take_back", 1)]
    row = await desk.admin.fetchrow("SELECT * FROM lease_log WHERE happening = 'take_back'")
    assert row is not None
    assert (row["principal_id"], row["by_principal"], row["reason"], row["token"]) == (
        ana.principal_id,
        lead.principal_id,
        "holder_away",
        None,
    )


async def test_the_same_again_is_answered_alike_whatever_happened_since(
    desk: Desk, lead: Identity
) -> None:
    ana, ben = await desk.person("ana"), await desk.person("ben")
    await desk.item()
    lease = await desk.lease(ana)
    first = await fetch_back(desk, lead, lease)
    mine = await desk.lease(ben)
    told = Told()
    assert await fetch_back(desk, lead, lease, tell=told) == first
    assert told.news == []
    assert (await my_lease(desk.db, desk.policy, ben)).lease is not None
    assert mine.item_id == lease.item_id
    assert await desk.value("SELECT count(*) FROM lease_log WHERE happening = 'take_back'") == 1


async def test_a_later_lease_of_the_item_stays(desk: Desk, lead: Identity) -> None:
    ana, ben = await desk.person("ana"), await desk.person("ben")
    await desk.item()
    lease = await desk.lease(ana)
    await desk.pass_time(LAPSED)
    await desk.lease(ben)
    with pytest.raises(StaleLease) as refused:
        await fetch_back(desk, lead, lease)
    told = refused.value.extra
    assert (told["now"], told["holder"], told["can_reclaim"]) == ("leased", "ben", False)
    assert (await my_lease(desk.db, desk.policy, ben)).lease is not None


async def test_a_lease_that_moved_to_another_terminal_is_not_the_one_that_was_seen(
    desk: Desk, lead: Identity
) -> None:
    ana = await desk.person("ana")
    await desk.item()
    lease = await desk.lease(ana)
    await go_on_at(desk, ana)
    with pytest.raises(StaleLease):
        await fetch_back(desk, lead, lease)
    assert (await fetch_back(desk, lead, lease, epoch=2)).holder == "ana"


async def test_what_ended_otherwise_is_told_as_it_is(desk: Desk, lead: Identity) -> None:
    people = [await desk.person(name) for name in ("ana", "ben", "cem")]
    for number in range(3):
        await desk.item(f"c-{number}", rank=9 - number)
    leases = [await desk.lease(who) for who in people]
    await desk.decide(people[0], leases[0])
    await give_up(desk, people[1], leases[1])
    await set_aside(desk, people[2], leases[2])
    for lease, word in zip(leases, ("resolved", "free", "parked"), strict=True):
        with pytest.raises(StaleLease) as refused:
            await fetch_back(desk, lead, lease)
        assert (refused.value.extra["now"], refused.value.extra["holder"]) == (word, None)


async def test_only_a_lead_of_the_items_queue_takes_back(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item()
    lease = await desk.lease(ana)
    for who in (
        await desk.person("other", Role.LEAD, queue="escalation"),
        await desk.person("colleague", Role.REVIEWER),
    ):
        with pytest.raises(Forbidden):
            await fetch_back(desk, who, lease)
    assert (await my_lease(desk.db, desk.policy, ana)).lease is not None
    assert (await fetch_back(desk, await desk.person("own", Role.LEAD, queue=QUEUE), lease)).holder


async def test_an_item_of_another_tenant_or_of_nobody_is_not_found(
    desk: Desk, lead: Identity
) -> None:
    other = await desk.admin.fetchval("INSERT INTO tenant (name) VALUES ('other') RETURNING id")
    item = await desk.item()
    stranger = Identity(
        principal_id=lead.principal_id,
        tenant_id=other,
        name="lea",
        key_id="k" * 12,
        grants=lead.grants,
    )
    for who, key in ((stranger, str(item)), (lead, "999"), (lead, "x")):
        with pytest.raises(NotFound):
            await take_back(desk.db, who, key, AWAY)


async def test_the_former_holder_and_the_queue_are_told(desk: Desk, lead: Identity) -> None:
    ana = await desk.person("ana")
    item = await desk.item()
    told = Told()
    await fetch_back(desk, lead, await desk.lease(ana), tell=told)
    assert (told.revoked, told.queues) == ([(item, ana.principal_id)], [QUEUE])


async def test_a_verdict_and_a_take_back_never_both_have_their_way(
    desk: Desk, lead: Identity
) -> None:
    people = [await desk.person(f"p{number}") for number in range(12)]
    for number in range(12):
        await desk.item(f"c-{number}")
    leases = [await desk.lease(who) for who in people]
    done = await asyncio.gather(
        *(desk.decide(who, lease) for who, lease in zip(people, leases, strict=True)),
        *(fetch_back(desk, lead, lease) for lease in leases),
        return_exceptions=True,
    )
    for decided, taken in zip(done[:12], done[12:], strict=True):
        assert isinstance(decided, StaleLease) != isinstance(taken, StaleLease), (decided, taken)
    assert await desk.value("SELECT count(*) FROM decision") == sum(
        not isinstance(decided, StaleLease) for decided in done[:12]
    )
