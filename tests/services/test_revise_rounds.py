"""New evidence on what is before nobody: decided, withdrawn, on its way up, never queued."""

from __future__ import annotations

from datetime import timedelta

import pytest

from backend.domain.refusals import (
    QueueDraining,
)
from backend.services.read import decision
from backend.services.submit import submit
from backend.services.withdraw import withdraw_content
from shared.vocabulary import ContentState, ItemSource, Verdict
from tests.services.deeds import Told
from tests.services.showings import (
    altered,
    events,
    opened,
    revised,
    shop,
    submitted,
    submitted_case,
    the_item,
)
from tests.support.desk import QUEUE, Desk
from tests.support.gateway import row
from tests.support.office import DRAINED, change
from tests.support.trail import assert_every_chain_is_whole

HOUR = timedelta(hours=1)


async def test_new_evidence_on_what_was_decided_opens_a_round(desk: Desk) -> None:
    who, ana, ben = await submitted(desk), await desk.person("ana"), await desk.person("ben")
    first = await the_item(desk)
    await desk.decide(ana, await desk.lease(ana), Verdict.REJECT)
    await desk.apply_all()
    await desk.pass_time(HOUR)
    told = Told()
    answer = await revised(desk, who, tell=told)
    assert (answer.state, answer.reopened) == (ContentState.IN_REVIEW, True)
    item = await the_item(desk)
    assert answer.item_id == str(item["id"])
    assert (item["round"], item["source"], item["evidence_revision"]) == (2, "evidence", 2)
    assert item["first_enqueued_at"] == first["first_enqueued_at"]
    assert item["sla_from"] - first["sla_from"] > HOUR
    assert item["rank"] < first["rank"]  # it waits from now: an old content does not jump the queue
    assert told.queues == [QUEUE]
    lease = await desk.lease(ben)
    assert lease.source is ItemSource.EVIDENCE
    assert (await events(desk))[-2:] == ["evidence.revised", "item.queued"]
    await desk.decide(ben, lease, Verdict.APPROVE)
    await desk.apply_all()
    assert (await decision(desk.db, who, "c-1")).state is ContentState.ALLOWED
    await assert_every_chain_is_whole(desk.admin)


async def test_the_queue_may_say_that_what_was_decided_stays_so(desk: Desk) -> None:
    who, ana = await submitted(desk), await desk.person("ana")
    await desk.decide(ana, await desk.lease(ana), Verdict.REJECT)
    await desk.apply_all()
    terms = "[queues.posts]\n"
    await change(desk, altered(terms, f"{terms}reopen_on_evidence = false\n"))
    answer = await revised(desk, who)
    assert (answer.changed, answer.reopened, answer.item_id) == (True, False, None)
    assert answer.state is ContentState.REMOVED


async def test_a_queue_that_drains_takes_no_round_of_new_evidence(desk: Desk) -> None:
    who, ana = await submitted_case(desk, "k-1", text="one"), await desk.person("ana")
    await submitted_case(desk, "k-2", text="one")
    lease = await desk.lease(ana, "cases")
    await desk.decide(ana, lease, Verdict.REJECT)
    await desk.apply_all()
    await change(desk, DRAINED)
    with pytest.raises(QueueDraining):
        await revised(desk, who, "k-1", labels={})
    assert await desk.value("SELECT max(revision) FROM content") == 1
    assert (await revised(desk, who, "k-2", labels={})).changed  # it is in, and is worked off


async def test_new_evidence_ends_a_withdrawal(desk: Desk) -> None:
    who = await submitted(desk)
    await withdraw_content(desk.db, who, "c-1")
    answer = await revised(desk, who)
    assert (answer.reopened, answer.state) == (True, ContentState.PENDING)
    assert await desk.value("SELECT withdrawn_at FROM content") is None
    ana = await desk.person("ana")
    await desk.decide(ana, await desk.lease(ana))


async def test_what_was_withdrawn_by_mistake_comes_back_as_it_was(desk: Desk) -> None:
    who = await submitted(desk, text="two")
    assert not (await revised(desk, who)).changed
    await withdraw_content(desk.db, who, "c-1")
    told = Told()
    back = await revised(desk, who, tell=told)
    assert (back.changed, back.reopened, back.revision) == (True, True, 2)
    assert (back.state, back.item_id) == (ContentState.PENDING, str((await the_item(desk))["id"]))
    assert told.queues == [QUEUE]
    assert await desk.value("SELECT withdrawn_at FROM content") is None
    again = await revised(desk, who)
    assert (again.changed, again.reopened, again.item_id) == (False, False, back.item_id)
    ana = await desk.person("ana")
    lease = await desk.lease(ana)
    assert opened(lease).content.text == "two"
    await desk.decide(ana, lease)
    await assert_every_chain_is_whole(desk.admin)


async def test_what_waits_for_scores_goes_on_waiting(desk: Desk) -> None:
    who = await shop(desk)
    held_back = row("c-1", text="one")
    held_back = type(held_back)(
        **{name: getattr(held_back, name) for name in held_back.__struct_fields__} | {"labels": {}}
    )
    await submit(desk.db, desk.policy, who, [held_back])
    answer = await revised(desk, who, labels={})
    assert (answer.changed, answer.item_id, answer.state) == (True, None, ContentState.PENDING)
    assert await desk.value("SELECT count(*) FROM intake") == 1


async def test_what_the_engine_let_pass_comes_before_people_only_if_it_would_not_now(
    desk: Desk,
) -> None:
    who = await submitted(desk, labels={})
    assert await desk.value("SELECT state FROM content") == "allowed"
    assert not (await revised(desk, who, labels={"spam": 0.02})).reopened
    worse = await revised(desk, who, labels={"hate": 0.99})
    assert (worse.reopened, worse.state) == (True, ContentState.IN_REVIEW)


async def test_what_is_on_its_way_up_shows_the_newest_evidence_there(desk: Desk) -> None:
    who, ana, ben = await submitted(desk), await desk.person("ana"), await desk.person("ben")
    await desk.decide(ana, await desk.lease(ana), Verdict.ESCALATE)
    answer = await revised(desk, who)
    assert (answer.changed, answer.reopened, answer.item_id) == (True, False, None)
    assert await desk.apply_all() == 1
    lease = await desk.lease(ben, "escalation")
    assert opened(lease).content.text == "two"


async def test_new_evidence_while_a_verdict_waits_to_take_effect_opens_a_round(desk: Desk) -> None:
    who, ana, ben = await submitted(desk), await desk.person("ana"), await desk.person("ben")
    await desk.decide(ana, await desk.lease(ana), Verdict.REJECT)
    assert (await revised(desk, who)).reopened
    assert await desk.apply_all() == 1
    assert (await decision(desk.db, who, "c-1")).state is ContentState.IN_REVIEW
    await desk.decide(ben, await desk.lease(ben), Verdict.APPROVE)
    await desk.apply_all()
    assert (await decision(desk.db, who, "c-1")).state is ContentState.ALLOWED
