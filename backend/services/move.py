"""A lead takes items from one queue to another, whoever holds them.

Whoever held one is told; his token is dead. What was parked stays parked, and what different people
left undecided begins anew: it is before other people now.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from backend.db.connection import Connection, Database
from backend.db.content import advance_chains
from backend.db.item import LockedItem, read_moment
from backend.db.move import move_items, open_queue
from backend.domain.identity import Identity
from backend.domain.policy import Policy
from backend.domain.refusals import Forbidden, NotFound
from backend.services.admission import refuse_draining
from backend.services.news import News, Tell, depth, nobody
from backend.services.rounds import Judged, Locked, Trail, in_chunks, lock_rounds
from shared.vocabulary import BulkResult, EventType, ItemState, NewsKind, Role
from shared.wire.item import BulkAnswer, MoveRequest

DONE: Judged = (BulkResult.DONE, "")
_THERE: Judged = (BulkResult.UNCHANGED, "it is in that queue")
_RESOLVED: Judged = (BulkResult.RESOLVED, "it was resolved before")
_CLOSED: Judged = (BulkResult.REFUSED, "that queue takes no new items any more")
FORBIDDEN: Judged = (BulkResult.FORBIDDEN, "you do not lead the queue that it is in")


async def move(
    db: Database, policy: Policy, who: Identity, request: MoveRequest, *, tell: Tell = nobody
) -> BulkAnswer:
    """Move items to the queue `request.to`, with an answer for each.

    Raises NotFound for a queue that the policy lacks, Forbidden for one that `who` does not lead,
    and QueueDraining for one that takes nothing new.
    """
    to = target(policy, who, request.to, field="to")

    async def deed(keys: Sequence[int]) -> dict[int, Judged]:
        async with db.transaction() as conn:
            is_open = await open_queue(conn, tenant_id=who.tenant_id, queue=to)
            locked = await lock_rounds(conn, who, keys)
            judged = {
                key: _judge(who, item, to, is_open=is_open) for key, item in locked.items.items()
            }
            moved = [locked.items[key] for key, said in judged.items() if said is DONE]
            if moved:
                await _move(conn, who, locked, moved, to)
        for news in _news(who, moved, to):
            tell(news)
        return judged

    return await in_chunks(request.items, deed)


def target(policy: Policy, who: Identity, queue: str, *, field: str) -> str:
    """Return the queue of this name, or what took its place, for a lead who sends items there.

    Raises NotFound, Forbidden and QueueDraining.
    """
    present = policy.queue_named(queue)
    if not who.may(Role.LEAD, queue if present is None else present):
        raise Forbidden("you do not lead this queue, if there is one of this name", field=field)
    if present is None:
        raise NotFound("the policy has no such queue", field=field)
    refuse_draining(policy, present)
    return present


def _judge(who: Identity, item: LockedItem, to: str, *, is_open: bool) -> Judged:
    if not who.may(Role.LEAD, item.queue):
        return FORBIDDEN
    if item.state == ItemState.RESOLVED:
        return _RESOLVED
    if item.queue == to:
        return _THERE
    return DONE if is_open else _CLOSED


async def _move(
    conn: Connection, who: Identity, locked: Locked, moved: Sequence[LockedItem], to: str
) -> None:
    now = await read_moment(conn)
    done = await move_items(
        conn,
        tenant_id=who.tenant_id,
        item_ids=[item.item_pk for item in moved],
        to=to,
        by=who.principal_id,
        now=now,
    )
    if len(done) != len(moved):
        raise LookupError("an item that was locked could not be moved")
    trail = _trail(who, locked, moved, to, now)
    await trail.write(conn)
    await advance_chains(
        conn,
        list(trail.ends),
        [seq for seq, _ in trail.ends.values()],
        [head for _, head in trail.ends.values()],
    )


def _trail(
    who: Identity, locked: Locked, moved: Sequence[LockedItem], to: str, now: datetime
) -> Trail:
    trail = Trail(who, locked.contents.values())
    for item in moved:
        told = {"item": str(item.item_pk), "from": item.queue, "to": to}
        trail.add(item.content_pk, EventType.ITEM_MOVED, now, told)
    return trail


def _news(who: Identity, moved: Sequence[LockedItem], to: str) -> list[News]:
    if not moved:
        return []
    revoked = [
        News(
            kind=NewsKind.LEASE_REVOKED,
            tenant_id=who.tenant_id,
            item_pk=item.item_pk,
            principal_id=item.owner,
        )
        for item in moved
        if item.owner is not None
    ]
    return [*revoked, *depth(who.tenant_id, *(item.queue for item in moved), to)]
