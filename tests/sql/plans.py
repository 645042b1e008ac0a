"""Plans, as the server that runs a statement would carry it out."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from typing import Any

import asyncpg
import msgspec
import pytest

from backend.db.statements import statement

MODES = ("force_generic_plan", "force_custom_plan")
SMALL = {"queue", "tenant"}
"""Tables of a few rows, which are rightly read from end to end."""

each_mode = pytest.mark.parametrize("mode", MODES)


class Node(msgspec.Struct, frozen=True):
    """One step of a plan: what it does, to which table, by which index, and how many rows."""

    kind: str
    table: str
    index: str
    rows: float
    removed: float


class Plan(msgspec.Struct, frozen=True):
    """All steps of one execution, and the pages that it touched."""

    nodes: tuple[Node, ...]
    buffers: int

    def indexes(self, table: str) -> set[str]:
        """Return the indexes by which a table was read."""
        return {node.index for node in self.nodes if node.table == table and node.index}

    def whole(self) -> list[Node]:
        """Return the steps that read a table from end to end."""
        return [node for node in self.nodes if node.kind == "Seq Scan"]

    def most(self, table: str) -> float:
        """Return the most rows that one step took from a table, those it threw away included."""
        steps = [node.rows + node.removed for node in self.nodes if node.table == table]
        return max(steps, default=0)

    def removed(self) -> float:
        """Return how many rows were read and thrown away."""
        return sum(node.removed for node in self.nodes)

    def sorted(self) -> float:
        """Return the most rows that were sorted at once."""
        return max((node.rows for node in self.nodes if "Sort" in node.kind), default=0)


async def plan_of(
    connection: asyncpg.Connection[Any], noun: str, name: str, values: dict[str, str], mode: str
) -> Plan:
    """Carry a statement out, undo it, and return its plan; `values` are SQL literals by name."""
    sent = await _sent(noun, name, values)
    transaction = connection.transaction()
    await transaction.start()
    try:
        await connection.execute(f"SET LOCAL plan_cache_mode = {mode}")
        await connection.execute(f"PREPARE {name} AS {sent.query}")
        text = await connection.fetchval(
            f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE {name}({', '.join(sent.values)})"
        )
        await connection.execute(f"DEALLOCATE {name}")
    finally:
        await transaction.rollback()
    top = json.loads(text)[0]["Plan"]
    buffers = top["Shared Hit Blocks"] + top["Shared Read Blocks"]
    return Plan(tuple(_nodes(top)), buffers)


def read_whole(plan: Plan) -> set[str]:
    """Return the tables that were read from end to end and should not have been."""
    return {node.table for node in plan.whole()} - SMALL


class undone:  # noqa: N801 - reads as a word where it is used
    """A transaction that ends as if it had never been."""

    def __init__(self, connection: asyncpg.Connection[Any]) -> None:
        self._transaction = connection.transaction()

    async def __aenter__(self) -> None:
        await self._transaction.start()

    async def __aexit__(self, *_: object) -> None:
        await self._transaction.rollback()


class _Recorder:
    """In place of a connection: keeps what would be sent, in the order in which it is sent."""

    def __init__(self) -> None:
        self.query = ""
        self.values: tuple[str, ...] = ()

    async def fetch(self, query: str, *values: str) -> list[Any]:
        self.query, self.values = query, values
        return []

    fetchrow = fetchval = execute = fetch


async def _sent(noun: str, name: str, values: dict[str, str]) -> _Recorder:
    sent = _Recorder()
    sending = statement(noun, name)(sent, **values)
    if inspect.isasyncgen(sending):
        assert [row async for row in sending] == []
    else:
        await sending
    return sent


def _nodes(node: dict[str, Any], table: str = "") -> Iterator[Node]:
    """Flatten a plan; the index scan below a bitmap is told of the table that it is for."""
    loops = node.get("Actual Loops", 1)
    table = node.get("Relation Name", table if "Bitmap" in node["Node Type"] else "")
    yield Node(
        kind=node["Node Type"],
        table=table,
        index=node.get("Index Name", ""),
        rows=node.get("Actual Rows", 0) * loops,
        removed=sum(node.get(key, 0) for key in _REMOVED) * loops,
    )
    for child in node.get("Plans", ()):
        yield from _nodes(child, table)


_REMOVED = (
    "Rows Removed by Filter",
    "Rows Removed by Index Recheck",
    "Rows Removed by Join Filter",
)
