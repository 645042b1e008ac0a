"""What a revision writes: its rows, the open item that shows it, or the round that it opens."""

from __future__ import annotations

from secrets import token_bytes

import msgspec

from backend.db.blob import attach, attached
from backend.db.connection import Connection
from backend.db.evidence import NewRevision, ToRevise, insert_revision, show_revision
from backend.db.item import LockedContent, RoundRow, Settlement, advance_rounds
from backend.db.reopen import NewRound, OpenedRow, open_round
from backend.domain.banding import Banding
from backend.domain.identity import Identity
from backend.domain.policy import Policy
from backend.domain.rank import base, minutes, rank
from backend.domain.states import reopened
from backend.domain.submission import CheckedContent
from backend.services.admission import labels_text, refuse_draining
from backend.services.rounds import Trail
from backend.services.showing import NONCE_BYTES, Shown
from shared.vocabulary import ContentState, ItemSource, Outcome


class New(msgspec.Struct, frozen=True, kw_only=True):
    """A revision that was checked, how it is banded (None: a case), and whose queue it is for."""

    checked: CheckedContent
    banding: Banding | None
    queue: str
    severity: int


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """A revision that is being written: under which policy, by whom, and over what."""

    policy: Policy
    who: Identity
    new: New
    row: RoundRow
    content: LockedContent
    state: ToRevise
    number: int
    shown: Shown


async def store(conn: Connection, work: Work) -> bytes:
    """Store a revision and return the fingerprint of its body."""
    new, content_pk = work.new, work.row.content_pk
    nonce = token_bytes(NONCE_BYTES)
    fingerprint = new.checked.fingerprint(nonce)
    row = NewRevision(
        content_id=content_pk,
        revision=work.number,
        body=new.checked.body.decode(),
        nonce=nonce,
        fingerprint=fingerprint,
        labels=labels_text(new.checked),
        model_version=new.checked.model_version,
        risk_score=None if new.banding is None else new.banding.risk_score,
        evidence_hash=work.shown.digest,
        evidence=work.shown.data,
        policy_version=work.policy.version,
    )
    await insert_revision(conn, row)
    attachments = attached(content_pk, work.number, new.checked.attachments)
    if attachments:
        await attach(conn, tenant_id=work.who.tenant_id, rows=attachments)
    return fingerprint


async def show_it(conn: Connection, work: Work) -> None:
    """Let the open item show it; what a person decided before keeps its rank, and so do cases."""
    row, state = work.row, work.state
    if row.item_pk is None or row.severity is None:
        raise ValueError("an open item is known by its key and its severity")
    ranked = work.new.banding is not None and not state.decided_by_person
    severity = work.new.severity if ranked else row.severity
    await show_revision(
        conn,
        item_pk=row.item_pk,
        revision=work.number,
        severity=severity,
        lift=(severity - row.severity) * work.policy.weights.severity,
        now=state.now,
    )


def asks_for_people(work: Work) -> bool:
    """Tell whether a content that is before nobody comes before people with its new evidence.

    What was withdrawn does. What is on its way up shows the evidence there. What people decided, or
    took out of the queue, does as the queue's terms say; so does what the engine alone decided,
    unless it would decide the same again. What waits for its scores goes on waiting.
    """
    row, state, banding = work.row, work.state, work.new.banding
    if state.escalating:
        return False
    if row.withdrawn_at is not None:
        return True
    if row.item_pk is None:
        undecided = state.head_outcome in (None, Outcome.HOLD)
        if undecided or banding is None or banding.outcome == state.head_outcome:
            return False
    return work.policy.queues[work.new.queue].reopen_on_evidence


async def open_it(conn: Connection, work: Work) -> OpenedRow | None:
    """Open the next round: first queued when its first round was, ranked by when this one was."""
    row, state, weights = work.row, work.state, work.policy.weights
    refuse_draining(work.policy, work.new.queue)
    ground = base(work.new.severity, row.author_followers, weights)
    new_round = NewRound(
        tenant_id=work.who.tenant_id,
        content_pk=row.content_pk,
        queue=work.new.queue,
        source=ItemSource.EVIDENCE.value,
        severity=work.new.severity,
        base=ground,
        rank=rank(ground, minutes(state.now), weights),
        evidence_revision=work.number,
        first_enqueued_at=state.first_enqueued_at or state.now,
        now=state.now,
    )
    return await open_round(conn, new_round)


async def settle(
    conn: Connection, trail: Trail, content: LockedContent, opened: OpenedRow | None
) -> ContentState:
    """Move the content to the end of its trail; a round that opened ends a withdrawal."""
    state = ContentState(content.state)
    if opened is not None:
        state = reopened(state, ItemSource.EVIDENCE)
    seq, head = trail.ends[content.content_pk]
    settlement = Settlement(
        content_pk=content.content_pk,
        state=state.value,
        seq=seq,
        chain_head=head,
        withdrawn_at=content.withdrawn_at if opened is None else None,
    )
    await advance_rounds(conn, [settlement])
    return state
