"""Migrations: forward only, each whole or not at all, and never twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest

from backend.db.bootstrap import bootstrap
from backend.db.migrate import Migration, MigrationError, dry_run, load, migrate, status
from tests.support.postgres import Cluster, Dsn

ONE = Migration(1, "0001_one.sql", "CREATE TABLE one (n int);")
TWO = Migration(2, "0002_two.sql", "CREATE TABLE two (n int);")
BROKEN = Migration(2, "0002_broken.sql", "CREATE TABLE half (n int);\nSELECT 1 / 0;")


@pytest.fixture
async def bare(cluster: Cluster) -> AsyncIterator[Dsn]:
    """A database with roles and an empty schema."""
    made = await cluster.empty()
    await bootstrap(made.admin)
    yield made
    await cluster.drop(made)


async def tables(dsn: Dsn) -> set[str]:
    connection = await asyncpg.connect(dsn.admin)
    rows = await connection.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'fencepost'")
    await connection.close()
    return {row["tablename"] for row in rows}


async def test_what_is_missing_is_carried_out_in_order_and_once(bare: Dsn) -> None:
    assert await migrate(bare.admin, [ONE]) == ["0001_one.sql"]
    assert await migrate(bare.admin, [ONE, TWO]) == ["0002_two.sql"]
    assert await migrate(bare.admin, [ONE, TWO]) == []
    assert await tables(bare) == {"migration", "one", "two"}


async def test_a_failing_migration_says_which_and_leaves_nothing_of_itself(bare: Dsn) -> None:
    with pytest.raises(MigrationError, match=r"0002_broken\.sql failed: division by zero"):
        await migrate(bare.admin, [ONE, BROKEN])
    assert await tables(bare) == {"migration", "one"}
    assert await migrate(bare.admin, [ONE, TWO]) == ["0002_two.sql"]


async def test_several_at_once_are_harmless(bare: Dsn) -> None:
    done = await asyncio.gather(*(migrate(bare.admin) for _ in range(8)))
    assert sorted(map(len, done)) == [0] * 7 + [len(load())]


async def test_a_file_that_changed_after_it_ran_is_refused(bare: Dsn) -> None:
    await migrate(bare.admin, [ONE])
    changed = Migration(1, ONE.name, ONE.text + " -- better")
    with pytest.raises(MigrationError, match=r"0001_one\.sql was changed"):
        await migrate(bare.admin, [changed, TWO])
    assert await tables(bare) == {"migration", "one"}


async def test_a_database_that_is_newer_than_the_program_is_refused(bare: Dsn) -> None:
    await migrate(bare.admin, [ONE, TWO])
    with pytest.raises(MigrationError, match=r"newer than this program: it has 0002_two\.sql"):
        await migrate(bare.admin, [ONE])


async def test_a_dry_run_tries_everything_and_keeps_nothing(bare: Dsn) -> None:
    assert await dry_run(bare.admin, [ONE, TWO]) == [ONE.name, TWO.name]
    assert await tables(bare) == set()


async def test_a_dry_run_fails_where_the_migration_would(bare: Dsn) -> None:
    with pytest.raises(MigrationError, match=r"0002_broken\.sql failed"):
        await dry_run(bare.admin, [ONE, BROKEN])


async def test_status_tells_when_each_was_carried_out(bare: Dsn) -> None:
    await migrate(bare.admin, [ONE])
    first, second = await status(bare.admin, [ONE, TWO])
    assert first.applied_at is not None
    assert second.applied_at is None


async def test_what_cannot_run_in_a_transaction_runs_outside_one(bare: Dsn) -> None:
    text = "-- no-transaction: an index for readers\nCREATE INDEX CONCURRENTLY one_n ON one (n);"
    await migrate(bare.admin, [ONE, Migration(2, "0002_index.sql", text)])
    connection = await asyncpg.connect(bare.admin)
    query = "SELECT indisvalid FROM pg_index WHERE indexrelid = 'fencepost.one_n'::regclass"
    assert await connection.fetchval(query)
    await connection.close()


@pytest.mark.slow
async def test_a_table_in_use_is_not_waited_for_without_end(bare: Dsn) -> None:
    await migrate(bare.admin, [ONE])
    holder = await asyncpg.connect(bare.admin)
    transaction = holder.transaction()
    await transaction.start()
    await holder.execute("LOCK TABLE fencepost.one")
    alter = Migration(2, "0002_alter.sql", "ALTER TABLE one ADD m int;")
    with pytest.raises(MigrationError, match="lock timeout"):
        await migrate(bare.admin, [ONE, alter])
    await transaction.rollback()
    await holder.close()


async def test_what_is_migrated_belongs_to_the_owner_role(bare: Dsn) -> None:
    await migrate(bare.admin, [ONE])
    connection = await asyncpg.connect(bare.admin)
    query = "SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = 'fencepost'"
    owners = [row["tableowner"] for row in await connection.fetch(query)]
    await connection.close()
    assert owners == ["fencepost_owner"]


async def test_without_bootstrap_the_message_names_it(cluster: Cluster) -> None:
    made = await cluster.empty()
    connection = await asyncpg.connect(cluster.dsn("postgres").admin)
    await connection.execute(f"CREATE DATABASE {made.name}")
    await connection.close()
    with pytest.raises(MigrationError, match="run bootstrap first"):
        await migrate(made.admin, [ONE])
    await cluster.drop(made)


def test_a_gap_between_files_is_refused(tmp_path: Path) -> None:
    for name in ("0001_one.sql", "0003_three.sql"):
        (tmp_path / name).write_text("SELECT 1;")
    with pytest.raises(MigrationError, match=r"0002 is missing before 0003_three\.sql"):
        load(tmp_path)


def test_a_file_without_a_number_is_refused(tmp_path: Path) -> None:
    (tmp_path / "two.sql").write_text("SELECT 1;")
    with pytest.raises(MigrationError, match=r"two\.sql"):
        load(tmp_path)


def test_each_shipped_migration_says_why_in_its_first_line() -> None:
    assert [m.name for m in load() if not m.text.startswith("-- ")] == []
