"""The same verdict token again: its answer for ever, or a conflict that is recorded."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from backend.domain.identity import Identity
from backend.domain.refusals import ReasonNotAdmitted, VerdictConflict
from backend.services.move import move
from backend.services.reopen import reopen
from backend.services.verdict import VerdictReply, verdict
from backend.services.withdraw import withdraw_items
from shared.vocabulary import NewsKind, Role, Verdict
from shared.wire.item import MoveRequest, ReopenRequest, WithdrawItemsRequest
from shared.wire.queue import Lease
from tests.services.deeds import LAPSED, Told
from tests.services.showings import revised, submitted
from tests.support.desk import QUEUE, Desk, new_key
from tests.support.trail import assert_every_chain_is_whole


async def said(
    desk: Desk, who: Identity, lease: Lease, verdict_said: Verdict, told: Told, **changed: Any
) -> VerdictReply:
    """Give a verdict and listen to what it tells."""
    request = desk.saying(lease, verdict_said, **changed)
    return await verdict(desk.db, desk.policy, who, lease.item_id, request, tell=told)


async def refusals(desk: Desk) -> list[dict[str, Any]]:
    """Return the refused verdicts that the trails tell of."""
    rows = await desk.admin.fetch(
        "SELECT convert_from(e.canonical, 'UTF8') AS told FROM event e"
        " WHERE e.type = 'verdict.refused' ORDER BY e.content_id, e.seq"
    )
    return [json.loads(row["told"]) for row in rows]


async def test_a_conflict_is_recorded_in_the_trail_of_what_was_decided(desk: Desk) -> None:
    ana, told = await desk.person("ana"), Told()
    await desk.item()
    lease = await desk.lease(ana)
    token = new_key()
    first = await desk.decide(ana, lease, verdict_token=token)
    with pytest.raises(VerdictConflict) as refused:
        await said(desk, ana, lease, Verdict.REJECT, told, verdict_token=token)
    assert refused.value.extra == {
        "decision_id": first.answer.decision.decision_id,
        "verdict": "approve",
    }
    (event,) = await refusals(desk)
    assert (event["content"], event["principal"]) == ("c-1", str(ana.principal_id))
    assert event["data"] == {"item": lease.item_id, "key": ana.key_id, "why": "verdict_conflict"}
    assert told.news == []
    await assert_every_chain_is_whole(desk.admin)
    assert (await desk.decide(ana, lease, verdict_token=token)).replayed


async def test_conflicts_at_once_are_each_recorded(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item()
    lease = await desk.lease(ana)
    token = new_key()
    await desk.decide(ana, lease, verdict_token=token)
    others = [desk.decide(ana, lease, verdict_token=token, note=f"note {n}") for n in range(6)]
    ended = await asyncio.gather(*others, return_exceptions=True)
    assert all(isinstance(each, VerdictConflict) for each in ended)
    assert len(await refusals(desk)) == 6
    await assert_every_chain_is_whole(desk.admin)


async def test_one_token_for_two_items_at_once_decides_one_and_conflicts_on_the_other(
    desk: Desk,
) -> None:
    ana = await desk.person("ana")
    for number in range(12):
        await desk.item(f"c-{number}")
    for _ in range(6):
        first = await desk.lease(ana)
        await desk.pass_time(LAPSED)  # so that she holds two tokens that both still count
        second = await desk.lease(ana)
        token = new_key()
        deeds = [desk.decide(ana, lease, verdict_token=token) for lease in (first, second)]
        ended = await asyncio.gather(*deeds, return_exceptions=True)
        (refused,) = [each for each in ended if isinstance(each, BaseException)]
        assert isinstance(refused, VerdictConflict)
        (stood,) = [each for each in ended if isinstance(each, VerdictReply)]
        assert refused.extra["decision_id"] == stood.answer.decision.decision_id
        left = second if stood.answer.decision.item_id == first.item_id else first
        await desk.decide(ana, left)  # under a token of its own
    assert len(await refusals(desk)) == 6
    await assert_every_chain_is_whole(desk.admin)


async def test_a_replay_is_the_same_for_ever(desk: Desk) -> None:
    """Also after the content was revised, decided by others, reopened, moved and withdrawn."""
    who, ana, ben = await submitted(desk), await desk.person("ana"), await desk.person("ben")
    lease = await desk.lease(ana)
    request = desk.saying(lease, Verdict.REJECT)
    first = await verdict(desk.db, desk.policy, ana, lease.item_id, request)
    await desk.apply_all()
    await revised(desk, who)
    second = await desk.decide(ben, await desk.lease(ben), Verdict.APPROVE)
    await desk.apply_all()
    lead = await desk.person("lead", Role.LEAD)
    opened = await reopen(desk.db, desk.policy, lead, "c-1", ReopenRequest())
    await move(desk.db, desk.policy, lead, MoveRequest(items=(opened.item_id,), to="escalation"))
    await withdraw_items(desk.db, lead, WithdrawItemsRequest(items=(opened.item_id,)))
    again = await verdict(desk.db, desk.policy, ana, lease.item_id, request)
    assert again.replayed
    assert again.answer.decision == first.answer.decision
    assert again.superseded_by == second.answer.decision.decision_id
    assert await refusals(desk) == []


async def test_news_of_a_verdict_is_told_once_and_only_when_it_is_true(desk: Desk) -> None:
    ana, told = await desk.person("ana"), Told()
    await desk.item()
    lease = await desk.lease(ana)
    token = new_key()
    for _ in range(2):
        await said(desk, ana, lease, Verdict.APPROVE, told, verdict_token=token)
    resolved, depth = told.news
    assert (resolved.kind, str(resolved.item_pk)) == (NewsKind.ITEM_RESOLVED, lease.item_id)
    assert resolved.principal_id == ana.principal_id
    assert (depth.kind, depth.queue, depth.principal_id) == (NewsKind.QUEUE_DEPTH, QUEUE, None)
    await desk.item("c-2")
    other = await desk.lease(ana)
    with pytest.raises(ReasonNotAdmitted):
        await said(desk, ana, other, Verdict.APPROVE, told, reason="no_such")
    assert len(told.news) == 2


async def test_the_terminal_of_a_verdict_holds_what_comes_next(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item("a", rank=2)
    await desk.item("b", rank=1)
    lease = await desk.lease(ana)
    reply = await desk.decide(ana, lease, claim_next=new_key(), terminal="desk-7")
    assert reply.answer.next is not None
    assert reply.answer.next.lease is not None
    assert await desk.value("SELECT terminal FROM item WHERE state = 'leased'") == "desk-7"
