"""The same rows into the same tables, with nothing around them: what an ingest is measured by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import asyncpg
import msgspec

# In the order in which rows need each other.
TABLES = (
    "content",
    "payload",
    "score",
    "evidence",
    "intake",
    "decision",
    "item",
    "event",
    "applied",
    "outbox",
)
_OWN = {"content": "id", "applied": "decision_id"}
# A content names its decisions, which come after it; only an UPDATE could say so.
_LEFT_OUT = {
    ("content", "head_decision"),
    ("content", "applied_decision"),
    ("content", "actor"),
    ("event", "xid"),
}
_OF_APPLIED = "decision_id IN (SELECT id FROM decision WHERE content_id = ANY($1))"


class Insertion(msgspec.Struct, frozen=True):
    """One multi-row INSERT, a list of values a column."""

    query: str
    columns: list[list[Any]]


async def insertions(
    connection: asyncpg.Connection[Any], contents: Sequence[int]
) -> list[Insertion]:
    """Read all rows of these contents as the INSERTs that would make them."""
    return [await _insertion(connection, table, contents) for table in TABLES]


async def insert(connection: asyncpg.Connection[Any], rows: Sequence[Insertion]) -> None:
    """Carry out INSERTs in one transaction."""
    async with connection.transaction():
        for one in rows:
            await connection.execute(one.query, *one.columns)


async def _insertion(
    connection: asyncpg.Connection[Any], table: str, contents: Sequence[int]
) -> Insertion:
    described = await connection.fetch(
        "SELECT attname, format_type(coalesce(nullif(typbasetype, 0), atttypid), NULL) AS type"
        " FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid"
        " WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
        table,
    )
    # An array does not go through unnest as one value a row; none of ours holds anything yet.
    types = {
        row["attname"]: row["type"]
        for row in described
        if (table, row["attname"]) not in _LEFT_OUT and not row["type"].endswith("[]")
    }
    own = _OWN.get(table, "content_id")
    where = _OF_APPLIED if table == "applied" else f"{own} = ANY($1)"
    rows = await connection.fetch(
        f"SELECT {', '.join(types)} FROM {table} WHERE {where} ORDER BY {own}", contents
    )
    arrays = ", ".join(f"${place}::{type_}[]" for place, type_ in enumerate(types.values(), 1))
    query = (
        f"INSERT INTO {table} ({', '.join(types)}) OVERRIDING SYSTEM VALUE"
        f" SELECT * FROM unnest({arrays})"
    )
    return Insertion(query, [[row[name] for row in rows] for name in types])
