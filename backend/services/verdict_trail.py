"""What a verdict leaves in its content's trail: the decision, or that it was refused and why."""

from __future__ import annotations

from datetime import datetime

import msgspec

from backend.db.apply import advance_trail
from backend.db.connection import Connection
from backend.db.content import lock_chains
from backend.db.event import insert_events
from backend.db.verdict import DecisionRow, FencedRow, NewDecision, ReplyRow
from backend.domain.identity import Identity
from backend.domain.ledger import Event, Fact, chain
from backend.domain.model import whole_ms
from shared.problems import ProblemCode
from shared.vocabulary import EventType


class _End(msgspec.Struct, frozen=True, kw_only=True):
    """Where the trail of a locked content ends."""

    content_pk: int
    content_id: str
    seq: int
    chain_head: bytes


def event_of(who: Identity, fenced: FencedRow, decision: NewDecision, row: DecisionRow) -> Event:
    """Return the event that tells a decision, as the next one of its content's trail."""
    fact = Fact(
        type=EventType.DECISION_RECORDED,
        at=fenced.now,
        actor=decision.actor,
        principal=str(who.principal_id),
        data={
            "decision": str(row.decision_pk),
            "item": str(fenced.item_pk),
            "key": who.key_id,
            "verdict": decision.verdict,
            "outcome": decision.outcome,
            "reason": decision.reason,
            "evidence": fenced.evidence_hash,
            "supersedes": None if decision.supersedes is None else str(decision.supersedes),
            "late_by_ms": whole_ms(fenced.late_by),
            "policy": decision.policy_version,
        },
    )
    return _following(who, _end(fenced), fact)


async def tell_wrong_owner(conn: Connection, who: Identity, fenced: FencedRow) -> None:
    """Record that somebody used a lease that is not his."""
    await _tell_refusal(
        conn, who, _end(fenced), fenced.item_pk, fenced.now, ProblemCode.WRONG_OWNER
    )


async def tell_conflict(conn: Connection, who: Identity, reply: ReplyRow) -> None:
    """Record that somebody sent another verdict under a token that had recorded one."""
    (tip,) = await lock_chains(conn, [reply.content_pk])
    end = _End(
        content_pk=reply.content_pk,
        content_id=reply.content_id,
        seq=tip.seq,
        chain_head=tip.chain_head,
    )
    await _tell_refusal(conn, who, end, reply.item_pk, tip.at, ProblemCode.VERDICT_CONFLICT)


async def _tell_refusal(
    conn: Connection, who: Identity, end: _End, item_pk: int, at: datetime, why: ProblemCode
) -> None:
    fact = Fact(
        type=EventType.VERDICT_REFUSED,
        at=at,
        principal=str(who.principal_id),
        data={"item": str(item_pk), "key": who.key_id, "why": why.value},
    )
    event = _following(who, end, fact)
    await insert_events(conn, [(end.content_pk, event)])
    await advance_trail(conn, content_pk=end.content_pk, seq=event.seq, chain_head=event.hash)


def _end(fenced: FencedRow) -> _End:
    return _End(
        content_pk=fenced.content_pk,
        content_id=fenced.content_id,
        seq=fenced.seq,
        chain_head=fenced.chain_head,
    )


def _following(who: Identity, end: _End, fact: Fact) -> Event:
    (event,) = chain(end.content_id, end.seq + 1, end.chain_head, [fact], tenant=who.tenant)
    return event
