"""One person at two terminals: the second takes over, and the first can't decide any more."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from backend.domain.refusals import StaleLease
from backend.services.claim import my_lease
from backend.services.lease import renew
from backend.services.redrive import redrive
from backend.services.take_over import take_over
from shared.wire.queue import RenewRequest, TakeOverRequest
from tests.services.deeds import LAPSED, Told, give_up, go_on_at, history, set_aside
from tests.support.desk import Desk, new_key


async def test_the_second_terminal_gets_a_token_and_the_firsts_is_dead(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item()
    first = await desk.lease(ana)
    second = await go_on_at(desk, ana)
    assert second.item_id == first.item_id
    assert second.lease_token != first.lease_token
    assert second.terminal == "second"
    assert second.lease_count == first.lease_count
    with pytest.raises(StaleLease) as refused:
        await desk.decide(ana, first)
    told = refused.value.extra
    assert (told["now"], told["holder"], told["can_reclaim"]) == ("taken_over", None, False)
    assert told["since"]
    await desk.decide(ana, second)
    assert await history(desk) == [("grant", 1), ("take_over", 2)]


async def test_the_first_terminal_can_do_nothing_with_the_lease_any_more(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item()
    first = await desk.lease(ana)
    second = await go_on_at(desk, ana)
    token = RenewRequest(lease_token=first.lease_token)
    for deed in (
        lambda: renew(desk.db, desk.policy, ana, first.item_id, token),
        lambda: give_up(desk, ana, first),
        lambda: set_aside(desk, ana, first),
        lambda: desk.decide(ana, first),
    ):
        with pytest.raises(StaleLease):
            await deed()
    await desk.decide(ana, second)


async def test_the_same_request_again_returns_the_same_token(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item()
    await desk.lease(ana)
    key = new_key()
    first, again = await go_on_at(desk, ana, key=key), await go_on_at(desk, ana, key=key)
    assert first.lease_token == again.lease_token
    assert await desk.value("SELECT count(*) FROM lease_log WHERE happening = 'take_over'") == 1


async def test_one_request_sent_twice_at_once_rotates_once(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item()
    await desk.lease(ana)
    key = new_key()
    leases = await asyncio.gather(*(go_on_at(desk, ana, key=key) for _ in range(5)))
    assert len({lease.lease_token for lease in leases}) == 1
    assert await desk.value("SELECT lease_epoch FROM item") == 2


async def test_of_two_terminals_that_take_over_at_once_one_has_the_lease(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item()
    await desk.lease(ana)
    leases = await asyncio.gather(*(go_on_at(desk, ana, f"t-{n}") for n in range(5)))
    assert await desk.value("SELECT lease_epoch FROM item") == 6
    good = await desk.value("SELECT fence_token::text FROM item")
    assert [lease.lease_token for lease in leases].count(good) == 1


async def test_whoever_holds_nothing_takes_nothing_over(desk: Desk) -> None:
    ana, ben = await desk.person("ana"), await desk.person("ben")
    await desk.item()
    lease = await desk.lease(ana)
    request = TakeOverRequest(claim_key=new_key())
    told = Told()
    assert (await take_over(desk.db, desk.policy, ben, request, tell=told)).lease is None
    mine = (await my_lease(desk.db, desk.policy, ana)).lease
    assert mine is not None
    assert mine.lease_token == lease.lease_token
    await give_up(desk, ana, lease)
    assert (await take_over(desk.db, desk.policy, ana, request, tell=told)).lease is None
    assert told.news == []


@pytest.mark.parametrize("swept", [False, True])
async def test_a_lapsed_lease_that_nobody_took_lives_again(desk: Desk, swept: bool) -> None:
    ana = await desk.person("ana")
    await desk.item()
    await desk.lease(ana)
    await desk.pass_time(LAPSED)
    if swept:
        await redrive(desk.db)
    lease = await go_on_at(desk, ana)
    assert 170_000 < lease.expires_in_ms <= 180_000
    assert await desk.value("SELECT state FROM item") == "leased"
    await desk.decide(ana, lease)


async def test_what_another_has_taken_is_not_taken_over(desk: Desk) -> None:
    ana, ben = await desk.person("ana"), await desk.person("ben")
    await desk.item()
    await desk.lease(ana)
    await desk.pass_time(LAPSED)
    await desk.lease(ben)
    request = TakeOverRequest(claim_key=new_key())
    assert (await take_over(desk.db, desk.policy, ana, request)).lease is None
    assert await desk.value("SELECT lease_epoch FROM item") == 2


async def test_the_live_lease_is_taken_over_and_not_the_lapsed_one(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item("lapsed", rank=2)
    await desk.item("live", rank=1)
    lapsed = await desk.lease(ana)
    await desk.pass_time(LAPSED)
    await desk.lease(ana)
    assert (await go_on_at(desk, ana)).content_id == "live"
    await desk.decide(ana, lapsed)


async def test_taking_over_stretches_no_lease_beyond_the_longest_hold(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item()
    await desk.lease(ana)
    await desk.pass_time(timedelta(minutes=59))
    assert 0 < (await go_on_at(desk, ana, "a")).expires_in_ms <= 60_000
    await desk.pass_time(timedelta(minutes=2))
    late = await go_on_at(desk, ana, "b")
    assert late.expires_in_ms <= 0
    await desk.decide(ana, late)


@pytest.mark.parametrize("swept", [False, True])
async def test_what_can_not_live_again_keeps_its_token_until_somebody_else_has_it(
    desk: Desk, swept: bool
) -> None:
    ana, ben = await desk.person("ana"), await desk.person("ben")
    await desk.item()
    first, told = await desk.lease(ana), Told()
    await desk.pass_time(timedelta(days=1))
    if swept:
        await redrive(desk.db)
    asked = TakeOverRequest(claim_key=new_key(), terminal="second")
    second = (await take_over(desk.db, desk.policy, ana, asked, tell=told)).lease
    assert second is not None
    assert second.lease_token == first.lease_token
    assert second.expires_in_ms <= 0
    assert told.news == []
    await desk.lease(ben)
    assert await history(desk) == [("grant", 1), ("lapse", 1), ("grant", 2)]


async def test_a_lease_that_lives_beyond_a_hold_made_shorter_is_still_taken_over(
    desk: Desk,
) -> None:
    ana = await desk.person("ana")
    await desk.item()
    first = await desk.lease(ana)
    await desk.pass_time(timedelta(minutes=1))
    await desk.admin.execute("UPDATE queue SET max_hold = '1 s', lease_ttl = '1 s'")
    second = await go_on_at(desk, ana)
    assert second.lease_token != first.lease_token
    assert second.expires_in_ms > 0


async def test_the_other_terminal_is_told_and_so_is_the_queue_if_the_item_waited(
    desk: Desk,
) -> None:
    ana = await desk.person("ana")
    item = await desk.item()
    await desk.lease(ana)
    request, told = TakeOverRequest(claim_key=new_key()), Told()
    await take_over(desk.db, desk.policy, ana, request, tell=told)
    assert (told.revoked, told.queues) == ([(item, ana.principal_id)], [])
    await take_over(desk.db, desk.policy, ana, request, tell=told)
    assert len(told.news) == 1, "a repetition is no news"
    await desk.pass_time(LAPSED)
    await redrive(desk.db)
    told = Told()
    await take_over(desk.db, desk.policy, ana, TakeOverRequest(claim_key=new_key()), tell=told)
    assert (told.revoked, told.queues) == ([(item, ana.principal_id)], ["posts"])
