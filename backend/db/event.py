"""Statements of `sql/queries/event.sql`: the audit trail."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from backend.db.statements import many, run, statement
from backend.domain.ledger import Event


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


async def events_of(conn: Any, *, content_pk: int) -> list[Event]:
    """Read the trail of one content from its beginning."""
    return await many(statement("event", "events_of"), Event, conn, content_id=content_pk)
