"""Every named statement against the migrated schema: it prepares, its role may run it, it fits."""

from __future__ import annotations

import re
import types
import typing
from collections import Counter
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Any
from uuid import UUID

import asyncpg
import msgspec
import pytest

from backend.db.statements import statement
from tests.sql.uses import Named, Use, named_statements, uses

NAMED = named_statements()
USES = uses()

# Set-up is the administrator's; what every process reads when it connects is prepared as it.
READ_BY_ALL = {"migrations_are_kept", "applied_migrations", "guarantees"}
# They can't be explained: they are no queries.
UTILITY = {"create_migration_table", "grant_migration_table", "settle"}
USED_AS = {"^": {"maybe", "one"}, "": {"many"}, "!": {"run"}, "$": {"value", "run"}}
PYTHON: dict[str, tuple[type, ...]] = {
    "int2": (int,),
    "int4": (int,),
    "int8": (int,),
    "text": (str,),
    "uuid": (UUID,),
    "timestamptz": (datetime,),
    "interval": (timedelta,),
    "bytea": (bytes,),
    "numeric": (Decimal,),
    "float8": (float,),
    "bool": (bool,),
}

each = pytest.mark.parametrize("named", NAMED, ids=str)


@pytest.fixture
def connection(
    named: Named, module_runtime: asyncpg.Connection[Any], module_admin: asyncpg.Connection[Any]
) -> asyncpg.Connection[Any]:
    """The connection of the role that runs the statement."""
    by_admin = named.noun == "setup" and named.name not in READ_BY_ALL
    return module_admin if by_admin else module_runtime


def uses_of(named: Named) -> list[Use]:
    return [use for use in USES if (use.noun, use.name) == (named.noun, named.name)]


@each
def test_a_statement_has_one_sentence_above_it(named: Named) -> None:
    assert len(named.comments) == 1, named.comments
    (sentence,) = named.comments
    assert sentence[0].isupper()
    assert sentence.endswith(".")
    assert not re.search(r"[.!?] +[A-Z]", sentence), "more than one sentence"


def test_a_name_is_used_for_one_statement_alone() -> None:
    twice = [name for name, times in Counter(named.name for named in NAMED).items() if times > 1]
    assert twice == []


@each
def test_a_statement_is_called_with_exactly_its_parameters(named: Named) -> None:
    found = uses_of(named)
    assert found, "nobody uses it"
    for use in found:
        assert use.keywords == named.parameters


@each
def test_a_statement_is_called_as_what_it_is(named: Named) -> None:
    for use in uses_of(named):
        assert use.how in USED_AS[named.kind], use


@each
async def test_a_statement_prepares_and_its_rows_fit_their_struct(
    named: Named, connection: asyncpg.Connection[Any]
) -> None:
    prepared = await connection.prepare(statement(named.noun, named.name).sql)
    assert len(prepared.get_parameters()) == len(named.parameters)
    columns = {column.name: column.type.name for column in prepared.get_attributes()}
    for row in {use.row for use in uses_of(named)} - {None}:
        assert row is not None
        hints = typing.get_type_hints(row)
        assert set(columns) == set(hints)
        assert [c for c in hints if not fits(hints[c], columns[c])] == [], columns


@each
async def test_the_role_that_runs_a_statement_has_the_grants_for_it(
    named: Named, connection: asyncpg.Connection[Any]
) -> None:
    if named.name in UTILITY:
        assert connection.get_settings().session_authorization == "postgres"
        return
    await begin(named, connection)


async def test_a_missing_grant_is_noticed(
    admin: asyncpg.Connection[Any], runtime: asyncpg.Connection[Any]
) -> None:
    (claim,) = [named for named in NAMED if named.name == "claim_next"]
    await admin.execute("REVOKE SELECT ON exclusion FROM fencepost_runtime")
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await begin(claim, runtime)


async def begin(named: Named, connection: asyncpg.Connection[Any]) -> None:
    """Explain a statement: that is to begin to execute it, where rights are looked at."""
    # With a plan for these NULLs whole branches would fall away, and with them their tables.
    await connection.execute("SET plan_cache_mode = force_generic_plan")
    await connection.execute(f"PREPARE {named.name} AS {statement(named.noun, named.name).sql}")
    nulls = ", ".join(["NULL"] * len(named.parameters))
    assert await connection.fetch(f"EXPLAIN EXECUTE {named.name}{f'({nulls})' if nulls else ''}")


def test_a_column_that_does_not_fit_is_noticed() -> None:
    assert not fits(int, "text")
    assert not fits(list[str], "text")
    assert not fits(Decimal | None, "float8")
    assert fits(Decimal | None, "numeric")
    assert fits(list[str | None], "text[]")


def fits(annotation: Any, pg_type: str) -> bool:
    """Tell whether values of a PostgreSQL type are values of the annotation, NULL aside."""
    (wanted,) = [part for part in _parts(annotation) if part is not type(None)]
    if pg_type.endswith("[]"):
        return typing.get_origin(wanted) is list and fits(
            typing.get_args(wanted)[0], pg_type.removesuffix("[]")
        )
    if isinstance(wanted, type) and issubclass(wanted, StrEnum):
        wanted = str
    return wanted in PYTHON.get(pg_type, ())


def _parts(annotation: Any) -> tuple[Any, ...]:
    if isinstance(annotation, types.UnionType) or typing.get_origin(annotation) is typing.Union:
        return typing.get_args(annotation)
    return (annotation,)


def test_structs_of_rows_are_frozen() -> None:
    rows = {use.row for use in USES} - {None}
    assert [row for row in rows if row is not None and not _is_frozen(row)] == []


def _is_frozen(row: type[msgspec.Struct]) -> bool:
    return bool(row.__struct_config__.frozen)
