"""A lead wakes what was parked: before its time, for his own queues, and nothing else changes."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from backend.domain.identity import Identity
from backend.services.items import lease_page
from backend.services.wake import wake_items
from shared.vocabulary import BulkResult, LeaseHappening, Role
from shared.wire.item import BulkAnswer, WakeItemsRequest
from tests.services.deeds import Told, give_up, history, set_aside, stranger
from tests.support.desk import QUEUE, Desk

HOUR = timedelta(hours=1)
MOMENT = timedelta(seconds=5)


async def wake(desk: Desk, lead: Identity, *items: Any, tell: Told | None = None) -> BulkAnswer:
    request = WakeItemsRequest(items=tuple(map(str, items)))
    return await wake_items(desk.db, lead, request, tell=tell or Told())


def results(answer: BulkAnswer) -> list[BulkResult]:
    return [row.result for row in answer.rows]


async def test_what_a_lead_wakes_is_on_offer_at_once_as_it_was(desk: Desk) -> None:
    ana, lena = await desk.person("ana"), await desk.person("lena", Role.LEAD)
    item, told = await desk.item(rank=7), Told()
    await set_aside(desk, ana, await desk.lease(ana))
    at_rest = await desk.value("SELECT parked_at - sla_from FROM item")
    await desk.pass_time(8 * HOUR)
    answer = await wake(desk, lena, item, tell=told)
    assert (results(answer), answer.done, told.queues) == ([BulkResult.DONE], 1, [QUEUE])
    row = await desk.admin.fetchrow("SELECT *, clock() - sla_from AS age FROM item")
    assert row is not None
    assert (row["state"], row["rank"], row["parked_at"], row["wake_at"]) == (
        "queued",
        7,
        None,
        None,
    )
    assert abs(row["age"] - at_rest) < MOMENT
    assert (await desk.lease(await desk.person("ben"))).item_id == str(item)
    assert await history(desk) == [("grant", 1), ("park", 1), ("wake", 2), ("grant", 3)]
    (woken,) = [
        entry
        for entry in (await lease_page(desk.db, lena, str(item), None, 50)).entries
        if entry.happening is LeaseHappening.WAKE
    ]
    assert (woken.person, woken.by) == (None, "lena")


async def test_what_is_not_parked_is_left_as_it_is(desk: Desk) -> None:
    ana, lena = await desk.person("ana"), await desk.person("lena", Role.LEAD)
    waiting, held, decided = [await desk.item(f"c-{n}", rank=n) for n in range(3)]
    await desk.decide(ana, await desk.lease(ana))
    lease = await desk.lease(ana)
    assert lease.item_id == str(held)
    told = Told()
    answer = await wake(desk, lena, waiting, held, decided, 2**62, tell=told)
    unchanged = BulkResult.UNCHANGED
    assert results(answer) == [
        unchanged,
        unchanged,
        BulkResult.RESOLVED,
        BulkResult.NOT_FOUND,
    ]
    assert (answer.done, told.news) == (0, [])
    await give_up(desk, ana, lease)
    assert ("wake", 1) not in await history(desk)


async def test_the_same_again_wakes_once(desk: Desk) -> None:
    ana, lena = await desk.person("ana"), await desk.person("lena", Role.LEAD)
    item = await desk.item()
    await set_aside(desk, ana, await desk.lease(ana))
    for result in (BulkResult.DONE, BulkResult.UNCHANGED):
        assert results(await wake(desk, lena, item)) == [result]
    assert [word for word, _ in await history(desk)].count("wake") == 1


@pytest.mark.parametrize("foreign", [False, True])
async def test_only_a_lead_of_the_items_queue_wakes_it(desk: Desk, foreign: bool) -> None:
    ana = await desk.person("ana")
    item = await desk.item()
    await set_aside(desk, ana, await desk.lease(ana))
    who = await stranger(desk) if foreign else await desk.person("mia", Role.LEAD, queue="cases")
    expected = BulkResult.NOT_FOUND if foreign else BulkResult.FORBIDDEN
    assert results(await wake(desk, who, item)) == [expected]
    assert await desk.value("SELECT state FROM item") == "parked"


async def test_what_was_woken_early_may_rest_for_the_time_that_is_left(desk: Desk) -> None:
    ana, lena = await desk.person("ana"), await desk.person("lena", Role.LEAD)
    item = await desk.item()
    for _ in range(3):
        await set_aside(desk, ana, await desk.lease(ana))
        await desk.pass_time(HOUR)
        await wake(desk, lena, item)
    parked = await set_aside(desk, ana, await desk.lease(ana))
    longest = timedelta(milliseconds=desk.policy.queues[QUEUE].max_park_ms)
    left = parked.wake_at - await desk.value("SELECT clock()")
    assert abs(longest - 3 * HOUR - left) < MOMENT
