"""The named statements of `sql/queries`, read once, and their rows as Structs.

A statement is known by file and name: `statement("claim", "claim_next")`. It runs with keyword
arguments, one for each of its parameters; a missing one raises KeyError before anything is sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Protocol, TypeVar

import aiosql
import msgspec

T = TypeVar("T", bound=msgspec.Struct)


class Statement(Protocol):
    """One named statement, as aiosql made it: called with a connection and its parameters."""

    sql: str

    def __call__(self, connection: Any, /, **parameters: Any) -> Any:
        """Run it; await a record or a status, or iterate over many records."""


@cache
def statements(noun: str) -> Mapping[str, Statement]:
    """Return the statements of `sql/queries/<noun>.sql` by name."""
    text = files("sql").joinpath("queries").joinpath(f"{noun}.sql").read_text()
    queries = aiosql.from_str(text, "asyncpg")
    return {
        name: getattr(queries, name)
        for name in queries.available_queries
        if not name.endswith("_cursor")
    }


def statement(noun: str, name: str) -> Statement:
    """Return one statement; raises KeyError if the file has none of that name."""
    return statements(noun)[name]


async def maybe(query: Statement, row: type[T], connection: Any, /, **parameters: Any) -> T | None:
    """Run a statement of at most one row."""
    record = await query(connection, **parameters)
    return None if record is None else _row(record, row)


async def one(query: Statement, row: type[T], connection: Any, /, **parameters: Any) -> T:
    """Run a statement of exactly one row; raises LookupError if there is none."""
    found = await maybe(query, row, connection, **parameters)
    if found is None:
        raise LookupError("a statement that always has a row had none")
    return found


async def many(query: Statement, row: type[T], connection: Any, /, **parameters: Any) -> list[T]:
    """Run a statement of any number of rows."""
    return [_row(record, row) async for record in query(connection, **parameters)]


async def run(query: Statement, connection: Any, /, **parameters: Any) -> None:
    """Run a statement for its effect."""
    await query(connection, **parameters)


def _row(record: Any, row: type[T]) -> T:
    """Fit a record into its Struct; names that differ raise TypeError, so none is dropped."""
    return row(**record)
