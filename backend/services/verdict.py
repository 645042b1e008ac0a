"""A verdict: authenticate, replay, fence, evidence, reason, write; in this order.

The look-up of the verdict token comes before the fence, so that nobody whose click was stored is
ever told that his lease is stale. The verdict commits before the next item is claimed, so that no
failed claim can undo it.
"""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import TypeAlias
from uuid import UUID

import msgspec

from backend.db.apply import advance_head, advance_trail
from backend.db.connection import Connection, Database
from backend.db.event import insert_events
from backend.db.verdict import (
    DecisionRow,
    FencedRow,
    NewDecision,
    ReplyRow,
    decide_item,
    find_verdict_reply,
    lock_for_verdict,
    record_verdict,
)
from backend.domain.identity import Identity
from backend.domain.ledger import Event, Fact, chain
from backend.domain.model import whole_ms
from backend.domain.policy import Policy
from backend.domain.refusals import (
    EvidenceChanged,
    Forbidden,
    LeaseHeld,
    NotFound,
    Refusal,
    VerdictConflict,
    WrongOwner,
)
from backend.domain.verdict import Ruling, admit, ruling, too_late
from backend.services.claim import claim, my_lease, queue_of_item, queue_view
from backend.services.lease import item_key, stale
from shared.vocabulary import EventType, ItemSource, Outcome
from shared.wire.queue import ClaimAnswer, DecisionPart, VerdictAnswer, VerdictRequest


class VerdictReply(msgspec.Struct, frozen=True, kw_only=True):
    """The answer, and what travels in headers beside it."""

    answer: VerdictAnswer
    replayed: bool
    superseded_by: str | None = None


async def verdict(
    db: Database, policy: Policy, who: Identity, item_id: str, request: VerdictRequest
) -> VerdictReply:
    """Record what a person said of an item, once; then claim the next if that was asked for.

    Raises StaleLease, WrongOwner, EvidenceChanged, ReasonNotAdmitted, VerdictConflict, Forbidden
    or NotFound; whenever it raises, no verdict was recorded.
    """
    item_pk = item_key(item_id)
    fingerprint = _fingerprint(item_pk, request)
    async with db.transaction() as conn:
        said: _Said | Refusal | None = await _replay(conn, who, request, fingerprint)
        if said is None:
            said = await _record(conn, policy, who, item_pk, request, fingerprint)
    if isinstance(said, Refusal):
        raise said
    part, queue, superseded_by, replayed = said
    following = None
    if request.claim_next is not None:
        following = await _next(db, policy, who, queue, request.claim_next)
    return VerdictReply(
        answer=VerdictAnswer(decision=part, next=following),
        replayed=replayed,
        superseded_by=superseded_by,
    )


_Said: TypeAlias = tuple[DecisionPart, str, str | None, bool]
"""The decision, the item's queue, what superseded it, and whether it is a replay."""


async def _replay(
    conn: Connection, who: Identity, request: VerdictRequest, fingerprint: bytes
) -> _Said | None:
    row = await find_verdict_reply(
        conn, principal_id=who.principal_id, verdict_token=UUID(request.verdict_token)
    )
    return None if row is None else _replayed(row, fingerprint)


def _replayed(row: ReplyRow, fingerprint: bytes) -> _Said:
    part = msgspec.json.decode(row.answer, type=DecisionPart)
    if row.fingerprint != fingerprint:
        raise VerdictConflict(
            "the first verdict stands; use a new verdict token for another",
            decision_id=part.decision_id,
            verdict=part.verdict.value,
        )
    superseded = None if row.superseded_by is None else str(row.superseded_by)
    return part, row.queue, superseded, True


async def _record(
    conn: Connection,
    policy: Policy,
    who: Identity,
    item_pk: int,
    request: VerdictRequest,
    fingerprint: bytes,
) -> _Said | Refusal:
    """Fence, judge and write; a refusal that leaves a trace is returned, so that it commits."""
    token = UUID(request.lease_token)
    fenced = await lock_for_verdict(
        conn, tenant_id=who.tenant_id, item_id=item_pk, fence_token=token
    )
    if fenced is None:
        # Another try of this very verdict may have held the lock: its answer comes first.
        said = await _replay(conn, who, request, fingerprint)
        return said if said is not None else await stale(conn, who, item_pk, token)
    if fenced.owner != who.principal_id:
        await _note_refusal(conn, who, fenced)
        return WrongOwner("the lease is not yours; this was recorded")
    _refuse(policy, who, request, fenced)
    in_force = None if fenced.head_outcome is None else Outcome(fenced.head_outcome)
    said_so = ruling(request.verdict, ItemSource(fenced.source), in_force)
    decision = _decision(policy, who, request, fenced, said_so)
    row = await decide_item(conn, decision)
    if row is None:
        raise LookupError("the fence was locked and yet did not hold")
    part = _part(request, item_pk, fenced, decision, row)
    answer = msgspec.json.encode(part).decode()
    await record_verdict(
        conn, decision, decision_id=row.decision_pk, fingerprint=fingerprint, answer=answer
    )
    await _tell(conn, who, fenced, decision, row)
    return part, fenced.queue, None, False


def _refuse(policy: Policy, who: Identity, request: VerdictRequest, fenced: FencedRow) -> None:
    queue = queue_of_item(policy, who, fenced.queue)
    late = too_late(policy, queue, whole_ms(fenced.late_by))
    if late is not None:
        raise late
    if request.evidence_hash != fenced.evidence_hash:
        raise EvidenceChanged(
            "look at the new evidence and decide again; the lease is still yours",
            field="evidence_hash",
            evidence_hash=fenced.evidence_hash,
            evidence_revision=fenced.evidence_revision,
        )
    refusal = admit(policy, queue, request.verdict, request.reason)
    if refusal is not None:
        raise refusal


def _decision(
    policy: Policy, who: Identity, request: VerdictRequest, fenced: FencedRow, said: Ruling
) -> NewDecision:
    return NewDecision(
        item_id=fenced.item_pk,
        fence_token=UUID(request.lease_token),
        tenant_id=who.tenant_id,
        content_id=fenced.content_pk,
        principal_id=who.principal_id,
        kind=said.kind.value,
        actor=said.actor.value,
        verdict=said.verdict.value,
        outcome=said.outcome.value,
        reason=request.reason,
        evidence_hash=bytes.fromhex(fenced.evidence_hash),
        verdict_token=UUID(request.verdict_token),
        supersedes=fenced.head_decision,
        apply_after=fenced.now + fenced.undo_window,
        late_by=fenced.late_by,
        seen=request.seen,
        dwell=None if request.dwell_ms is None else timedelta(milliseconds=request.dwell_ms),
        renderer=request.renderer,
        policy_version=policy.version,
        model_version=fenced.model_version,
        note=request.note or None,
    )


def _part(
    request: VerdictRequest,
    item_pk: int,
    fenced: FencedRow,
    decision: NewDecision,
    row: DecisionRow,
) -> DecisionPart:
    return DecisionPart(
        decision_id=str(row.decision_pk),
        item_id=str(item_pk),
        content_id=fenced.content_id,
        verdict=request.verdict,
        outcome=Outcome(decision.outcome),
        reason=request.reason,
        recorded_at=row.recorded_at,
        takes_effect_at=decision.apply_after,
        late_by_ms=whole_ms(fenced.late_by),
    )


async def _tell(
    conn: Connection, who: Identity, fenced: FencedRow, decision: NewDecision, row: DecisionRow
) -> None:
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
    event = await _append(conn, who, fenced, fact)
    await advance_head(
        conn,
        content_pk=fenced.content_pk,
        head_decision=row.decision_pk,
        seq=event.seq,
        chain_head=event.hash,
    )


async def _note_refusal(conn: Connection, who: Identity, fenced: FencedRow) -> None:
    """Record that somebody used a lease that is not his."""
    fact = Fact(
        type=EventType.VERDICT_REFUSED,
        at=fenced.now,
        principal=str(who.principal_id),
        data={"item": str(fenced.item_pk), "key": who.key_id, "why": WrongOwner.code.value},
    )
    event = await _append(conn, who, fenced, fact)
    await advance_trail(conn, content_pk=fenced.content_pk, seq=event.seq, chain_head=event.hash)


async def _append(conn: Connection, who: Identity, fenced: FencedRow, fact: Fact) -> Event:
    (event,) = chain(
        fenced.content_id, fenced.seq + 1, fenced.chain_head, [fact], tenant=who.tenant
    )
    await insert_events(conn, [(fenced.content_pk, event)])
    return event


async def _next(
    db: Database, policy: Policy, who: Identity, queue: str, claim_key: str
) -> ClaimAnswer | None:
    """Claim after the verdict: what `who` holds already, else a fresh lease, else the figures.

    None for a queue that he may not work in any more: that must not hide what was recorded.
    """
    try:
        return await claim(db, policy, who, queue, claim_key)
    except LeaseHeld:
        mine = await my_lease(db, policy, who)
        view = await queue_view(db, policy, who, queue)
        return ClaimAnswer(lease=mine.lease, figures=view.figures)
    except (Forbidden, NotFound):
        return None


def _fingerprint(item_pk: int, request: VerdictRequest) -> bytes:
    """Return the SHA-256 of what makes two requests the same verdict.

    The lease token in it is random, so that the hash says nothing of the note.
    """
    said = [
        item_pk,
        request.lease_token,
        request.evidence_hash,
        request.verdict,
        request.reason,
        request.note or None,
    ]
    return hashlib.sha256(msgspec.json.encode(said)).digest()
