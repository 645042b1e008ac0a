"""Reopening: people look again at what was decided, and what was decided holds meanwhile."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from backend.db.item import read_moment
from backend.db.reopen import NewRound, open_round
from backend.domain.identity import Identity
from backend.domain.rank import base, minutes, rank
from backend.domain.refusals import Forbidden, NotFound, NotReopenable, QueueDraining, Refusal
from backend.services.read import decision
from backend.services.reopen import reopen
from backend.services.steady import steadily
from backend.services.submit import submit, submit_case
from backend.services.withdraw import withdraw_content
from shared.evidence import open_evidence
from shared.vocabulary import Actor, ContentState, ItemSource, Outcome, Role, Verdict
from shared.wire.item import Reopened, ReopenRequest
from tests.services.deeds import Told, set_aside, stranger
from tests.support.desk import QUEUE, Desk
from tests.support.gateway import case, row, somebody
from tests.support.office import DRAINED, change
from tests.support.trail import assert_every_chain_is_whole


async def again(
    desk: Desk,
    lead: Identity | None = None,
    content_id: str = "c-1",
    queue: str | None = None,
    tell: Told | None = None,
) -> Reopened:
    """Reopen a content as a lead of all queues, unless told otherwise."""
    by = lead or await desk.person(f"lead-{content_id}".lower(), Role.LEAD)
    request = ReopenRequest(queue=queue)
    return await reopen(desk.db, desk.policy, by, content_id, request, tell=tell or Told())


async def decided(desk: Desk, said: Verdict = Verdict.REJECT, queue: str = QUEUE) -> Identity:
    """Let a person decide a content, and return who did."""
    ana = await desk.person("ana")
    await desk.item(queue=queue)
    await desk.decide(ana, await desk.lease(ana, queue), said)
    await desk.apply_all()
    return ana


async def newest(desk: Desk) -> Any:
    return await desk.admin.fetchrow("SELECT * FROM item ORDER BY id DESC LIMIT 1")


async def test_people_look_again_while_the_old_action_stays_in_force(desk: Desk) -> None:
    await decided(desk)
    ben, told = await desk.person("ben"), Told()
    opened = await again(desk, tell=told)
    assert (opened.content_id, opened.queue, opened.round) == ("c-1", QUEUE, 2)
    assert told.queues == [QUEUE]
    view = await decision(desk.db, ben, "c-1")
    assert (view.state, view.outcome) == (ContentState.IN_REVIEW, Outcome.REMOVE)
    lease = await desk.lease(ben)
    assert (lease.item_id, lease.source) == (opened.item_id, ItemSource.REOPEN)
    await desk.decide(ben, lease, Verdict.APPROVE)
    await desk.apply_all()
    view = await decision(desk.db, ben, "c-1")
    assert (view.state, view.outcome) == (ContentState.ALLOWED, Outcome.ALLOW)
    assert await desk.value("SELECT supersedes IS NOT NULL FROM decision ORDER BY id DESC LIMIT 1")
    await assert_every_chain_is_whole(desk.admin)


async def test_a_reopened_round_begins_anew_at_the_end_of_its_severity(desk: Desk) -> None:
    await decided(desk)
    await desk.pass_time(timedelta(hours=3))
    await again(desk)
    item = await newest(desk)
    weights = desk.policy.weights
    ahead = base(60, 0, weights)
    assert (item["severity"], item["base"]) == (60, ahead)
    at = item["first_enqueued_at"]
    assert item["rank"] == pytest.approx(rank(ahead, minutes(at), weights), abs=1e-6)
    assert item["sla_from"] == item["enqueued_at"] == at
    assert at - await desk.value("SELECT min(first_enqueued_at) FROM item") > timedelta(hours=3)
    event = await desk.value(
        "SELECT convert_from(canonical, 'UTF8')::jsonb -> 'data' ->> 'source' FROM event"
        " WHERE type = 'item.queued' ORDER BY seq DESC LIMIT 1"
    )
    assert event == "reopen"


async def test_what_a_model_let_pass_is_shown_as_it_was_scored(desk: Desk) -> None:
    producer, ana = await somebody(desk.db), await desk.person("ana")
    await submit(desk.db, desk.policy, producer, [row("c-1", {"sexual": 0.1}, text="fine")])
    assert await desk.value("SELECT count(*) FROM evidence") == 0
    opened = await again(desk)
    assert (opened.queue, opened.round) == (QUEUE, 1)
    view = await decision(desk.db, ana, "c-1")
    assert (view.state, view.actor) == (ContentState.IN_REVIEW, Actor.MODEL)
    lease = await desk.lease(ana)
    evidence = open_evidence(lease.evidence, lease.evidence_hash)
    assert evidence.content.text == "fine"
    scores = {shown.category: shown.score for shown in evidence.labels}
    assert scores["sexual"] == "0.1"
    assert evidence.deciding is not None
    assert lease.severity == desk.policy.categories[evidence.deciding].severity
    await desk.decide(ana, lease, Verdict.REJECT)
    await desk.apply_all()
    assert (await decision(desk.db, ana, "c-1")).state is ContentState.REMOVED
    await assert_every_chain_is_whole(desk.admin)


async def test_beside_an_open_round_none_opens(desk: Desk) -> None:
    await desk.item()
    lead = await desk.person("lead", Role.LEAD)
    ana = await desk.person("ana")
    with pytest.raises(NotReopenable):
        await again(desk, lead)
    lease = await desk.lease(ana)
    with pytest.raises(NotReopenable):
        await again(desk, lead)
    before = await desk.value("SELECT count(*) FROM event")
    await set_aside(desk, ana, lease)
    with pytest.raises(NotReopenable):
        await again(desk, lead)
    assert await desk.value("SELECT count(*) FROM item") == 1
    assert await desk.value("SELECT count(*) FROM event") == before + 1
    assert await desk.value("SELECT state FROM content") == "pending"


async def test_the_index_over_open_items_is_what_stops_a_second_round(desk: Desk) -> None:
    """Nothing that looks beforehand stands in front of it here."""
    await desk.item()
    content = await desk.value("SELECT id FROM content")
    async with desk.db.transaction() as conn:
        now = await read_moment(conn)
        new = NewRound(
            tenant_id=1,
            content_pk=content,
            queue=QUEUE,
            source="reopen",
            severity=1,
            base=1.0,
            rank=1.0,
            evidence_revision=1,
            first_enqueued_at=now,
            now=now,
        )
        assert await open_round(conn, new) is None
    assert await desk.value("SELECT count(*) FROM item") == 1


async def test_of_many_who_reopen_at_once_one_does(desk: Desk) -> None:
    await decided(desk)
    lead = await desk.person("lead", Role.LEAD)
    ended = await asyncio.gather(
        *(steadily(lambda: again(desk, lead)) for _ in range(8)), return_exceptions=True
    )
    assert sum(isinstance(end, Reopened) for end in ended) == 1
    assert sum(isinstance(end, NotReopenable) for end in ended) == 7
    assert await desk.value("SELECT count(*) FROM item WHERE state = 'queued'") == 1
    await assert_every_chain_is_whole(desk.admin)


async def test_a_verdict_that_is_about_to_take_effect_comes_first(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item()
    await desk.decide(ana, await desk.lease(ana), Verdict.ESCALATE)
    lead = await desk.person("lead", Role.LEAD)
    with pytest.raises(NotReopenable, match="about to take effect"):
        await again(desk, lead)
    await desk.apply_all()
    assert await desk.value("SELECT queue FROM item WHERE round = 2") == "escalation"
    with pytest.raises(NotReopenable, match="is open"):
        await again(desk, lead)


async def test_what_was_resolved_before_there_was_an_sla_clock_still_escalates(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item()
    await desk.decide(ana, await desk.lease(ana), Verdict.ESCALATE)
    await desk.admin.execute("SET session_replication_role = replica")
    await desk.admin.execute("UPDATE item SET sla_from = NULL")
    await desk.admin.execute("SET session_replication_role = origin")
    assert await desk.apply_all() == 1
    assert await desk.value("SELECT sla_from = first_enqueued_at FROM item WHERE round = 2")


async def test_an_appeal_has_the_last_word(desk: Desk) -> None:
    await decided(desk)
    await desk.admin.execute("SET session_replication_role = replica")
    await desk.admin.execute("ALTER TABLE decision DISABLE TRIGGER ALL")
    await desk.admin.execute("UPDATE decision SET kind = 'appeal', actor = 'appeal'")
    with pytest.raises(NotReopenable, match="appeal"):
        await again(desk)


async def test_it_opens_where_a_lead_of_both_queues_wants_it(desk: Desk) -> None:
    await decided(desk)
    of_cases = await desk.person("cora", Role.LEAD, queue="cases")
    with pytest.raises(Forbidden):
        await again(desk, of_cases)
    with pytest.raises(Forbidden):
        await again(desk, of_cases, queue="cases")
    lead = await desk.person("lead", Role.LEAD)
    with pytest.raises(NotFound):
        await again(desk, lead, queue="no-such-queue")
    with pytest.raises(NotFound):
        await again(desk, lead, content_id="c-2")
    with pytest.raises(NotFound):
        await again(desk, await stranger(desk))
    assert (await again(desk, lead, queue="cases")).queue == "cases"


async def test_a_draining_queue_gets_no_new_round(desk: Desk) -> None:
    await decided(desk, queue="cases")
    before, lead = desk.policy, await desk.person("lead", Role.LEAD)
    await change(desk, DRAINED)
    for known in (desk.policy, before):  # also by a process that has not heard of it yet
        desk.policy = known
        with pytest.raises(QueueDraining):
            await again(desk, lead)
    assert (await again(desk, lead, queue=QUEUE)).queue == QUEUE


async def test_what_was_withdrawn_can_be_looked_at_after_all(desk: Desk) -> None:
    producer = await somebody(desk.db)
    await submit_case(desk.db, desk.policy, producer, "cases", case("k-1"))
    await withdraw_content(desk.db, producer, "k-1")
    opened = await again(desk, content_id="k-1")
    assert (opened.queue, opened.round) == ("cases", 2)
    assert await desk.value("SELECT withdrawn_at IS NULL AND state = 'pending' FROM content")
    gone = await withdraw_content(desk.db, producer, "k-1")
    assert gone.item_id == opened.item_id
    await assert_every_chain_is_whole(desk.admin)


async def test_where_nothing_is_left_to_look_at_nothing_opens(desk: Desk) -> None:
    await decided(desk)
    await desk.admin.execute("UPDATE evidence SET bytes = NULL, erased_at = clock()")
    with pytest.raises(Refusal) as refused:
        await again(desk)
    assert isinstance(refused.value, NotReopenable)
    assert await desk.value("SELECT count(*) FROM item") == 1
