"""Statements of `sql/queries/event.sql`: the audit trail."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from backend.db.statements import many, maybe, run, statement
from backend.domain.ledger import Event


class TrailRow(msgspec.Struct, frozen=True, kw_only=True):
    """One content, locked, and the end of its trail."""

    content_pk: int
    tenant_id: int
    content_id: str
    seq: int
    chain_head: bytes


async def insert_events(conn: Any, events: Iterable[tuple[int, Event]]) -> None:
    """Append events, each with the key of its content; those of one content come in order."""
    rows = list(events)
    await run(
        statement("event", "insert_events"),
        conn,
        content_ids=[content_pk for content_pk, _ in rows],
        seqs=[event.seq for _, event in rows],
        types=[event.type.value for _, event in rows],
        prev_hashes=[event.prev_hash for _, event in rows],
        canonicals=[event.canonical for _, event in rows],
        hashes=[event.hash for _, event in rows],
    )


async def lock_content(conn: Any, *, content_pk: int) -> TrailRow | None:
    """Lock one content to append to its trail."""
    return await maybe(statement("event", "lock_content"), TrailRow, conn, content_id=content_pk)


async def events_of(conn: Any, *, content_pk: int) -> list[Event]:
    """Read the trail of one content from its beginning."""
    return await many(statement("event", "events_of"), Event, conn, content_id=content_pk)
