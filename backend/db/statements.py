"""The named statements of `sql/queries`, read once, and their rows as Structs.

A statement is known by file and name: `statement("claim", "claim_next")`. It runs with keyword
arguments, one for each of its parameters; a missing one raises KeyError before anything is sent.
aiosql reads the files; what is run goes to the driver directly, since aiosql's way there costs
about as much as the driver's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, TypeVar

import aiosql
import msgspec

T = TypeVar("T", bound=msgspec.Struct)


class Statement:
    """One named statement: its text as the driver takes it, with its parameters in their order."""

    def __init__(self, made: Any, order: Sequence[str]) -> None:
        self.sql: str = made.sql
        self._made = made
        self._order = tuple(order)

    def values(self, parameters: Mapping[str, Any]) -> list[Any]:
        """Return the parameters as they are sent; raises KeyError if one is missing."""
        return [parameters[name] for name in self._order]

    def __call__(self, connection: Any, /, **parameters: Any) -> Any:
        """Run it as aiosql does; await a record, a value or a status, or iterate over records."""
        return self._made(connection, **parameters)


@cache
def statements(noun: str) -> Mapping[str, Statement]:
    """Return the statements of `sql/queries/<noun>.sql` by name."""
    text = files("sql").joinpath("queries").joinpath(f"{noun}.sql").read_text()
    queries = aiosql.from_str(text, "asyncpg")
    # The adapter has numbered the parameters of each in the order of this list.
    orders = queries.driver_adapter.var_sorted
    return {
        name: Statement(getattr(queries, name), orders[name])
        for name in queries.available_queries
        if not name.endswith("_cursor")
    }


def statement(noun: str, name: str) -> Statement:
    """Return one statement; raises KeyError if the file has none of that name."""
    return statements(noun)[name]


async def maybe(query: Statement, row: type[T], connection: Any, /, **parameters: Any) -> T | None:
    """Run a statement of at most one row."""
    record = await connection.fetchrow(query.sql, *query.values(parameters))
    return None if record is None else _row(record, row)


async def one(query: Statement, row: type[T], connection: Any, /, **parameters: Any) -> T:
    """Run a statement of exactly one row; raises LookupError if there is none."""
    found = await maybe(query, row, connection, **parameters)
    if found is None:
        raise LookupError("a statement that always has a row had none")
    return found


async def many(query: Statement, row: type[T], connection: Any, /, **parameters: Any) -> list[T]:
    """Run a statement of any number of rows."""
    records = await connection.fetch(query.sql, *query.values(parameters))
    return [_row(record, row) for record in records]


async def run(query: Statement, connection: Any, /, **parameters: Any) -> None:
    """Run a statement for its effect."""
    await connection.execute(query.sql, *query.values(parameters))


def _row(record: Any, row: type[T]) -> T:
    """Fit a record into its Struct; names that differ raise TypeError, so none is dropped."""
    return row(**record)
