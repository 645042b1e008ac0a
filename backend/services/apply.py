"""Let due decisions take effect: each once, and only the head of its chain.

A verdict is durable at once; what it means happens here, when its undo window is over. In one
transaction: the decision leaves the line, is marked, the content's state flips, the fact joins the
trail, and what must be told outside goes to the outbox. A decision that was superseded in the
meantime is recorded as skipped.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import msgspec
import structlog

from backend.db.apply import (
    Advance,
    DueRow,
    Outgoing,
    RoundRow,
    apply_decisions,
    find_open_rounds,
    lock_due,
    open_next_round,
    put_off,
    take_pending,
)
from backend.db.connection import Connection, Database
from backend.db.errors import ContentionError, OutcomeUnknownError, UnavailableError
from backend.db.event import insert_events
from backend.domain.ledger import Event, Fact, chain
from backend.domain.outcome import Taken, effects_for
from backend.domain.states import applied_state
from backend.services.news import Tell, depth, nobody
from shared.vocabulary import (
    Actor,
    AppliedResult,
    ContentState,
    EventType,
    ItemSource,
    Outcome,
    Verdict,
)

_log = structlog.get_logger("fencepost.apply")
_FIRST_WAIT = timedelta(seconds=5)
_MOST_TRIES = 8


class _Effected(msgspec.Struct, frozen=True, kw_only=True):
    """What one decision came to."""

    row: DueRow
    result: AppliedResult
    state: ContentState
    events: list[Event]
    opened: RoundRow | None = None


async def apply_due(db: Database, limit: int = 50, *, tell: Tell = nobody) -> int:
    """Apply up to `limit` due decisions and return how many left the line.

    If the batch fails, each is tried alone, so that one bad row holds up nobody; the one that fails
    is put off, and after some tries given up where leads see it. Safe in any number of processes.
    """
    try:
        return await _batch(db, limit, tell)
    except UnavailableError:
        raise
    except Exception as error:  # noqa: BLE001 - one of them is at fault: found below
        _log.warning("batch_failed", error=type(error).__name__)
    return await _one_by_one(db, limit, tell)


async def _batch(db: Database, limit: int, tell: Tell) -> int:
    async with db.transaction() as conn:
        due = await lock_due(conn, limit=limit)
        effected = await _apply(conn, due)
    _tell_of(effected, tell)
    return len(effected)


def _tell_of(effected: Sequence[_Effected], tell: Tell) -> None:
    for opened in [one.opened for one in effected if one.opened is not None]:
        for news in depth(opened.tenant_id, opened.queue):
            tell(news)


async def _one_by_one(db: Database, limit: int, tell: Tell) -> int:
    done = 0
    for _ in range(limit):
        due: list[DueRow] = []
        try:
            async with db.transaction() as conn:
                due = await lock_due(conn, limit=1)
                effected = await _apply(conn, due)
            _tell_of(effected, tell)
            done += len(effected)
        except (UnavailableError, OutcomeUnknownError, ContentionError):
            raise  # the database is in trouble, not the decision: the next tick tries again
        except Exception as error:
            if not due:
                raise
            async with db.transaction() as conn:
                await _put_off(conn, due[0], error)
        if not due:
            break
    return done


async def _put_off(conn: Connection, row: DueRow, error: Exception) -> None:
    """Wait twice as long after each try; only the kind of the error is kept: its text may quote."""
    _log.error("decision_failed", decision=row.decision_pk, error=type(error).__name__)
    tries = row.attempts + 1
    await put_off(
        conn,
        decision_pk=row.decision_pk,
        wait=_FIRST_WAIT * 2**row.attempts,
        last_error=type(error).__name__,
        dead=tries >= _MOST_TRIES,
    )


async def _apply(conn: Connection, due: Sequence[DueRow]) -> Sequence[_Effected]:
    if not due:
        return ()
    taken = await take_pending(conn, decision_ids=[row.decision_pk for row in due])
    rounds = await find_open_rounds(conn, content_ids=[row.content_pk for row in due])
    effected = [
        await _effect(conn, row, rounds.get(row.content_pk))
        for row in due
        if row.decision_pk in taken
    ]
    if not effected:
        return ()
    await insert_events(conn, [(e.row.content_pk, event) for e in effected for event in e.events])
    await apply_decisions(
        conn,
        [(e.row.decision_pk, e.result.value) for e in effected],
        [_advance(e) for e in effected],
        [out for e in effected for out in _outgoing(e)],
    )
    return effected


async def _effect(conn: Connection, row: DueRow, open_round: str | None) -> _Effected:
    if row.decision_pk != row.head_decision:
        return _Effected(
            row=row,
            result=AppliedResult.SKIPPED,
            state=ContentState(row.content_state),
            events=_events(row, [_fact(row, EventType.DECISION_SKIPPED, row.content_state)]),
        )
    state = applied_state(
        ContentState(row.content_state),
        Outcome(row.outcome),
        Actor(row.actor),
        None if open_round is None else ItemSource(open_round),
    )
    facts = [_fact(row, EventType.DECISION_APPLIED, state)]
    opened = None
    if row.verdict == Verdict.ESCALATE:
        opened = await _next_round(conn, row)
        facts.append(_queued(row, opened))
    return _Effected(
        row=row,
        result=AppliedResult.APPLIED,
        state=state,
        events=_events(row, facts),
        opened=opened,
    )


async def _next_round(conn: Connection, row: DueRow) -> RoundRow:
    if row.item_pk is None:
        raise ValueError("a verdict without an item can't be escalated")
    opened = await open_next_round(conn, item_pk=row.item_pk, source=ItemSource.ESCALATION.value)
    if opened is None:
        raise LookupError("the item of a verdict is gone")
    return opened


def _queued(row: DueRow, opened: RoundRow) -> Fact:
    return Fact(
        type=EventType.ITEM_QUEUED,
        at=row.now,
        actor=row.actor,
        principal=None if row.principal_id is None else str(row.principal_id),
        data={
            "item": str(opened.item_pk),
            "queue": opened.queue,
            "round": opened.round,
            "source": ItemSource.ESCALATION.value,
        },
    )


def _fact(row: DueRow, kind: EventType, state: str) -> Fact:
    return Fact(
        type=kind,
        at=row.now,
        actor=row.actor,
        principal=None if row.principal_id is None else str(row.principal_id),
        data={
            "decision": str(row.decision_pk),
            "outcome": row.outcome,
            "outcome_value": row.outcome_value,
            "state": str(state),
            "policy": row.policy_version,
            "model": row.model_version,
        },
    )


def _events(row: DueRow, facts: list[Fact]) -> list[Event]:
    return chain(row.content_id, row.seq + 1, row.chain_head, facts, tenant=row.tenant)


def _advance(effected: _Effected) -> Advance:
    row, last = effected.row, effected.events[-1]
    # An outcome of none settles nothing: what held before still speaks for the content.
    decided = effected.result is AppliedResult.APPLIED and row.outcome != Outcome.NONE
    return Advance(
        content_pk=row.content_pk,
        state=effected.state.value,
        actor=row.actor if decided else row.content_actor,
        applied_decision=row.decision_pk if decided else row.applied_decision,
        head_decision=row.head_decision,
        seq=last.seq,
        chain_head=last.hash,
        decided=decided,
    )


def _outgoing(effected: _Effected) -> list[Outgoing]:
    if effected.result is not AppliedResult.APPLIED:
        return []
    row = effected.row
    taken = Taken(
        decision_id=row.decision_pk,
        tenant=row.tenant,
        content_id=row.content_id,
        seq=effected.events[-1].seq,
        state=effected.state,
        actor=Actor(row.actor),
        outcome=Outcome(row.outcome),
        at=row.now,
        policy_version=row.policy_version,
        outcome_value=row.outcome_value,
        verdict=None if row.verdict is None else Verdict(row.verdict),
        reason=row.reason,
        model_version=row.model_version,
        supersedes=row.supersedes,
    )
    return outgoing(row.content_pk, taken)


def outgoing(content_pk: int, taken: Taken) -> list[Outgoing]:
    """Return what a decision that takes effect puts into the outbox; a submission asks here too."""
    return [
        Outgoing(
            decision_pk=taken.decision_id,
            content_pk=content_pk,
            kind=effect.kind.value,
            key=effect.key,
            payload=effect.payload,
        )
        for effect in effects_for(taken)
    ]
