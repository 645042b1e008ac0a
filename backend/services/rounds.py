"""What deeds upon rounds of work have in common: locks in order, chunks, and the trail.

Items are locked before contents, ids ascending. A bulk is done in chunks, each a transaction of its
own, so that five hundred items are not held up by the last of them, and one that can't be had
rejects no other.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeAlias

import msgspec

from backend.db.connection import Connection
from backend.db.errors import ContentionError
from backend.db.event import insert_events
from backend.db.item import (
    LockedContent,
    LockedItem,
    RoundRow,
    lock_contents,
    lock_items,
    read_round,
)
from backend.domain.identity import Identity
from backend.domain.ledger import Event, Fact, chain
from backend.domain.refusals import Busy, NotFound
from backend.services.lease import item_key
from backend.services.steady import steadily
from shared.ids import is_content_id
from shared.vocabulary import BulkResult, EventType, ItemState
from shared.wire.item import BulkAnswer, BulkRow

CHUNK = 50
"""How many items one transaction of a bulk holds."""

Judged: TypeAlias = tuple[BulkResult, str]
Judgements: TypeAlias = Mapping[int, Judged]
Deed: TypeAlias = Callable[[Sequence[int]], Awaitable[Judgements]]

_NOT_FOUND: Judged = (BulkResult.NOT_FOUND, "there is no such item")
_AGAIN: Judged = (BulkResult.UNCHANGED, "named before in this request")
_NOT_TRIED: Judged = (BulkResult.REFUSED, "the database was too busy: send this one again")


class Locked(msgspec.Struct, frozen=True, kw_only=True):
    """Items that are locked together with their contents, by key."""

    items: dict[int, LockedItem]
    contents: dict[int, LockedContent]


async def lock_rounds(conn: Connection, who: Identity, item_pks: Iterable[int]) -> Locked:
    """Lock those of these items that the asker's tenant has, then their contents."""
    items = await lock_items(conn, tenant_id=who.tenant_id, item_ids=sorted(item_pks))
    contents = await lock_contents(conn, content_ids=sorted({item.content_pk for item in items}))
    return Locked(
        items={item.item_pk: item for item in items},
        contents={content.content_pk: content for content in contents},
    )


async def find_round(conn: Connection, who: Identity, content_id: str) -> RoundRow:
    """Read a content and its newest round, unlocked. Raises NotFound."""
    row = None
    if is_content_id(content_id):
        row = await read_round(conn, tenant_id=who.tenant_id, content_id=content_id)
    if row is None:
        raise NotFound("no content of this id was submitted", field="content_id")
    return row


async def lock_round(
    conn: Connection, who: Identity, content_id: str
) -> tuple[RoundRow, LockedContent]:
    """Lock a content, its open item first if it has one, and read both again.

    Raises NotFound, and ContentionError if another round opened or ended meanwhile: then all of it
    is to be tried again.
    """
    found = await find_round(conn, who, content_id)
    if is_open(found) and found.item_pk is not None:
        await lock_items(conn, tenant_id=who.tenant_id, item_ids=[found.item_pk])
    (content,) = await lock_contents(conn, content_ids=[found.content_pk])
    again = await find_round(conn, who, content_id)
    if (again.item_pk, is_open(again)) != (found.item_pk, is_open(found)):
        raise ContentionError("another round opened or ended meanwhile")
    return again, content


def is_open(row: RoundRow) -> bool:
    """Tell whether the newest round of a content is not resolved."""
    return row.item_state is not None and row.item_state != ItemState.RESOLVED


class Trail:
    """The trails of locked contents, and what a deed adds to them."""

    def __init__(self, who: Identity, contents: Iterable[LockedContent]) -> None:
        self._who = who
        self._contents = {content.content_pk: content for content in contents}
        self._added: list[tuple[int, Event]] = []
        self._ends: dict[int, tuple[int, bytes]] = {}

    def add(self, content_pk: int, kind: EventType, at: datetime, data: dict[str, Any]) -> None:
        """Add a fact to one trail; the asker and his key go with it."""
        content = self._contents[content_pk]
        seq, head = self._ends.get(content_pk, (content.seq, content.chain_head))
        fact = Fact(
            type=kind,
            at=at,
            principal=str(self._who.principal_id),
            data={**data, "key": self._who.key_id},
        )
        (event,) = chain(content.content_id, seq + 1, head, [fact], tenant=self._who.tenant)
        self._added.append((content_pk, event))
        self._ends[content_pk] = (event.seq, event.hash)

    @property
    def ends(self) -> Mapping[int, tuple[int, bytes]]:
        """For each content to whose trail was added: the number and hash of its last event."""
        return self._ends

    async def write(self, conn: Connection) -> None:
        """Store what was added; moving the contents to `ends` is the caller's part."""
        await insert_events(conn, self._added)


async def in_chunks(asked: Sequence[str], deed: Deed) -> BulkAnswer:
    """Do `deed` upon the items named, in the order of their ids, and answer in the order asked.

    `deed` gets the keys of one chunk and answers for those that there are. Raises Busy if not even
    the first chunk could be done; later ones are then answered as not tried.
    """
    keys = [_key(item_id) for item_id in asked]
    wanted = sorted({key for key in keys if key is not None})
    results: dict[int, Judged] = {}
    for first in range(0, len(wanted), CHUNK):
        chunk = wanted[first : first + CHUNK]
        try:
            judged = await _steadily(deed, chunk)
        except Busy:
            if first == 0:
                raise
            results.update(dict.fromkeys(wanted[first:], _NOT_TRIED))
            break
        results.update({key: judged.get(key, _NOT_FOUND) for key in chunk})
    return _answer(asked, keys, results)


async def _steadily(deed: Deed, chunk: Sequence[int]) -> Judgements:
    return await steadily(lambda: deed(chunk))


def _key(item_id: str) -> int | None:
    try:
        return item_key(item_id)
    except NotFound:
        return None


def _answer(
    asked: Sequence[str], keys: Sequence[int | None], results: Mapping[int, Judged]
) -> BulkAnswer:
    rows, named = [], set()
    for item_id, key in zip(asked, keys, strict=True):
        result, detail = _NOT_FOUND if key is None else results[key]
        if key in named and result is BulkResult.DONE:
            result, detail = _AGAIN
        named.add(key)
        rows.append(BulkRow(item_id=item_id, result=result, detail=detail))
    done = sum(row.result is BulkResult.DONE for row in rows)
    return BulkAnswer(rows=tuple(rows), done=done)
