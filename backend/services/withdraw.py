"""Nobody needs to look any more: a lead says so of items, a producer of a content.

A content that people looked at once more goes back to what held before; one that was never decided
stays pending. What an author contests is not withdrawn: he is owed an answer. Nor is what new
evidence brought back while a verdict on the old one waits: that takes effect first.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from backend.db.connection import Connection, Database
from backend.db.item import (
    LockedContent,
    LockedItem,
    RoundRow,
    Settlement,
    advance_rounds,
    read_moment,
    read_settled,
)
from backend.db.withdraw import find_in_line, leave_intake
from backend.db.withdraw import withdraw_items as resolve_as_withdrawn
from backend.domain.identity import Identity
from backend.domain.refusals import Forbidden, NoOpenItem
from backend.domain.states import withdrawn as without_round
from backend.services.news import News, Tell, depth, nobody
from backend.services.rounds import (
    Judged,
    Locked,
    Trail,
    in_chunks,
    is_open,
    lock_round,
    lock_rounds,
)
from shared.vocabulary import (
    BulkResult,
    ContentState,
    EventType,
    ItemSource,
    ItemState,
    NewsKind,
    Outcome,
    Resolution,
    Role,
)
from shared.wire.item import BulkAnswer, WithdrawItemsRequest, Withdrawn

_DONE: Judged = (BulkResult.DONE, "")
_FORBIDDEN: Judged = (BulkResult.FORBIDDEN, "you do not lead the queue that it is in")
_DECIDED: Judged = (BulkResult.RESOLVED, "it was decided before")
_WITHDRAWN: Judged = (BulkResult.UNCHANGED, "it was withdrawn before")
_APPEAL: Judged = (BulkResult.REFUSED, "an appeal is decided, not withdrawn")
_IN_LINE: Judged = (BulkResult.REFUSED, "a decision is about to take effect")
_BESIDE = frozenset({ItemSource.SECOND_LOOK, ItemSource.GOLDEN})
"""Rounds that no state of the content stands for."""


async def withdraw_items(
    db: Database, who: Identity, request: WithdrawItemsRequest, *, tell: Tell = nobody
) -> BulkAnswer:
    """Withdraw items, with an answer for each; one that was withdrawn before is unchanged."""

    async def deed(keys: Sequence[int]) -> dict[int, Judged]:
        async with db.transaction() as conn:
            locked = await lock_rounds(conn, who, keys)
            in_line = await find_in_line(conn, content_ids=list(locked.contents))
            judged = {key: _judge(who, item, in_line) for key, item in locked.items.items()}
            gone = [locked.items[key] for key, said in judged.items() if said is _DONE]
            if gone:
                await _withdraw(conn, who, locked, gone)
        _tell(tell, who, [(item.item_pk, item.queue, item.owner) for item in gone])
        return judged

    return await in_chunks(request.items, deed)


def _judge(who: Identity, item: LockedItem, in_line: Collection[int]) -> Judged:
    if not who.may(Role.LEAD, item.queue):
        return _FORBIDDEN
    if item.state == ItemState.RESOLVED:
        return _WITHDRAWN if item.resolution == Resolution.WITHDRAWN else _DECIDED
    if item.source == ItemSource.APPEAL:
        return _APPEAL
    return _IN_LINE if item.content_pk in in_line and item.source not in _BESIDE else _DONE


async def _withdraw(
    conn: Connection, who: Identity, locked: Locked, gone: Sequence[LockedItem]
) -> None:
    now = await read_moment(conn)
    await _resolve(conn, who, [item.item_pk for item in gone], now)
    contents = {item.content_pk: locked.contents[item.content_pk] for item in gone}
    looked_at = {item.content_pk for item in gone if item.source not in _BESIDE}
    states = await _states(conn, [contents[key] for key in looked_at])
    trail = Trail(who, contents.values())
    for item in gone:
        state = states.get(item.content_pk, contents[item.content_pk].state)
        told = {"item": str(item.item_pk), "queue": item.queue, "state": str(state)}
        trail.add(item.content_pk, EventType.ITEM_WITHDRAWN, now, told)
    await _settle(conn, trail, contents, states, None)


async def withdraw_content(
    db: Database, who: Identity, content_id: str, *, tell: Tell = nobody
) -> Withdrawn:
    """Take a content back for its producer; a repetition gets the same answer.

    Raises NotFound; Forbidden for a content of others in a queue that the key is not for; and
    NoOpenItem for what is decided, about to be, or contested.
    """
    async with db.transaction() as conn:
        row, content = await lock_round(conn, who, content_id)
        _refuse_others(who, row)
        before = _before(row)
        if before is not None:
            return before
        _refuse_decided(row)
        answer = await _take_back(conn, who, row, content)
    if is_open(row) and row.item_pk is not None and row.queue is not None:
        _tell(tell, who, [(row.item_pk, row.queue, row.owner)])
    return answer


def _refuse_others(who: Identity, row: RoundRow) -> None:
    """Let producers withdraw their own contents, and what stands in a queue they submit to."""
    if row.submitted_by == who.principal_id or who.may(Role.PRODUCER, row.queue or ""):
        return
    raise Forbidden("your key submits neither this content nor to its queue", field="content_id")


def _before(row: RoundRow) -> Withdrawn | None:
    """Return the answer of an earlier withdrawal: the item that it ended ended with it."""
    if row.withdrawn_at is None or is_open(row):
        return None
    ended = row.resolution == Resolution.WITHDRAWN and row.resolved_at == row.withdrawn_at
    return Withdrawn(
        content_id=row.content_id,
        item_id=str(row.item_pk) if ended else None,
        withdrawn_at=row.withdrawn_at,
    )


def _refuse_decided(row: RoundRow) -> None:
    if is_open(row) and row.item_source == ItemSource.APPEAL:
        raise NoOpenItem("its author contests the decision: that is decided, not withdrawn")
    if row.in_line:  # also where new evidence has opened another round meanwhile
        raise NoOpenItem("a decision is about to take effect")
    if not is_open(row) and row.state != ContentState.PENDING:
        raise NoOpenItem("it is decided, and nobody is looking at it")


async def _take_back(
    conn: Connection, who: Identity, row: RoundRow, content: LockedContent
) -> Withdrawn:
    now = await read_moment(conn)
    item_id = None
    if is_open(row) and row.item_pk is not None:
        item_id = str(row.item_pk)
        await _resolve(conn, who, [row.item_pk], now)
    await leave_intake(conn, content_pk=row.content_pk)
    states = await _states(conn, [content])
    trail = Trail(who, [content])
    told = {"item": item_id, "state": states[row.content_pk].value}
    trail.add(row.content_pk, EventType.CONTENT_WITHDRAWN, now, told)
    await _settle(conn, trail, {row.content_pk: content}, states, now)
    return Withdrawn(content_id=row.content_id, item_id=item_id, withdrawn_at=now)


async def _resolve(conn: Connection, who: Identity, item_pks: list[int], now: datetime) -> None:
    done = await resolve_as_withdrawn(
        conn, tenant_id=who.tenant_id, item_ids=item_pks, by=who.principal_id, now=now
    )
    if len(done) != len(item_pks):
        raise LookupError("an item that was locked could not be withdrawn")


async def _states(conn: Connection, contents: Sequence[LockedContent]) -> dict[int, ContentState]:
    """Return the states that contents are in when nobody looks at them any more."""
    looked_at = [row.content_pk for row in contents if row.state == ContentState.IN_REVIEW]
    settled = await read_settled(conn, content_ids=looked_at) if looked_at else {}
    outcomes = {key: Outcome(outcome) for key, outcome in settled.items()}
    return {
        row.content_pk: without_round(ContentState(row.state), outcomes.get(row.content_pk))
        for row in contents
    }


async def _settle(
    conn: Connection,
    trail: Trail,
    contents: dict[int, LockedContent],
    states: dict[int, ContentState],
    withdrawn_at: datetime | None,
) -> None:
    """Write the trail, and bring each content to its end; None keeps what `withdrawn_at` said."""
    await trail.write(conn)
    rows = [
        Settlement(
            content_pk=key,
            state=str(states.get(key, contents[key].state)),
            seq=seq,
            chain_head=head,
            withdrawn_at=withdrawn_at or contents[key].withdrawn_at,
        )
        for key, (seq, head) in trail.ends.items()
    ]
    await advance_rounds(conn, rows)


def _tell(tell: Tell, who: Identity, gone: Sequence[tuple[int, str, int | None]]) -> None:
    """Tell whoever held one of these (item, queue, holder), and who watches their queues."""
    for item_pk, _, holder in gone:
        if holder is not None:
            tell(
                News(
                    kind=NewsKind.ITEM_WITHDRAWN,
                    tenant_id=who.tenant_id,
                    item_pk=item_pk,
                    principal_id=holder,
                )
            )
    for news in depth(who.tenant_id, *(queue for _, queue, _ in gone)):
        tell(news)
