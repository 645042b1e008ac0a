"""The lists of leads: whole, in order, page by page, and the same whatever happens in between."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from backend.domain.identity import Identity
from backend.domain.refusals import Forbidden, InvalidField, NotFound
from backend.services.items import item_page, lease_page
from backend.services.lease import renew
from backend.services.move import move
from backend.services.redrive import redrive
from shared.vocabulary import ItemList, ItemState, LeaseHappening, ReleaseReason, Role
from shared.wire.item import LeaseEntry, MoveRequest
from shared.wire.queue import RenewRequest
from tests.services.deeds import LAPSED, fetch_back, give_up, set_aside, stranger
from tests.services.lists import ids, lines, pages
from tests.support.desk import QUEUE, Desk


@pytest.fixture
async def lead(desk: Desk) -> Identity:
    return await desk.person("lead", Role.LEAD)


async def history(desk: Desk, lead: Identity, item: int, size: int) -> list[LeaseEntry]:
    """Page through what happened to the leases of an item, to its end."""
    found: list[LeaseEntry] = []
    after = None
    while True:
        page = await lease_page(desk.db, lead, str(item), after, size)
        found.extend(page.entries)
        after = page.after
        if after is None:
            return found


async def test_what_waits_is_listed_as_it_is_served(desk: Desk, lead: Identity) -> None:
    for number, rank in enumerate([5, 1, 9, 5, 5, 2, 5]):
        await desk.item(f"c-{number}", rank=rank)
    await desk.item("elsewhere", queue="cases")
    found = await pages(desk, lead, ItemList.WAITING, 2)
    assert [len(page) for page in found] == [2, 2, 2, 1]
    listed = ids([line for page in found for line in page])
    assert listed == ["c-2", "c-0", "c-3", "c-4", "c-6", "c-5", "c-1"]
    served = [(await desk.lease(await desk.person(f"p{number}"))).content_id for number in range(7)]
    assert served == listed
    assert await pages(desk, lead, ItemList.WAITING) == [[]]


async def test_what_comes_and_goes_shifts_no_page(desk: Desk, lead: Identity) -> None:
    items = [await desk.item(f"c-{number}", rank=50 - number) for number in range(9)]
    first = await item_page(desk.db, desk.policy, lead, QUEUE, ItemList.WAITING, None, 3)
    assert ids(first.items) == ["c-0", "c-1", "c-2"]
    # One goes from the first page, one comes before it, one at its very end, one behind it.
    request = MoveRequest(items=(str(items[1]), str(items[2])), to="cases")
    await move(desk.db, desk.policy, lead, request)
    await desk.item("before", rank=99)
    await desk.item("equal", rank=48)
    await desk.item("behind", rank=1)
    second = await item_page(desk.db, desk.policy, lead, QUEUE, ItemList.WAITING, first.after, 20)
    assert ids(second.items) == ["equal", *(f"c-{number}" for number in range(3, 9)), "behind"]
    assert second.after is None


async def test_what_is_held_is_listed_by_its_end_run_out_leases_too(
    desk: Desk, lead: Identity
) -> None:
    for number in range(4):
        await desk.item(f"c-{number}", rank=9 - number)
        await desk.lease(await desk.person(f"p{number}"))
        await desk.pass_time(timedelta(seconds=59))
    found = await lines(desk, lead, ItemList.HELD, 1)
    assert ids(found) == ["c-0", "c-1", "c-2", "c-3"]
    assert [line.holder for line in found] == ["p0", "p1", "p2", "p3"]
    ends = [line.ends_in_ms for line in found]
    assert ends[0] is not None
    assert ends[3] is not None
    assert ends[0] < 0 < ends[3]
    assert {line.state for line in found} == {ItemState.LEASED}
    assert [line.lease_epoch for line in found] == [1] * 4


async def test_what_is_parked_is_listed_by_when_it_wakes(desk: Desk, lead: Identity) -> None:
    ana = await desk.person("ana")
    for number, days in enumerate([3, 1, 2]):
        await desk.item(f"c-{number}")
        until = await desk.value("SELECT clock()") + timedelta(days=days)
        await set_aside(desk, ana, await desk.lease(ana), until=until)
    await desk.pass_time(timedelta(minutes=30))
    found = await lines(desk, lead, ItemList.PARKED, 1)
    assert ids(found) == ["c-1", "c-2", "c-0"]
    assert found[0].age_ms > 29 * 60_000 > found[0].sla_age_ms
    assert found[0].holder is None
    assert found[0].since is not None


async def test_what_people_left_undecided_is_listed_until_it_moves(
    desk: Desk, lead: Identity
) -> None:
    for number in range(5):
        await desk.item(f"c-{number}", queue="escalation")
    people = [await desk.person(f"p{number}") for number in range(3)]
    for who in people:
        for _ in range(2):
            lease = await desk.lease(who, "escalation")
            await give_up(desk, who, lease, ReleaseReason.NEED_TIME)
    escalating = await lines(desk, lead, ItemList.STUCK, 1, "escalation")
    assert ids(escalating) == ["c-0", "c-1"]
    assert [(line.abandoned, line.stuck) for line in escalating] == [(True, False)] * 2
    assert ids(await lines(desk, lead, ItemList.WAITING, 9, "escalation")) == ["c-2", "c-3", "c-4"]
    await redrive(desk.db)
    stuck = await lines(desk, lead, ItemList.STUCK, 1, "escalation")
    assert [(line.abandoned, line.stuck) for line in stuck] == [(False, True)] * 2
    assert len(await lines(desk, lead, ItemList.WAITING, 9, "escalation")) == 5
    ben = await desk.person("ben")
    await desk.lease(ben, "escalation")
    stuck = await lines(desk, lead, ItemList.STUCK, 9, "escalation")
    assert [line.holder for line in stuck] == ["ben", None]


async def test_the_history_of_an_item_says_who_held_it_and_who_ended_it(
    desk: Desk, lead: Identity
) -> None:
    ana, ben = await desk.person("ana"), await desk.person("ben")
    item = await desk.item()
    lease = await desk.lease(ana)
    for _ in range(3):
        await renew(
            desk.db, desk.policy, ana, lease.item_id, RenewRequest(lease_token=lease.lease_token)
        )
    await give_up(desk, ana, lease)
    second = await desk.lease(ben)
    await renew(
        desk.db, desk.policy, ben, second.item_id, RenewRequest(lease_token=second.lease_token)
    )
    await fetch_back(desk, lead, second, 3)
    found = await history(desk, lead, item, 2)
    assert [(e.happening, e.lease_epoch, e.person, e.by, e.times) for e in found] == [
        (LeaseHappening.GRANT, 1, "ana", None, 1),
        (LeaseHappening.RENEW, 1, "ana", None, 3),
        (LeaseHappening.RELEASE, 1, "ana", None, 1),
        (LeaseHappening.GRANT, 3, "ben", None, 1),
        (LeaseHappening.RENEW, 3, "ben", None, 1),
        (LeaseHappening.TAKE_BACK, 3, "ben", "lead", 1),
    ]
    assert [e.reason for e in found if e.reason] == ["tech", "holder_away"]
    assert [e.at for e in found] == sorted(e.at for e in found)


async def test_renewals_on_both_sides_of_a_lapse_are_two_entries(
    desk: Desk, lead: Identity
) -> None:
    ana = await desk.person("ana")
    item = await desk.item()
    lease = await desk.lease(ana)
    await renew(
        desk.db, desk.policy, ana, lease.item_id, RenewRequest(lease_token=lease.lease_token)
    )
    await desk.pass_time(LAPSED)
    await redrive(desk.db)
    for _ in range(2):
        await renew(
            desk.db, desk.policy, ana, lease.item_id, RenewRequest(lease_token=lease.lease_token)
        )
    page = await lease_page(desk.db, lead, str(item), None, 50)
    told = [(entry.happening.value, entry.times) for entry in page.entries]
    assert told == [("grant", 1), ("renew", 1), ("lapse", 1), ("renew", 2)]


async def test_a_lease_that_a_verdict_ended_says_so_and_not_which(
    desk: Desk, lead: Identity
) -> None:
    ana, ben = await desk.person("ana"), await desk.person("ben")
    item, other = await desk.item(), await desk.item("c-2", rank=1)
    await give_up(desk, ana, await desk.lease(ana))
    lease = await desk.lease(ben)
    await renew(
        desk.db, desk.policy, ben, lease.item_id, RenewRequest(lease_token=lease.lease_token)
    )
    assert [e.happening.value for e in await history(desk, lead, item, 50)][-1] == "renew"
    begun = await lease_page(desk.db, lead, str(item), None, 2)
    await desk.pass_time(LAPSED)  # late, and good still
    await redrive(desk.db)
    await desk.decide(ben, lease)
    for size in range(1, 8):
        found = await history(desk, lead, item, size)
        assert [(e.happening.value, e.lease_epoch, e.person, e.by, e.times) for e in found] == [
            ("grant", 1, "ana", None, 1),
            ("release", 1, "ana", None, 1),
            ("grant", 3, "ben", None, 1),
            ("renew", 3, "ben", None, 1),
            ("lapse", 3, "ben", None, 1),
            ("verdict", 3, "ben", None, 1),
        ]
        assert found[-1].reason is None
        assert [e.at for e in found] == sorted(e.at for e in found)
    found = await history(desk, lead, item, 50)
    rest = await lease_page(desk.db, lead, str(item), begun.after, 50)
    assert rest.entries == tuple(found[2:])
    assert await history(desk, lead, other, 50) == []


@pytest.mark.parametrize("wanted", ItemList)
async def test_a_list_is_for_those_who_lead_its_queue(
    desk: Desk, lead: Identity, wanted: ItemList
) -> None:
    ana = await desk.person("ana")
    cora = await desk.person("cora", Role.LEAD, queue="cases")
    for who in (ana, cora):
        with pytest.raises(Forbidden):
            await item_page(desk.db, desk.policy, who, QUEUE, wanted, None, 5)
    with pytest.raises(NotFound):
        await item_page(desk.db, desk.policy, lead, "no-such-queue", wanted, None, 5)
    other = await stranger(desk)
    await desk.item()
    assert (await item_page(desk.db, desk.policy, other, QUEUE, wanted, None, 5)).items == ()


async def test_the_history_is_for_leads_of_the_items_queue(desk: Desk, lead: Identity) -> None:
    item = await desk.item()
    cora = await desk.person("cora", Role.LEAD, queue="cases")
    with pytest.raises(Forbidden):
        await lease_page(desk.db, cora, str(item), None, 5)
    for nothing in ("x", "", str(2**62), "9" * 30):
        with pytest.raises(NotFound):
            await lease_page(desk.db, lead, nothing, None, 5)
    with pytest.raises(NotFound):
        await lease_page(desk.db, await stranger(desk), str(item), None, 5)


async def test_a_cursor_of_another_list_and_a_silly_size_are_refused(
    desk: Desk, lead: Identity
) -> None:
    for number in range(3):
        await desk.item(f"c-{number}")
    page = await item_page(desk.db, desk.policy, lead, QUEUE, ItemList.WAITING, None, 1)
    wrong: list[tuple[Any, str, str]] = [
        (ItemList.HELD, QUEUE, page.after or ""),
        (ItemList.WAITING, "cases", page.after or ""),
        (ItemList.WAITING, QUEUE, "x"),
        (ItemList.WAITING, QUEUE, ""),
    ]
    for wanted, queue, after in wrong:
        with pytest.raises(InvalidField) as refused:
            await item_page(desk.db, desk.policy, lead, queue, wanted, after, 5)
        assert refused.value.field == "after"
    with pytest.raises(InvalidField):
        await lease_page(desk.db, lead, "1", page.after, 5)
    for size in (0, -1, 201):
        with pytest.raises(InvalidField) as refused:
            await item_page(desk.db, desk.policy, lead, QUEUE, ItemList.WAITING, None, size)
        assert refused.value.field == "limit"
