"""Give run-out leases back, wake what was parked, and move what different people left undecided.

Nothing waits for the first two: a claim does both in its own queue. It runs for the promptness of
figures, and for escalation, which a claim only marks. A claim and the redriver may meet on an item;
each passes over what the other has locked.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import structlog

from backend.db.apply import advance_trail
from backend.db.connection import Connection, Database
from backend.db.errors import ContentionError, OutcomeUnknownError, UnavailableError
from backend.db.event import insert_events
from backend.db.lease import (
    AbandonedRow,
    PlacedRow,
    give_back,
    lock_abandoned,
    lock_run_out,
    mark_stuck,
    move_to_escalation,
)
from backend.db.park import wake_due
from backend.domain.ledger import Event, Fact, chain
from backend.services.news import News, Tell, depth, nobody
from shared.vocabulary import EventType, NewsKind

_log = structlog.get_logger("fencepost.redrive")


class RedriveReport(msgspec.Struct, frozen=True, kw_only=True):
    """How many leases were given back, items woken, and items moved or found stuck."""

    given_back: int
    escalated: int
    stuck: int
    woken: int = 0

    @property
    def busy(self) -> bool:
        """Tell whether there was anything to do, so that there may be more."""
        return bool(self.given_back or self.woken or self.escalated or self.stuck)


async def redrive(db: Database, limit: int = 200, *, tell: Tell = nobody) -> RedriveReport:
    """Do one bounded batch of each; safe to run in any number of processes, and to be killed.

    Each kind is a transaction of its own, told of when it has committed. An item that can't be
    moved holds up no other.
    """
    async with db.transaction() as conn:
        run_out = await lock_run_out(conn, limit=limit)
        given = await give_back(conn, item_ids=sorted(run_out)) if run_out else []
    _spread(_depths(given), tell)
    async with db.transaction() as conn:
        woken = await wake_due(conn, limit=limit)
    _spread(_depths(woken), tell)
    abandoned = await _escalations(db, limit, tell)
    moved = sum(map(_goes_on, abandoned))
    return RedriveReport(
        given_back=len(given),
        woken=len(woken),
        escalated=moved,
        stuck=len(abandoned) - moved,
    )


def _spread(news: Iterable[News], tell: Tell) -> None:
    for each in news:
        tell(each)


def _depths(rows: Iterable[PlacedRow]) -> list[News]:
    places = dict.fromkeys((row.tenant_id, row.queue) for row in rows)
    return [news for tenant_id, queue in places for news in depth(tenant_id, queue)]


async def _escalations(db: Database, limit: int, tell: Tell) -> list[AbandonedRow]:
    """Move or mark a batch; if that fails, each of them alone."""
    try:
        return await _batch(db, tell, after=0, limit=limit)
    except (UnavailableError, OutcomeUnknownError, ContentionError):
        raise  # the database is in trouble, not an item: the next tick tries again
    except Exception as error:  # noqa: BLE001 - one of them is at fault: found below
        _log.warning("batch_failed", error=type(error).__name__)
    return await _one_by_one(db, limit, tell)


async def _one_by_one(db: Database, limit: int, tell: Tell) -> list[AbandonedRow]:
    done: list[AbandonedRow] = []
    after = 0
    for _ in range(limit):
        row: AbandonedRow | None = None
        try:
            async with db.transaction() as conn:
                for row in await lock_abandoned(conn, after=after, limit=1):
                    await _pass_on(conn, row)
        except (UnavailableError, OutcomeUnknownError, ContentionError):
            raise
        except Exception as error:
            if row is None:
                raise
            _log.error("escalation_failed", item=row.item_pk, error=type(error).__name__)
        else:
            if row is None:
                break
            _spread(_news_of([row]), tell)
            done.append(row)
        after = row.item_pk
    return done


async def _batch(db: Database, tell: Tell, *, after: int, limit: int) -> list[AbandonedRow]:
    async with db.transaction() as conn:
        abandoned = await lock_abandoned(conn, after=after, limit=limit)
        for row in abandoned:
            await _pass_on(conn, row)
    _spread(_news_of(abandoned), tell)
    return abandoned


async def _pass_on(conn: Connection, row: AbandonedRow) -> None:
    if _goes_on(row):
        await _escalate(conn, row)
    else:
        await mark_stuck(conn, item_id=row.item_pk)


def _news_of(rows: Iterable[AbandonedRow]) -> list[News]:
    """Return that the depth of queues changed, and whose tokens died."""
    places: dict[tuple[int, str], None] = {}
    revoked: list[News] = []
    for row in rows:
        places[row.tenant_id, row.queue] = None
        if not _goes_on(row) or row.escalation_queue is None:
            continue
        places[row.tenant_id, row.escalation_queue] = None
        if row.owner is not None:
            revoked.append(
                News(
                    kind=NewsKind.LEASE_REVOKED,
                    tenant_id=row.tenant_id,
                    item_pk=row.item_pk,
                    principal_id=row.owner,
                )
            )
    depths = [news for tenant_id, queue in places for news in depth(tenant_id, queue)]
    return revoked + depths


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
