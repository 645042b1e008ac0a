"""The figures of the health screen equal what the tables hold."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec import structs

from backend.services.cockpit import health
from backend.services.items import item_page
from backend.services.redrive import redrive
from backend.services.reopen import reopen
from backend.services.submit import submit
from shared.vocabulary import ItemList, Role
from shared.wire.cockpit import QueueHealth
from shared.wire.item import ReopenRequest
from tests.services.deeds import set_aside
from tests.support.desk import QUEUE, Desk
from tests.support.gateway import row
from tests.support.office import RENAMED, change

LAPSED = timedelta(minutes=4)


async def of(desk: Desk, queue: str = QUEUE) -> QueueHealth:
    lead = await desk.person(f"lead-{queue}", Role.LEAD)
    figures = await health(desk.db, desk.policy, lead)
    return next(row for row in figures.queues if row.queue == queue)


async def test_waiting_in_review_and_leases_are_counted(desk: Desk) -> None:
    ana, ben = await desk.person("ana"), await desk.person("ben")
    for number in range(5):
        await desk.item(f"c-{number}", rank=number)
    await desk.lease(ana)
    await desk.pass_time(LAPSED)
    await desk.decide(ben, await desk.lease(ben))
    await desk.lease(ben)
    row = await of(desk)
    assert (row.waiting, row.in_review) == (3, 1)
    assert row.lease_counts == (3, 1, 0, 0, 0, 0)


async def test_the_oldest_is_counted_from_its_first_queueing(desk: Desk) -> None:
    await desk.item()
    await desk.pass_time(timedelta(minutes=7))
    row = await of(desk)
    assert row.oldest_ms is not None
    assert 415_000 <= row.oldest_ms <= 460_000
    assert row.sla_ms == 300_000


async def test_ages_are_those_that_the_sla_counts_held_items_among_them(desk: Desk) -> None:
    ana, ben = await desk.person("ana"), await desk.person("ben")
    await desk.item("c-1", rank=9)
    await desk.pass_time(timedelta(minutes=2))
    await set_aside(desk, ana, await desk.lease(ana))
    await desk.item("c-2", rank=8)
    await desk.pass_time(timedelta(minutes=60))
    row = await of(desk)
    assert (row.waiting, row.parked) == (1, 1)
    assert row.oldest_ms == pytest.approx(60 * 60_000, abs=5_000)
    assert row.lease_counts == (1, 1, 0, 0, 0, 0)
    await desk.lease(ben)
    held = await desk.person("held", Role.LEAD)
    (row,) = [
        each for each in (await health(desk.db, desk.policy, held)).queues if each.queue == QUEUE
    ]
    assert (row.waiting, row.in_review) == (0, 1)
    assert row.oldest_ms == pytest.approx(60 * 60_000, abs=5_000)
    # Woken, it is two minutes old: the hour did not count.
    await desk.admin.execute("UPDATE item SET wake_at = clock() WHERE state = 'parked'")
    await desk.admin.execute("DELETE FROM exclusion")
    await redrive(desk.db)
    page = await item_page(desk.db, desk.policy, held, QUEUE, ItemList.WAITING, None, 5)
    (line,) = page.items
    assert line.sla_age_ms == pytest.approx(2 * 60_000, abs=5_000)
    assert line.age_ms == pytest.approx(62 * 60_000, abs=5_000)


async def test_not_applied_leaves_out_undo_windows(desk: Desk) -> None:
    ana = await desk.person("ana")
    lead = await desk.person("lead", Role.LEAD)
    await desk.item()
    await desk.decide(ana, await desk.lease(ana))
    fresh = await health(desk.db, desk.policy, lead)
    assert (fresh.not_applied, fresh.waiting_to_apply) == (0, 1)
    await desk.pass_time(timedelta(minutes=6))
    late = await health(desk.db, desk.policy, lead)
    assert (late.not_applied, late.waiting_to_apply) == (1, 0)
    assert late.not_applied_oldest_ms is not None
    await desk.apply_all()
    assert (await health(desk.db, desk.policy, lead)).not_applied == 0


async def test_what_waits_for_a_score_is_counted_until_people_decided_or_it_was_withdrawn(
    desk: Desk,
) -> None:
    lead, ana = await desk.person("lead", Role.LEAD), await desk.person("ana")
    producer = await desk.person("shop", Role.PRODUCER)
    for number in range(3):
        sent = row(f"c-{number}")
        await submit(desk.db, desk.policy, producer, [structs.replace(sent, labels={})])

    async def held() -> int:
        return (await health(desk.db, desk.policy, lead)).held

    assert await held() == 3
    await reopen(desk.db, desk.policy, lead, "c-0", ReopenRequest())
    await desk.decide(ana, await desk.lease(ana))
    await desk.pass_time(timedelta(minutes=1))
    await desk.apply_all()
    assert await held() == 2
    await desk.admin.execute("UPDATE content SET withdrawn_at = clock() WHERE content_id = 'c-1'")
    assert await held() == 1
    assert await desk.value("SELECT count(*) FROM intake") == 3


async def test_a_lead_sees_the_queues_that_he_leads(desk: Desk) -> None:
    lead = await desk.person("lead", Role.LEAD, queue="cases")
    figures = await health(desk.db, desk.policy, lead)
    assert [row.queue for row in figures.queues] == ["cases"]


async def test_a_queue_that_is_gone_is_shown_only_while_something_is_left_in_it(
    desk: Desk,
) -> None:
    lead = await desk.person("lead", Role.LEAD)

    async def shown() -> dict[str, int]:
        return {
            each.queue: each.waiting for each in (await health(desk.db, desk.policy, lead)).queues
        }

    assert await shown() == {"cases": 0, "escalation": 0, "posts": 0}
    await change(desk, RENAMED)
    assert await shown() == {"escalation": 0, "files": 0, "posts": 0}
    # A long queue goes along in steps: what has not arrived yet is not lost from sight.
    await desk.item(queue="cases")
    assert await shown() == {"cases": 1, "escalation": 0, "files": 0, "posts": 0}
    await desk.admin.execute("UPDATE item SET queue = 'files'")
    assert await shown() == {"escalation": 0, "files": 1, "posts": 0}
    ana = await desk.person("ana")
    await set_aside(desk, ana, await desk.lease(ana, "files"))
    await desk.admin.execute("UPDATE item SET queue = 'cases'")
    assert (await shown())["cases"] == 0
