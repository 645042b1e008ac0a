"""Claiming from several queues: the fair order, one lease, one answer to a retry."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from backend.domain.identity import Identity
from backend.domain.refusals import Forbidden, InvalidField, LeaseHeld
from backend.services.claim import claim
from backend.services.claim_any import claim_any
from backend.services.news import News
from shared.vocabulary import NewsKind, Role
from shared.wire.queue import ClaimAnyAnswer, ClaimAnyRequest
from tests.support.desk import QUEUE, Desk, new_key

LAPSED = timedelta(minutes=4)


async def ask(
    desk: Desk, who: Identity, *queues: str, key: str | None = None, terminal: str | None = None
) -> ClaimAnyAnswer:
    request = ClaimAnyRequest(claim_key=key or new_key(), queues=queues or None, terminal=terminal)
    return await claim_any(desk.db, desk.policy, who, request)


async def served(desk: Desk, who: Identity, *queues: str) -> str | None:
    answer = await ask(desk, who, *queues)
    return None if answer.lease is None else answer.lease.content_id


async def test_the_queue_that_used_the_largest_share_of_its_sla_goes_first(desk: Desk) -> None:
    """Half an hour is promised in escalation, five minutes in the others."""
    await desk.item("older-far-from-late", queue="escalation", rank=900)
    await desk.pass_time(timedelta(minutes=4))
    await desk.item("newer-nearly-late", queue="cases", rank=1)
    await desk.pass_time(timedelta(minutes=3))
    await desk.item("new", queue="posts", rank=500)
    people = [await desk.person(name) for name in ("ana", "ben", "cy")]
    assert [await served(desk, who) for who in people] == [
        "newer-nearly-late",
        "older-far-from-late",
        "new",
    ]


async def test_within_a_queue_rank_decides_and_not_age(desk: Desk) -> None:
    await desk.item("old", rank=1)
    await desk.pass_time(timedelta(minutes=1))
    await desk.item("high", rank=9)
    assert await served(desk, await desk.person("ana")) == "high"


async def test_equals_are_served_in_the_order_of_the_policy_however_they_are_named(
    desk: Desk,
) -> None:
    await desk.item("case", queue="cases")
    await desk.item("post", queue="posts")
    await desk.admin.execute("UPDATE item SET sla_from = '2026-01-01'")
    assert list(desk.policy.queues)[:2] == ["posts", "cases"]
    assert await served(desk, await desk.person("ana"), "cases", "posts") == "post"


async def test_a_run_out_lease_counts_as_waiting_in_the_fair_order(desk: Desk) -> None:
    """No redriver need run for a queue to get its turn."""
    await desk.item("dropped", queue="cases")
    await desk.lease(await desk.person("gone"), "cases")
    await desk.pass_time(LAPSED)
    await desk.item("fresh", queue="posts", rank=900)
    assert await served(desk, await desk.person("ana")) == "dropped"


async def test_what_is_about_to_escalate_gives_its_queue_no_turn(desk: Desk) -> None:
    await desk.item("abandoned", queue="cases")
    await desk.admin.execute("UPDATE item SET abandoned = true")
    await desk.item("waiting-too", queue="cases", rank=1)
    await desk.pass_time(timedelta(minutes=1))
    await desk.item("fresh", queue="posts")
    await desk.admin.execute("UPDATE item SET sla_from = clock() WHERE rank = 1")
    assert await served(desk, await desk.person("ana")) == "fresh"


async def test_the_next_queue_is_tried_if_the_first_has_nothing_for_this_person(
    desk: Desk,
) -> None:
    ana = await desk.person("ana")
    item = await desk.item("not-hers", queue="cases")
    await desk.admin.execute(
        "INSERT INTO exclusion (item_id, principal_id, why) VALUES ($1, $2, 'conflict')",
        item,
        ana.principal_id,
    )
    await desk.pass_time(timedelta(minutes=1))
    await desk.item("hers", queue="posts")
    assert await served(desk, ana) == "hers"


async def test_only_queues_in_which_one_may_claim_are_served(desk: Desk) -> None:
    ana = await desk.person("ana", Role.REVIEWER, queue="cases")
    await desk.item("post", rank=900)
    await desk.pass_time(timedelta(minutes=1))
    await desk.item("case", queue="cases")
    assert await served(desk, ana) == "case"


async def test_only_the_queues_that_were_named_are_served(desk: Desk) -> None:
    await desk.item("post", rank=900)
    answer = await ask(desk, await desk.person("ana"), "escalation", "cases")
    assert answer.lease is None
    assert {figures.queue for figures in answer.figures} == {"escalation", "cases"}


async def test_a_queue_that_is_not_there_or_not_ones_own_is_named_by_its_place(desk: Desk) -> None:
    ana = await desk.person("ana")
    with pytest.raises(InvalidField) as unknown:
        await ask(desk, ana, "posts", "nowhere")
    assert unknown.value.field == "queues[1]"
    limited = await desk.person("limited", Role.REVIEWER, queue="cases")
    for place, queues in enumerate([("posts", "cases"), ("cases", "nowhere")]):
        with pytest.raises(Forbidden) as refused:
            await ask(desk, limited, *queues)
        assert refused.value.field == f"queues[{place}]"
    with pytest.raises(Forbidden):
        await ask(desk, await desk.person("svc", Role.PRODUCER))


async def test_a_retry_gets_the_same_lease_whichever_queue_it_names(desk: Desk) -> None:
    ana, key = await desk.person("ana"), new_key()
    await desk.item("case", queue="cases")
    first = await ask(desk, ana, key=key)
    await desk.item("post", rank=900)
    again = [
        (await ask(desk, ana, key=key)).lease,
        (await ask(desk, ana, "posts", key=key)).lease,
        (await claim(desk.db, desk.policy, ana, QUEUE, key)).lease,
    ]
    assert first.lease is not None
    assert {lease and lease.lease_token for lease in again} == {first.lease.lease_token}
    assert await desk.value("SELECT count(*) FROM lease_log WHERE happening = 'grant'") == 1


async def test_tries_of_one_claim_at_once_are_granted_one_lease(desk: Desk) -> None:
    ana, key = await desk.person("ana"), new_key()
    for queue in ("posts", "cases", "escalation"):
        await desk.item(f"in-{queue}", queue=queue)
    answers = await asyncio.gather(*(ask(desk, ana, key=key) for _ in range(6)))
    assert len({answer.lease and answer.lease.lease_token for answer in answers}) == 1
    assert await desk.value("SELECT count(*) FROM item WHERE state = 'leased'") == 1


async def test_whoever_holds_an_item_is_given_none_of_any_queue(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item("a")
    await desk.item("b", queue="cases")
    lease = await desk.lease(ana)
    with pytest.raises(LeaseHeld) as refused:
        await ask(desk, ana)
    assert refused.value.extra["item_id"] == lease.item_id


async def test_nothing_to_have_is_told_with_the_figures_of_each_queue(desk: Desk) -> None:
    await desk.item("held", queue="cases")
    await desk.lease(await desk.person("ben"), "cases")
    answer = await ask(desk, await desk.person("ana"))
    held = {figures.queue: (figures.free, figures.held) for figures in answer.figures}
    assert held == {"posts": (0, 0), "cases": (0, 1), "escalation": (0, 0)}
    assert [figures.free_in_ms is not None for figures in answer.figures if figures.held] == [True]


async def test_the_terminal_is_kept_with_the_lease(desk: Desk) -> None:
    await desk.item()
    ana = await desk.person("ana")
    lease = (await ask(desk, ana, terminal="desk-1")).lease
    assert lease is not None
    assert lease.terminal == "desk-1"


async def test_a_claim_tells_how_deep_the_queue_is_that_it_took_from(desk: Desk) -> None:
    await desk.item("case", queue="cases")
    told: list[News] = []
    request = ClaimAnyRequest(claim_key=new_key())
    ana = await desk.person("ana")
    for _ in range(2):
        await claim_any(desk.db, desk.policy, ana, request, tell=told.append)
    assert told == [News(kind=NewsKind.QUEUE_DEPTH, tenant_id=1, queue="cases")]


async def test_fifty_people_who_claim_anything_at_once_get_fifty_items(desk: Desk) -> None:
    people = [await desk.person(f"p{number}") for number in range(50)]
    for number in range(50):
        await desk.item(f"c-{number}", queue=("posts", "cases", "escalation")[number % 3])
    answers = await asyncio.gather(*(ask(desk, who) for who in people))
    assert len({answer.lease.item_id for answer in answers if answer.lease is not None}) == 50
