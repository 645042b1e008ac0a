"""Set aside: until a date or new evidence, the producer asked, the SLA clock stopped."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta

import pytest

from backend.domain.identity import Identity
from backend.domain.refusals import Forbidden, InvalidField, StaleLease
from backend.services.claim import claim, my_lease
from backend.services.lease import renew
from backend.services.park import park
from backend.services.redrive import redrive
from backend.services.reopen import reopen
from shared.vocabulary import ParkReason, Role
from shared.wire.item import ParkRequest, ReopenRequest
from shared.wire.queue import RenewRequest
from tests.services.deeds import LAPSED, Told, asked_about, history, set_aside
from tests.support.desk import QUEUE, Desk, new_key
from tests.support.trail import assert_every_chain_is_whole

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
MOMENT = timedelta(seconds=5)


async def now(desk: Desk) -> datetime:
    at: datetime = await desk.value("SELECT clock()")
    return at


async def test_a_parked_item_is_nobodys_and_on_offer_to_nobody(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item()
    lease = await desk.lease(ana)
    parked = await set_aside(desk, ana, lease, until=await now(desk) + HOUR)
    assert parked.item_id == lease.item_id
    assert (await my_lease(desk.db, desk.policy, ana)).lease is None
    row = await desk.admin.fetchrow("SELECT * FROM item")
    assert row is not None
    assert (row["state"], row["owner"], row["fence_token"], row["lease_expires"]) == (
        "parked",
        None,
        None,
        None,
    )
    assert row["wake_at"] == parked.wake_at
    assert list(row["left_by"]) == []
    ben = await desk.person("ben")
    assert (await claim(desk.db, desk.policy, ben, QUEUE, new_key())).lease is None
    assert await history(desk) == [("grant", 1), ("park", 1)]


async def test_it_comes_back_by_itself_ranked_as_before_and_the_sla_clock_stood_still(
    desk: Desk,
) -> None:
    ana, ben = await desk.person("ana"), await desk.person("ben")
    await desk.item("parked", rank=9)
    await desk.item("other", rank=5)
    before = await desk.admin.fetchrow("SELECT * FROM item WHERE rank = 9")
    assert before is not None
    await desk.pass_time(HOUR)
    parked = await set_aside(desk, ana, await desk.lease(ana), until=await now(desk) + 8 * HOUR)
    at_rest = await desk.value("SELECT clock() - sla_from FROM item WHERE rank = 9")
    await desk.pass_time(7 * HOUR)
    assert (await redrive(desk.db)).woken == 0
    await desk.pass_time(HOUR)
    assert (await redrive(desk.db)).woken == 1
    row = await desk.admin.fetchrow("SELECT *, clock() - sla_from AS age FROM item WHERE rank = 9")
    assert row is not None
    assert (row["state"], row["wake_at"], row["parked_at"]) == ("queued", None, None)
    assert row["rank"] == before["rank"]
    assert row["first_enqueued_at"] == before["first_enqueued_at"]
    assert abs(row["age"] - at_rest) < MOMENT
    assert await now(desk) >= parked.wake_at
    assert (await desk.lease(ben)).content_id == "parked"
    assert await history(desk) == [("grant", 1), ("park", 1), ("wake", 2), ("grant", 3)]


async def test_the_item_comes_back_also_if_the_redriver_never_runs(desk: Desk) -> None:
    ana, ben = await desk.person("ana"), await desk.person("ben")
    await desk.item()
    await set_aside(desk, ana, await desk.lease(ana), until=await now(desk) + HOUR)
    await desk.pass_time(HOUR)
    assert (await desk.lease(ben)).content_id == "c-1"


async def test_without_a_date_it_comes_back_after_the_queues_longest_time(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item()
    parked = await set_aside(desk, ana, await desk.lease(ana))
    longest = timedelta(milliseconds=desk.policy.queues[QUEUE].max_park_ms)
    assert timedelta(0) <= await now(desk) + longest - parked.wake_at < MOMENT


@pytest.mark.parametrize(
    "away", [-HOUR, timedelta(0), timedelta(days=31), timedelta(days=365 * 7000)]
)
async def test_a_date_that_is_past_or_too_far_is_refused_and_the_lease_kept(
    desk: Desk, away: timedelta
) -> None:
    ana = await desk.person("ana")
    await desk.item()
    lease = await desk.lease(ana)
    with pytest.raises(InvalidField) as refused:
        await set_aside(desk, ana, lease, until=await now(desk) + away)
    assert refused.value.field == "until"
    await desk.decide(ana, lease)


@pytest.mark.parametrize("short", [timedelta(seconds=58), timedelta(seconds=1)])
async def test_nothing_is_parked_for_less_than_a_minute(desk: Desk, short: timedelta) -> None:
    ana = await desk.person("ana")
    await desk.item()
    lease = await desk.lease(ana)
    with pytest.raises(InvalidField) as refused:
        await set_aside(desk, ana, lease, until=await now(desk) + short)
    assert refused.value.field == "until"
    await set_aside(desk, ana, lease, until=await now(desk) + timedelta(seconds=62))


async def test_all_parkings_of_a_round_together_last_no_longer_than_one_may(desk: Desk) -> None:
    ana, ben = await desk.person("ana"), await desk.person("ben")
    await desk.item()
    await desk.pass_time(3 * DAY)
    for days in (20, 4):
        until = await now(desk) + days * DAY
        await set_aside(desk, ana, await desk.lease(ana), until=until)
        await desk.pass_time(days * DAY)
    lease = await desk.lease(ben)
    with pytest.raises(InvalidField) as refused:
        await set_aside(desk, ben, lease, until=await now(desk) + 6 * DAY + HOUR)
    assert refused.value.field == "until"
    # The latest time that may be is told, and is what a parking without a date lasts.
    told = datetime.fromisoformat(str(refused.value).split(" to ")[1])
    assert abs(told - await now(desk) - 6 * DAY) < MOMENT
    parked = await set_aside(desk, ben, lease)
    assert abs(parked.wake_at - told) < MOMENT
    await desk.pass_time(6 * DAY)
    lease = await desk.lease(ana)
    for late in (None, await now(desk) + HOUR):
        with pytest.raises(InvalidField, match="decide, release or escalate it"):
            await set_aside(desk, ana, lease, until=late)
    await desk.decide(ana, lease)


async def test_nobody_parks_one_round_more_than_twenty_times(desk: Desk) -> None:
    ana, ben = await desk.person("ana"), await desk.person("ben")
    await desk.item()
    for _ in range(20):
        await set_aside(desk, ana, await desk.lease(ana), until=await now(desk) + HOUR)
        await desk.pass_time(HOUR)
    lease = await desk.lease(ben)
    with pytest.raises(InvalidField, match="decide, release or escalate it"):
        await set_aside(desk, ben, lease, until=await now(desk) + HOUR)
    await desk.decide(ben, lease)


async def test_another_round_may_be_parked_anew(desk: Desk) -> None:
    ana, lena = await desk.person("ana"), await desk.person("lena", Role.LEAD)
    await desk.item()
    await set_aside(desk, ana, await desk.lease(ana))
    await desk.pass_time(30 * DAY)
    await desk.decide(ana, await desk.lease(ana))
    await desk.apply_all()
    await reopen(desk.db, desk.policy, lena, "c-1", ReopenRequest())
    parked = await set_aside(desk, ana, await desk.lease(ana))
    assert abs(parked.wake_at - await now(desk) - 30 * DAY) < MOMENT


async def test_the_first_and_the_last_day_of_the_calendar_are_refused_as_any_other(
    desk: Desk,
) -> None:
    ana = await desk.person("ana")
    await desk.item()
    lease = await desk.lease(ana)
    for until in (datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)):
        with pytest.raises(InvalidField):
            await set_aside(desk, ana, lease, until=until)


async def test_the_producer_is_asked_and_the_trail_says_so_without_a_word_of_it(
    desk: Desk,
) -> None:
    ana = await desk.person("ana")
    item = await desk.item()
    parked = await set_aside(desk, ana, await desk.lease(ana), question="whose bus?")
    (asked,) = (await asked_about(desk, ana, "c-1")).questions
    assert (asked.text, asked.reason, asked.open) == ("whose bus?", ParkReason.AWAIT_PRODUCER, True)
    assert (asked.item_id, asked.wake_at) == (str(item), parked.wake_at)
    out = await desk.admin.fetchrow("SELECT * FROM outbox")
    assert out is not None
    assert (out["kind"], out["key"]) == ("question", f"question:{asked.question_id}")
    told = json.loads(out["payload"])
    assert (told["question_id"], told["content_id"]) == (asked.question_id, "c-1")
    event = json.loads(await desk.value("SELECT canonical FROM event"))
    assert (event["type"], event["principal"]) == ("item.parked", str(ana.principal_id))
    assert event["data"]["question"] == asked.question_id
    assert told["seq"] == event["seq"]
    for said in (out["payload"], json.dumps(event).encode()):
        assert b"bus" not in said
    await assert_every_chain_is_whole(desk.admin)


async def test_the_same_again_is_answered_alike_and_done_once(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item()
    lease = await desk.lease(ana)
    answers = await asyncio.gather(*(set_aside(desk, ana, lease, question="?") for _ in range(5)))
    assert all(answer == answers[0] for answer in answers)
    told = Told()
    assert await set_aside(desk, ana, lease, tell=told) == answers[0]
    assert told.news == []
    for table in ("question", "outbox", "event"):
        assert await desk.value(f"SELECT count(*) FROM {table}") == 1
    await desk.pass_time(timedelta(days=31))
    ben = await desk.person("ben")
    assert (await desk.lease(ben)).content_id == "c-1"
    assert await set_aside(desk, ana, lease) == answers[0], "whatever happened since"


async def test_somebody_elses_token_parks_nothing_and_is_no_repetition(desk: Desk) -> None:
    ana, ben = await desk.person("ana"), await desk.person("ben")
    await desk.item()
    lease = await desk.lease(ana)
    for _ in range(2):
        with pytest.raises(StaleLease) as refused:
            await set_aside(desk, ben, lease)
        assert refused.value.extra == {}
        if await desk.value("SELECT state FROM item") == "leased":
            await set_aside(desk, ana, lease)


@pytest.mark.parametrize("swept", [False, True])
async def test_a_lease_that_has_run_out_parks_nothing_until_it_is_renewed(
    desk: Desk, swept: bool
) -> None:
    ana = await desk.person("ana")
    await desk.item()
    lease = await desk.lease(ana)
    await desk.pass_time(LAPSED)
    if swept:
        await redrive(desk.db)
    with pytest.raises(StaleLease) as refused:
        await set_aside(desk, ana, lease)
    told = refused.value.extra
    assert (told["now"], told["holder"], told["can_reclaim"]) == ("free", None, True)
    assert await desk.value("SELECT count(*) FROM question") == 0
    await renew(
        desk.db, desk.policy, ana, lease.item_id, RenewRequest(lease_token=lease.lease_token)
    )
    await set_aside(desk, ana, lease)


async def test_a_verdict_on_what_was_parked_is_told_so(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item()
    lease = await desk.lease(ana)
    await set_aside(desk, ana, lease)
    with pytest.raises(StaleLease) as refused:
        await desk.decide(ana, lease)
    told = refused.value.extra
    assert (told["now"], told["can_reclaim"]) == ("parked", False)
    assert told["since"]


async def test_whoever_may_not_work_in_the_queue_any_more_parks_nothing(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item()
    lease = await desk.lease(ana)
    without = Identity(
        principal_id=ana.principal_id, tenant_id=1, name="ana", key_id="k" * 12, grants=()
    )
    with pytest.raises(Forbidden):
        await set_aside(desk, without, lease)
    assert await desk.value("SELECT state FROM item") == "leased"


async def test_the_queue_is_told_when_something_is_parked_and_when_it_wakes(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item()
    lease, told = await desk.lease(ana), Told()
    request = ParkRequest(lease_token=lease.lease_token, reason=ParkReason.AWAIT_EVIDENCE)
    await park(desk.db, desk.policy, ana, lease.item_id, request, tell=told)
    assert (told.queues, told.revoked) == ([QUEUE], [])
    await desk.pass_time(timedelta(days=31))
    told = Told()
    await redrive(desk.db, tell=told)
    assert told.queues == [QUEUE]
