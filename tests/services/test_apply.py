"""Taking effect: once, in the order of the chain, and only when the undo window is over."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import msgspec

from backend.db.event import events_of
from backend.domain.ledger import follow
from backend.services.apply import apply_due
from backend.services.read import decision
from backend.services.revise import revise
from backend.services.withdraw import withdraw_content
from shared.vocabulary import ContentState, Outcome, Role, Verdict
from shared.wire.evidence import EvidenceRevision
from tests.support.desk import Desk


async def content_state(desk: Desk, content_id: str = "c-1") -> str:
    state: str = await desk.value("SELECT state FROM content WHERE content_id = $1", content_id)
    return state


async def test_a_verdict_takes_effect_after_its_undo_window(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item()
    await desk.decide(ana, await desk.lease(ana), Verdict.REJECT)
    assert await apply_due(desk.db) == 0
    assert await content_state(desk) == "pending"
    await desk.pass_time(timedelta(seconds=11))
    assert await apply_due(desk.db) == 1
    assert await content_state(desk) == "removed"
    assert await desk.value("SELECT result FROM applied") == "applied"
    assert await desk.value("SELECT count(*) FROM pending_apply") == 0


async def test_each_decision_takes_effect_once_however_many_apply(desk: Desk) -> None:
    ana = await desk.person("ana")
    for number in range(20):
        await desk.item(f"c-{number}")
        await desk.decide(ana, await desk.lease(ana))
    await desk.pass_time(timedelta(minutes=1))
    await asyncio.gather(*(apply_due(desk.db, limit=7) for _ in range(8)))
    while await apply_due(desk.db):
        pass
    assert await desk.value("SELECT count(*) FROM applied WHERE result = 'applied'") == 20
    assert await desk.value("SELECT count(*) FROM outbox WHERE kind = 'webhook'") == 20


async def test_what_goes_out_carries_the_decision_and_a_key_that_never_changes(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item()
    reply = await desk.decide(ana, await desk.lease(ana), Verdict.REJECT)
    await desk.apply_all()
    rows = await desk.admin.fetch("SELECT kind, key, payload FROM outbox ORDER BY kind")
    decision = reply.answer.decision.decision_id
    assert [row["key"] for row in rows] == [f"{decision}:label", f"{decision}:webhook"]
    told = msgspec.json.decode(rows[1]["payload"])
    assert (told["decision_id"], told["state"], told["verdict"]) == (decision, "removed", "reject")


async def test_an_escalation_opens_the_next_round_above(desk: Desk) -> None:
    ana = await desk.person("ana")
    first = await desk.item(rank=5)
    await desk.decide(ana, await desk.lease(ana), Verdict.ESCALATE)
    await desk.apply_all()
    row = await desk.admin.fetchrow("SELECT * FROM item WHERE round = 2")
    origin = await desk.admin.fetchrow("SELECT * FROM item WHERE id = $1", first)
    assert row is not None
    assert origin is not None
    assert (row["queue"], row["source"], row["state"]) == ("escalation", "escalation", "queued")
    assert row["rank"] == origin["rank"] + 10
    assert row["first_enqueued_at"] == origin["first_enqueued_at"]
    assert await content_state(desk) == "pending"
    ben = await desk.person("ben")
    await desk.decide(ben, await desk.lease(ben, "escalation"), Verdict.REJECT)
    await desk.apply_all()
    assert await content_state(desk) == "removed"
    chain = await desk.admin.fetch("SELECT id, supersedes FROM decision ORDER BY id")
    assert [row["supersedes"] for row in chain] == [None, chain[0]["id"]]


async def test_a_decision_that_was_superseded_is_skipped(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item()
    await desk.decide(ana, await desk.lease(ana), Verdict.REJECT)
    head = await desk.admin.fetchrow("SELECT * FROM decision")
    assert head is not None
    newer = await desk.value(
        "INSERT INTO decision (tenant_id, content_id, kind, actor, principal_id, outcome,"
        " supersedes, apply_after, policy_version)"
        " VALUES (1, $1, 'undo', 'reviewer', $2, 'none', $3, clock(), $4)"
        " RETURNING id",
        head["content_id"],
        ana.principal_id,
        head["id"],
        head["policy_version"],
    )
    await desk.admin.execute("UPDATE content SET head_decision = $1", newer)
    await desk.apply_all()
    assert (
        await desk.value("SELECT result FROM applied WHERE decision_id = $1", head["id"])
        == "skipped"
    )
    assert await content_state(desk) == "pending"
    assert await desk.value("SELECT count(*) FROM outbox") == 0


async def test_one_decision_that_can_not_take_effect_holds_up_nobody(desk: Desk) -> None:
    ana = await desk.person("ana")
    for name in ("a", "bad", "c"):
        await desk.item(name)
        await desk.decide(ana, await desk.lease(ana))
    await desk.admin.execute("UPDATE content SET state = 'appealed' WHERE content_id = 'bad'")
    await desk.pass_time(timedelta(minutes=1))
    assert await apply_due(desk.db) == 2
    assert await content_state(desk, "a") == "allowed"
    assert await content_state(desk, "c") == "allowed"
    row = await desk.admin.fetchrow("SELECT attempts, last_error, dead_at FROM pending_apply")
    assert row is not None
    assert (row["attempts"], row["last_error"], row["dead_at"]) == (1, "IllegalTransition", None)


async def test_a_decision_that_keeps_failing_is_given_up_where_leads_see_it(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item()
    await desk.decide(ana, await desk.lease(ana))
    await desk.admin.execute("UPDATE content SET state = 'appealed'")
    for _ in range(8):
        await desk.pass_time(timedelta(hours=1))
        await apply_due(desk.db)
    assert await desk.value("SELECT dead_at IS NOT NULL FROM pending_apply")
    await desk.pass_time(timedelta(hours=1))
    assert await apply_due(desk.db) == 0
    assert await desk.value("SELECT attempts FROM pending_apply") == 8


async def test_the_trail_of_a_content_holds_from_its_beginning(desk: Desk) -> None:
    ana = await desk.person("ana")
    await desk.item()
    await desk.decide(ana, await desk.lease(ana), Verdict.ESCALATE)
    await desk.apply_all()
    row = await desk.admin.fetchrow("SELECT id, seq, chain_head FROM content")
    assert row is not None
    async with desk.db.connection() as conn:
        end = follow("c-1", await events_of(conn, content_pk=row["id"]))
    assert end.fault is None
    assert (end.seq, end.hash) == (row["seq"], row["chain_head"])
    types = await desk.admin.fetch("SELECT type FROM event ORDER BY seq")
    assert [row["type"] for row in types] == [
        "decision.recorded",
        "decision.applied",
        "item.queued",
    ]


async def test_what_takes_effect_while_people_look_again_is_in_review(desk: Desk) -> None:
    """The verdict is in force; new evidence, which came within its undo window, is looked at."""
    ana = await desk.person("ana")
    shop = await desk.person("shop", Role.PRODUCER)
    await desk.item()
    await desk.decide(ana, await desk.lease(ana), Verdict.REJECT)
    revised = await revise(
        desk.db, desk.policy, shop, "c-1", EvidenceRevision(text="there is more")
    )
    assert revised.reopened
    assert await desk.apply_all() == 1
    assert await content_state(desk) == "in_review"
    told = await decision(desk.db, shop, "c-1")
    assert (told.state, told.outcome) == (ContentState.IN_REVIEW, Outcome.REMOVE)
    webhook = await desk.value("SELECT payload FROM outbox WHERE kind = 'webhook'")
    assert b'"outcome":"remove"' in webhook
    assert b'"state":"in_review"' in webhook
    await withdraw_content(desk.db, shop, "c-1")
    assert await content_state(desk) == "removed"
