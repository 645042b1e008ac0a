"""What leads page through: the items of a queue, and the history of an item's leases.

A page ends at a line, not at a number: what comes or goes between two pages shifts nothing. A line
whose own place changes meanwhile (a lease that is renewed) may be met twice or missed.
"""

from __future__ import annotations

from collections.abc import Sequence

from backend.db.connection import Connection, Database
from backend.db.item import (
    ItemLineRow,
    LeaseEntryRow,
    find_item,
    list_held,
    list_leases,
    list_parked,
    list_stuck,
    list_unclaimable,
    list_waiting,
)
from backend.db.policy import read_queues
from backend.domain.cursor import Place, moment, place, read_cursor, write_cursor
from backend.domain.identity import Identity
from backend.domain.policy import Policy
from backend.domain.refusals import Forbidden, InvalidField, NotFound
from backend.services.cockpit import PRESENT_WITHIN
from backend.services.lease import item_key
from shared.vocabulary import ItemList, ItemSource, ItemState, LeaseHappening, Role
from shared.wire.item import PAGE_LIMIT, ItemLine, ItemPage, LeaseEntry, LeasePage

_BY_RANK = frozenset({ItemList.WAITING, ItemList.UNCLAIMABLE})


async def item_page(  # noqa: PLR0913, PLR0917 - who asks for which page of what
    db: Database,
    policy: Policy,
    who: Identity,
    queue: str,
    wanted: ItemList,
    after: str | None,
    limit: int,
) -> ItemPage:
    """Return a page of one of a queue's lists, which `who` leads, by any name that it had.

    Raises Forbidden, NotFound for a queue that there is none of, and InvalidField for a cursor that
    is not this list's and a limit outside [1, PAGE_LIMIT].
    """
    queue = policy.queue_named(queue) or queue
    if not who.may(Role.LEAD, queue):
        raise Forbidden("you do not lead this queue, if there is one of this name")
    name = f"{wanted}:{queue}"
    size = _size(limit)
    begin = begin_at(after, name)
    async with db.transaction(readonly=True) as conn:
        if queue not in {known.name for known in await read_queues(conn, who.tenant_id)}:
            raise NotFound("there is no such queue", field="queue")
        rows = await _list(conn, policy, who, queue, wanted, begin, size + 1)
    last = rows[size - 1] if len(rows) > size else None
    key = None if last is None else last.rank if wanted in _BY_RANK else last.key
    return ItemPage(
        items=tuple(_line(row) for row in rows[:size]),
        after=None if last is None else write_cursor(place(name, key, last.item_pk)),
    )


async def lease_page(
    db: Database, who: Identity, item_id: str, after: str | None, limit: int
) -> LeasePage:
    """Return what happened to the leases of an item, oldest first, for a lead of its queue.

    Raises NotFound, Forbidden, and InvalidField as `item_page` does.
    """
    item_pk = item_key(item_id)
    size = _size(limit)
    name = f"leases:{item_pk}"
    begin = begin_at(after, name)
    async with db.transaction(readonly=True) as conn:
        queue = await find_item(conn, tenant_id=who.tenant_id, item_id=item_pk)
        if queue is None:
            raise NotFound("there is no such item", field="item_id")
        if not who.may(Role.LEAD, queue):
            raise Forbidden("you do not lead the queue that it is in")
        rows = await list_leases(conn, item_id=item_pk, after=begin.id, limit=size + 1)
    last = rows[size - 1] if len(rows) > size else None
    return LeasePage(
        entries=tuple(_entry(row) for row in rows[:size]),
        after=None if last is None else write_cursor(place(name, None, last.log_pk)),
    )


def _size(limit: int) -> int:
    if not 1 <= limit <= PAGE_LIMIT:
        raise InvalidField(f"a page has 1 to {PAGE_LIMIT} lines", field="limit")
    return limit


def begin_at(after: str | None, name: str) -> Place:
    """Return where a page of the list `name` begins. Raises InvalidField for a foreign cursor."""
    if after is None:
        return Place(list=name, id=0)
    try:
        return read_cursor(after, name)
    except ValueError:
        raise InvalidField("take it from the last page of this list", field="after") from None


async def _list(  # noqa: PLR0913, PLR0917 - who asks for which page of what
    conn: Connection,
    policy: Policy,
    who: Identity,
    queue: str,
    wanted: ItemList,
    begin: Place,
    limit: int,
) -> Sequence[ItemLineRow]:
    tenant, behind = who.tenant_id, begin.id
    at = None if begin.at is None else moment(begin.at)
    match wanted:
        case ItemList.WAITING:
            return await list_waiting(
                conn, tenant_id=tenant, queue=queue, rank=begin.rank, item_id=behind, limit=limit
            )
        case ItemList.HELD:
            return await list_held(
                conn, tenant_id=tenant, queue=queue, at=at, item_id=behind, limit=limit
            )
        case ItemList.PARKED:
            return await list_parked(
                conn, tenant_id=tenant, queue=queue, at=at, item_id=behind, limit=limit
            )
        case ItemList.STUCK:
            return await list_stuck(
                conn, tenant_id=tenant, queue=queue, item_id=behind, limit=limit
            )
        case ItemList.UNCLAIMABLE:
            terms = policy.queues.get(queue)
            return await list_unclaimable(
                conn,
                tenant_id=tenant,
                queue=queue,
                roles=() if terms is None else [role.value for role in terms.claimable_by],
                principal_id=who.principal_id,
                present_within=PRESENT_WITHIN,
                rank=begin.rank,
                item_id=behind,
                limit=limit,
            )


def _line(row: ItemLineRow) -> ItemLine:
    return ItemLine(
        item_id=str(row.item_pk),
        content_id=row.content_id,
        queue=row.queue,
        round=row.round,
        source=ItemSource(row.source),
        state=ItemState(row.state),
        rank=row.rank,
        severity=row.severity,
        age_ms=row.age_ms,
        sla_age_ms=row.sla_age_ms,
        lease_count=row.lease_count,
        left_by=row.left_by,
        lease_epoch=row.lease_epoch,
        holder=row.holder,
        since=row.since,
        ends_in_ms=row.ends_in_ms,
        stuck=row.stuck,
        abandoned=row.abandoned,
    )


def _entry(row: LeaseEntryRow) -> LeaseEntry:
    return LeaseEntry(
        at=row.at,
        happening=LeaseHappening(row.happening),
        lease_epoch=row.lease_epoch,
        person=row.person,
        by=row.by,
        reason=row.reason,
        times=row.times,
    )
