"""Statements of `sql/queries/tally.sql`: what became of a set of contents."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from backend.db.connection import Connection
from backend.db.statements import many, one, statement


class BandRow(msgspec.Struct, frozen=True, kw_only=True):
    """How many contents fell into a band; `CASE` stands for those without scores."""

    band: str
    contents: int
    queued: int


class VerdictRow(msgspec.Struct, frozen=True, kw_only=True):
    """How many verdicts say the same, under how many leases, and what became of them."""

    verdict: str
    outcome: str
    recorded: int
    leases: int
    applied: int
    skipped: int
    waiting: int


class FateRow(msgspec.Struct, frozen=True, kw_only=True):
    """Where one content stands, and how many rows say so."""

    content_id: str
    state: str
    seq: int
    verdict: str | None
    decision_pk: int | None
    verdicts: int
    applied: int
    rounds: int
    events: int


class TotalRow(msgspec.Struct, frozen=True, kw_only=True):
    """The rows of the whole database that must agree with each other."""

    contents: int
    items: int
    decisions: int
    applied: int
    waiting: int
    lost: int
    twice: int


async def count_bands(conn: Connection, content_ids: Sequence[str]) -> list[BandRow]:
    """Count contents by the band of their first decision."""
    return await many(
        statement("tally", "count_bands"), BandRow, conn, content_ids=list(content_ids)
    )


async def count_verdicts(conn: Connection, content_ids: Sequence[str]) -> list[VerdictRow]:
    """Count verdicts by what they say and what became of them."""
    return await many(
        statement("tally", "count_verdicts"), VerdictRow, conn, content_ids=list(content_ids)
    )


async def read_fates(conn: Connection, content_ids: Sequence[str]) -> list[FateRow]:
    """Read where each content stands, ordered by id."""
    return await many(
        statement("tally", "read_fates"), FateRow, conn, content_ids=list(content_ids)
    )


async def count_rows(conn: Connection) -> TotalRow:
    """Count the rows that must agree, over the whole database."""
    return await one(statement("tally", "count_rows"), TotalRow, conn)
