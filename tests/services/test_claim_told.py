"""What a claim tells beside the lease: whose token it ended, and in which terminal it is held."""

from __future__ import annotations

from datetime import timedelta

from backend.domain.identity import Identity
from backend.services.claim import claim, my_lease
from backend.services.lease import release
from backend.services.news import News
from backend.services.redrive import redrive
from shared.vocabulary import NewsKind, ReleaseReason
from shared.wire.queue import ClaimAnswer, ReleaseRequest
from tests.support.desk import QUEUE, Desk, new_key

LAPSED = timedelta(minutes=4)
COOLED = timedelta(minutes=15)
DEPTH = News(kind=NewsKind.QUEUE_DEPTH, tenant_id=1, queue=QUEUE)


def revoked(item_id: int, who: Identity) -> News:
    return News(
        kind=NewsKind.LEASE_REVOKED, tenant_id=1, item_pk=item_id, principal_id=who.principal_id
    )


async def told(
    desk: Desk, who: Identity, *, key: str | None = None, terminal: str | None = None
) -> tuple[ClaimAnswer, list[News]]:
    news: list[News] = []
    answer = await claim(
        desk.db, desk.policy, who, QUEUE, key or new_key(), terminal=terminal, tell=news.append
    )
    return answer, news


async def test_a_fresh_lease_ends_nobodys_token_and_comes_without_figures(desk: Desk) -> None:
    await desk.item()
    answer, news = await told(desk, await desk.person("ana"))
    assert answer.lease is not None
    assert answer.figures is None
    assert news == [DEPTH]


async def test_whoever_let_an_item_lapse_is_told_that_another_has_it(desk: Desk) -> None:
    ana, ben, cy = [await desk.person(name) for name in ("ana", "ben", "cy")]
    item = await desk.item()
    await desk.lease(ana)
    await desk.pass_time(LAPSED)
    assert (await told(desk, ben))[1] == [DEPTH, revoked(item, ana)], "given back by the claim"
    await desk.pass_time(LAPSED)
    await redrive(desk.db)
    assert (await told(desk, cy))[1] == [DEPTH, revoked(item, ben)], "given back before"


async def test_what_is_given_back_and_not_taken_is_still_its_holders(desk: Desk) -> None:
    ana, ben = await desk.person("ana"), await desk.person("ben")
    await desk.item("low", rank=1)
    lease = await desk.lease(ana)
    await desk.item("high", rank=9)
    await desk.pass_time(LAPSED)
    assert (await told(desk, ben))[1] == [DEPTH]
    await desk.decide(ana, lease)


async def test_ones_own_lapsed_token_is_told_of_only_in_another_terminal(desk: Desk) -> None:
    ana = await desk.person("ana")
    item = await desk.item()
    for terminal, ends in (("one", False), ("one", False), ("two", True)):
        answer, news = await told(desk, ana, terminal=terminal)
        assert answer.lease is not None
        assert (revoked(item, ana) in news) is ends
        await desk.pass_time(LAPSED)
        await redrive(desk.db)
        await desk.pass_time(COOLED)


async def test_a_claim_that_got_nothing_and_a_retry_tell_nothing(desk: Desk) -> None:
    ana, key = await desk.person("ana"), new_key()
    assert (await told(desk, ana))[1] == []
    await desk.item()
    await told(desk, ana, key=key)
    answer, news = await told(desk, ana, key=key)
    assert answer.lease is not None
    assert (answer.figures, news) == (None, [])


async def test_the_terminal_of_a_lease_is_the_one_that_claimed_it_and_goes_with_it(
    desk: Desk,
) -> None:
    ana, ben = await desk.person("ana"), await desk.person("ben")
    await desk.item()
    await told(desk, ana, terminal="one")
    await desk.pass_time(LAPSED)
    await redrive(desk.db)
    mine = (await my_lease(desk.db, desk.policy, ana)).lease
    assert mine is not None
    assert mine.terminal == "one", "lapsed, and still to be decided there"
    answer, _ = await told(desk, ben)
    assert answer.lease is not None
    assert answer.lease.terminal is None
    assert await desk.value("SELECT terminal FROM item") is None


async def test_an_item_of_a_terminal_can_be_released_and_decided(desk: Desk) -> None:
    ana, ben = await desk.person("ana"), await desk.person("ben")
    await desk.item()
    answer, _ = await told(desk, ana, terminal="one")
    assert answer.lease is not None
    request = ReleaseRequest(lease_token=answer.lease.lease_token, reason=ReleaseReason.TECH)
    await release(desk.db, ana, answer.lease.item_id, request)
    answer, _ = await told(desk, ben, terminal="two")
    assert answer.lease is not None
    await desk.decide(ben, answer.lease)
    assert await desk.value("SELECT state FROM item") == "resolved"


async def test_a_queue_that_drains_is_served_to_its_last_item(desk: Desk) -> None:
    await desk.item()
    await desk.admin.execute("UPDATE queue SET draining = true")
    assert (await told(desk, await desk.person("ana")))[0].lease is not None
