"""Bootstrap: roles and the place of the schema, as often and as many at once as anybody likes."""

from __future__ import annotations

import asyncio
from typing import Any

import asyncpg
import pytest

from backend.db.bootstrap import bootstrap
from backend.db.migrate import migrate
from tests.support.postgres import Cluster, Dsn


async def test_many_at_once_on_several_databases_are_harmless(cluster: Cluster) -> None:
    made = [await cluster.empty() for _ in range(3)]
    await asyncio.gather(*(bootstrap(dsn.admin) for dsn in made * 4))
    for dsn in made:
        connection = await asyncpg.connect(dsn.runtime)
        assert await connection.fetchval("SELECT current_schema()") == "fencepost"
        await connection.close()
        await cluster.drop(dsn)


async def test_a_name_that_needs_quotes_is_quoted(cluster: Cluster) -> None:
    made = cluster.dsn('it"s a base')
    await bootstrap(made.admin)
    connection = await asyncpg.connect(made.admin)
    assert await connection.fetchval("SELECT current_database()") == made.name
    await connection.close()


async def test_an_administrator_without_superuser_rights_can_do_it_all(cluster: Cluster) -> None:
    root = await asyncpg.connect(cluster.dsn("postgres").admin)
    await root.execute("CREATE ROLE plain_admin LOGIN CREATEROLE CREATEDB")
    for role in ("fencepost_owner", "fencepost_runtime", "fencepost_reader"):
        await root.execute(f"GRANT {role} TO plain_admin WITH ADMIN OPTION")
    made = await cluster.empty()
    url = made.admin.replace("postgres@", "plain_admin@")
    await bootstrap(url)
    await migrate(url)
    await cluster.drop(made)
    await root.close()


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("statement_timeout", "5s"),
        ("lock_timeout", "1s"),
        ("idle_in_transaction_session_timeout", "10s"),
        ("synchronous_commit", "on"),
        ("search_path", "fencepost, pg_temp"),
    ],
)
async def test_the_runtime_role_is_bounded(dsn: Dsn, setting: str, value: str) -> None:
    connection = await asyncpg.connect(dsn.runtime)
    assert await connection.fetchval("SELECT current_setting($1)", setting) == value
    await connection.close()


async def test_the_owner_cannot_log_in(cluster: Cluster) -> None:
    with pytest.raises(asyncpg.InvalidAuthorizationSpecificationError, match="not permitted"):
        await asyncpg.connect(cluster.server.url("postgres", "fencepost_owner"))


async def test_the_reader_writes_nothing(dsn: Dsn) -> None:
    connection = await asyncpg.connect(dsn.reader)
    with pytest.raises(asyncpg.ReadOnlySQLTransactionError):
        await connection.execute("CREATE TEMP TABLE x ()")
    await connection.close()


async def test_the_runtime_role_makes_nothing_in_the_schema(
    runtime: asyncpg.Connection[Any],
) -> None:
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await runtime.execute("CREATE TABLE fencepost.mine ()")
