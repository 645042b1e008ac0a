"""Give run-out leases back, and move what different people left undecided to where it is decided.

Nothing waits for this: a claim gives run-out leases back by itself. It runs for the promptness of
figures, and for escalation, which a claim only marks. A claim and the redriver may meet on an item;
each passes over what the other has locked.
"""

from __future__ import annotations

import msgspec

from backend.db.apply import advance_trail
from backend.db.connection import Connection, Database
from backend.db.event import insert_events
from backend.db.lease import (
    AbandonedRow,
    give_back,
    lock_abandoned,
    lock_run_out,
    mark_stuck,
    move_to_escalation,
)
from backend.domain.ledger import Event, Fact, chain
from shared.vocabulary import EventType


class RedriveReport(msgspec.Struct, frozen=True, kw_only=True):
    """How many leases were given back, and how many items were moved or found stuck."""

    given_back: int
    escalated: int
    stuck: int

    @property
    def busy(self) -> bool:
        """Tell whether there was anything to do, so that there may be more."""
        return bool(self.given_back or self.escalated or self.stuck)


async def redrive(db: Database, limit: int = 200) -> RedriveReport:
    """Do one bounded batch of each; safe to run in any number of processes, and to be killed."""
    async with db.transaction() as conn:
        run_out = await lock_run_out(conn, limit=limit)
        given = await give_back(conn, item_ids=sorted(run_out)) if run_out else []
    async with db.transaction() as conn:
        abandoned = await lock_abandoned(conn, limit=limit)
        moved = [row for row in abandoned if _goes_on(row)]
        stuck = [row for row in abandoned if not _goes_on(row)]
        for row in moved:
            await _escalate(conn, row)
        for row in stuck:
            await mark_stuck(conn, item_id=row.item_pk)
    return RedriveReport(given_back=len(given), escalated=len(moved), stuck=len(stuck))


def _goes_on(row: AbandonedRow) -> bool:
    """Tell what is moved from what is stuck: an item is escalated once, if a queue is above."""
    return row.escalation_queue is not None and row.escalated_at is None


async def _escalate(conn: Connection, row: AbandonedRow) -> None:
    if row.escalation_queue is None:
        raise ValueError("an item without an escalation queue can't be escalated")
    await move_to_escalation(
        conn, item_id=row.item_pk, queue=row.escalation_queue, boost=row.escalation_boost
    )
    event = _escalated(row)
    await insert_events(conn, [(row.content_pk, event)])
    await advance_trail(conn, content_pk=row.content_pk, seq=event.seq, chain_head=event.hash)


def _escalated(row: AbandonedRow) -> Event:
    fact = Fact(
        type=EventType.ITEM_ESCALATED,
        at=row.now,
        data={
            "item": str(row.item_pk),
            "from": row.queue,
            "to": row.escalation_queue,
            "why": "left_undecided",
            "left_by": row.left_by,
            "leases": row.lease_count,
        },
    )
    (event,) = chain(row.content_id, row.seq + 1, row.chain_head, [fact], tenant=row.tenant)
    return event
