"""Bring the undecided items of a closed queue to the one that took its place.

The item alone moves from one queue to the other: who holds it goes on holding it, his token is
good, and rank, date, and who left it stay. A closed queue is never offered to anybody, so nothing
is lost while items are on their way, whoever brings them and however often he is interrupted.
"""

from __future__ import annotations

from collections.abc import Sequence

from backend.db.connection import Connection, Database
from backend.db.content import advance_chains
from backend.db.event import insert_events
from backend.db.policy import read_active_policy
from backend.db.stray import StrayQueue, StrayRow, bring_strays, find_strays, lock_strays
from backend.domain.ledger import Event, Fact, chain
from backend.domain.policy import parse_policy
from backend.services.news import Tell, depth, nobody
from shared.vocabulary import EventType

RENAMED = "renamed"
"""Why an item moved: the policy that came into force names its queue as a former one."""

STRAY = "stray"
"""Why an item moved: it came to a queue that had just been closed."""


async def rescue_strays(db: Database, limit: int = 200, *, tell: Tell = nobody) -> int:
    """Bring up to `limit` items of each state out of each closed queue; return how many moved.

    They go to the queue that took its place, or to the default queue of the policy in force. Safe
    in any number of processes; what somebody works on at this moment is left for the next time.
    """
    async with db.connection() as conn:
        queues = await find_strays(conn, limit)
    moved = 0
    for queue in queues:
        async with db.transaction() as conn:
            target = queue.successor or await _default_queue(conn, queue)
            brought = await bring(conn, queue.tenant_id, queue.queue, target, STRAY, limit=limit)
        if brought:
            for news in depth(queue.tenant_id, queue.queue, target):
                tell(news)
        moved += brought
    return moved


async def bring(  # noqa: PLR0913 - from where, to where, why, and how many
    conn: Connection,
    tenant_id: int,
    queue: str,
    target: str,
    why: str,
    *,
    limit: int,
    principal: str | None = None,
) -> int:
    """Bring up to `limit` undecided items of each state to `target`; return how many moved."""
    strays = await lock_strays(conn, tenant_id, queue, limit)
    if not strays:
        return 0
    await bring_strays(conn, [row.item_pk for row in strays], target)
    events = _events(strays, {"from": queue, "to": target, "why": why}, principal)
    await insert_events(conn, events)
    last = dict(events)
    await advance_chains(
        conn, list(last), [event.seq for event in last.values()], [e.hash for e in last.values()]
    )
    return len(strays)


async def _default_queue(conn: Connection, queue: StrayQueue) -> str:
    row = await read_active_policy(conn, queue.tenant_id)
    if row is None:
        raise LookupError("a queue was closed, and yet no policy is in force")
    return parse_policy(row.document).default_queue


def _events(
    strays: Sequence[StrayRow], data: dict[str, str], principal: str | None
) -> list[tuple[int, Event]]:
    """Return the events with their contents; two items of one content follow one another."""
    ends: dict[int, tuple[int, bytes]] = {}
    events = []
    for row in strays:
        seq, head = ends.get(row.content_pk, (row.seq, row.chain_head))
        fact = Fact(
            type=EventType.ITEM_MOVED,
            at=row.now,
            principal=principal,
            data={"item": str(row.item_pk), **data},
        )
        (event,) = chain(row.content_id, seq + 1, head, [fact], tenant=row.tenant)
        ends[row.content_pk] = (event.seq, event.hash)
        events.append((row.content_pk, event))
    return events
