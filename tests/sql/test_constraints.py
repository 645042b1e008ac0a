"""Each rule of the schema refuses the least row that breaks it, and no other rule does it first.

`rules.py` names them; a new one fails here until it has an entry there.
"""

from __future__ import annotations

from typing import Any

import asyncpg
import pytest

from tests.sql.rows import GENESIS, GOOD, insertion
from tests.sql.rules import CHECKS, COUNTED, IN_THE_WAY, TRIGGERS, UNIQUE
from tests.sql.world import make_world

TABLES = (
    "item",
    "decision",
    "event",
    "content",
    "evidence",
    "payload",
    "lease_log",
    "exclusion",
    "question",
    "blob",
    "attachment",
    "queue",
    "outbox",
)


@pytest.fixture(scope="module")
async def world(module_admin: Any, module_runtime: Any) -> asyncpg.Connection[Any]:
    """A superuser's connection into a small world: what refuses here are the rules alone."""
    await make_world(module_runtime)
    connection: asyncpg.Connection[Any] = module_admin
    return connection


async def refused(connection: asyncpg.Connection[Any], *statements: str) -> asyncpg.PostgresError:
    """Carry out all but the last, which must be refused; undo them all."""
    transaction = connection.transaction()
    await transaction.start()
    try:
        for statement in statements[:-1]:
            await connection.execute(statement)
        with pytest.raises(asyncpg.IntegrityConstraintViolationError) as caught:
            await connection.execute(statements[-1])
    finally:
        await transaction.rollback()
    assert isinstance(caught.value, asyncpg.PostgresError)
    return caught.value


async def table_of(connection: asyncpg.Connection[Any], name: str) -> str:
    table: str = await connection.fetchval(
        "SELECT coalesce((SELECT conrelid FROM pg_constraint WHERE conname = $1"
        " AND connamespace = 'fencepost'::regnamespace),"
        " (SELECT indrelid FROM pg_index WHERE indexrelid = to_regclass($1)))::regclass::text",
        name,
    )
    return table


@pytest.mark.parametrize("table", TABLES)
async def test_a_good_row_is_accepted(world: asyncpg.Connection[Any], table: str) -> None:
    transaction = world.transaction()
    await transaction.start()
    await world.execute(insertion(table))
    await transaction.rollback()


@pytest.mark.parametrize("name", CHECKS)
async def test_a_check_refuses_the_row_that_breaks_it(
    world: asyncpg.Connection[Any], name: str
) -> None:
    error = await refused(world, insertion(await table_of(world, name), CHECKS[name]))
    assert isinstance(error, asyncpg.CheckViolationError)
    assert error.constraint_name == name


@pytest.mark.parametrize("name", UNIQUE)
async def test_a_unique_key_refuses_the_second_row(
    world: asyncpg.Connection[Any], name: str
) -> None:
    second = insertion(await table_of(world, name), UNIQUE[name])
    error = await refused(world, IN_THE_WAY.get(name, "SELECT 1"), second)
    assert isinstance(error, asyncpg.UniqueViolationError)
    assert error.constraint_name == name


@pytest.mark.parametrize("name", TRIGGERS)
async def test_a_trigger_refuses_the_step_that_it_guards(
    world: asyncpg.Connection[Any], name: str
) -> None:
    error = await refused(world, *TRIGGERS[name])
    assert isinstance(error, asyncpg.RestrictViolationError)


async def test_no_rule_is_without_an_entry(world: asyncpg.Connection[Any]) -> None:
    checks = await world.fetch(
        "SELECT conname FROM pg_constraint WHERE contype = 'c'"
        " AND conrelid::regclass::text = ANY ($1)",
        TABLES,
    )
    keys = await world.fetch(
        "SELECT indexrelid::regclass::text FROM pg_index WHERE indisunique"
        " AND indrelid::regclass::text = ANY ($1)",
        TABLES,
    )
    triggers = await world.fetch(
        "SELECT tgrelid::regclass || '.' || tgname FROM pg_trigger WHERE NOT tgisinternal"
        " AND tgname NOT LIKE 'append_only%' AND tgrelid::regclass::text = ANY ($1)",
        TABLES,
    )
    assert {row[0] for row in checks} == set(CHECKS)
    assert {row[0] for row in keys} == set(UNIQUE) | COUNTED
    assert {row[0] for row in triggers} == set(TRIGGERS)


def test_the_genesis_of_the_rows_is_that_of_the_ledger() -> None:
    assert GOOD["event"]["prev_hash"] == GENESIS
