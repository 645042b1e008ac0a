"""The pool: what it refuses to start on, and what it does with a connection in doubt."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from backend.db.connection import Database, Guarantees, UnfitError, _problems
from backend.db.errors import (
    ConstraintError,
    ContentionError,
    OutcomeUnknownError,
    UnavailableError,
)
from backend.settings import Settings
from tests.support.postgres import Dsn

INSERT = "INSERT INTO principal (tenant_id, name, kind) VALUES (1, 'x', '{}')"


async def pid_of(database: Database) -> int:
    async with database.transaction() as connection:
        return int(await connection.fetchval("SELECT pg_backend_pid()"))


@pytest.fixture
async def single(dsn: Dsn) -> AsyncIterator[Database]:
    """A pool of one connection."""
    async with Database(dsn.runtime, durable=False, size=1, acquire_within=0.3) as opened:
        yield opened


async def test_a_server_that_does_not_flush_is_refused(dsn: Dsn) -> None:
    with pytest.raises(UnfitError, match="fsync must be on"):
        async with Database(dsn.runtime):
            pass


def test_a_server_that_is_too_old_is_refused() -> None:
    old = Guarantees(14, "on", "on", "on", true_clock=True)
    assert _problems(old, durable=True, true_clock=True) == [
        "PostgreSQL 15 or newer is needed; this is 14"
    ]


@pytest.mark.parametrize("commit", ["off", "local", "remote_write"])
def test_a_commit_that_is_not_durable_everywhere_is_refused(commit: str) -> None:
    weak = Guarantees(18, "on", "on", commit, true_clock=True)
    (problem,) = _problems(weak, durable=True, true_clock=True)
    assert problem.startswith("synchronous_commit must be on")


async def test_a_replaced_clock_is_refused(dsn: Dsn, admin: asyncpg.Connection[Any]) -> None:
    await admin.execute(
        "CREATE OR REPLACE FUNCTION clock() RETURNS timestamptz LANGUAGE sql VOLATILE"
        " AS 'SELECT clock_timestamp() + interval ''1 hour'''"
    )
    with pytest.raises(UnfitError, match="clock"):
        async with Database(dsn.runtime, durable=False):
            pass


async def test_a_schema_that_lacks_a_migration_is_refused(
    dsn: Dsn, admin: asyncpg.Connection[Any]
) -> None:
    await admin.execute(
        "DELETE FROM migration WHERE version = (SELECT max(version) FROM migration)"
    )
    with pytest.raises(UnfitError, match="run `fencepost migrate`"):
        async with Database(dsn.runtime, durable=False):
            pass


async def test_no_server_at_all_is_said_plainly() -> None:
    with pytest.raises(UnavailableError, match="can't be reached"):
        async with Database("postgresql://x@/x?host=/nowhere"):
            pass


async def test_a_full_pool_is_unavailable_in_time(single: Database) -> None:
    async with single.transaction():
        with pytest.raises(UnavailableError, match="no free connection"):
            async with single.transaction():
                pass


async def test_an_error_undoes_the_transaction_and_keeps_the_connection(single: Database) -> None:
    before = await pid_of(single)
    with pytest.raises(ZeroDivisionError):
        async with single.transaction() as connection:
            await connection.execute(INSERT.format("person"))
            raise ZeroDivisionError
    async with single.transaction() as connection:
        assert await connection.fetchval("SELECT count(*) FROM principal") == 0
    assert await pid_of(single) == before


@pytest.mark.parametrize(
    ("error", "told"),
    [(asyncio.CancelledError, asyncio.CancelledError), (TimeoutError, UnavailableError)],
)
async def test_a_connection_in_doubt_is_thrown_away(
    single: Database, error: type[BaseException], told: type[BaseException]
) -> None:
    before = await pid_of(single)
    with pytest.raises(told):
        async with single.transaction():
            raise error
    assert await pid_of(single) != before


async def test_a_server_that_falls_silent_is_not_waited_for(dsn: Dsn) -> None:
    async with Database(dsn.runtime, durable=False, size=1, answer_within=0.3) as database:
        silent = await pid_of(database)
        os.kill(silent, signal.SIGSTOP)
        try:
            async with asyncio.timeout(10):
                with pytest.raises(UnavailableError):
                    await pid_of(database)
                assert await pid_of(database) != silent
        finally:
            os.kill(silent, signal.SIGCONT)


async def test_a_server_that_falls_silent_in_a_single_statement_leaves_the_outcome_unknown(
    dsn: Dsn,
) -> None:
    async with Database(dsn.runtime, durable=False, size=1, answer_within=0.3) as database:
        silent = await pid_of(database)
        os.kill(silent, signal.SIGSTOP)
        try:
            async with asyncio.timeout(10):
                with pytest.raises(OutcomeUnknownError):
                    async with database.connection() as connection:
                        await connection.fetchval("SELECT 1")
        finally:
            os.kill(silent, signal.SIGCONT)


async def test_a_cancelled_statement_leaves_no_dirty_connection(single: Database) -> None:
    async def sleep() -> None:
        async with single.transaction() as connection:
            await connection.execute("SELECT pg_sleep(60)")

    for _ in range(5):
        task = asyncio.create_task(sleep())
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        async with single.transaction() as connection:
            assert await connection.fetchval("SELECT 42") == 42


async def test_a_cut_line_is_unavailable_and_the_pool_recovers(
    single: Database, admin: asyncpg.Connection[Any]
) -> None:
    with pytest.raises(UnavailableError):
        async with single.transaction() as connection:
            pid = await connection.fetchval("SELECT pg_backend_pid()")
            await admin.execute("SELECT pg_terminate_backend($1)", pid)
            await asyncio.sleep(0.1)
            await connection.execute("SELECT 1")
    assert await pid_of(single) != pid


async def test_a_line_cut_at_commit_leaves_the_outcome_unknown(
    single: Database, admin: asyncpg.Connection[Any]
) -> None:
    with pytest.raises(OutcomeUnknownError):
        async with single.transaction() as connection:
            pid = await connection.fetchval("SELECT pg_backend_pid()")
            await admin.execute("SELECT pg_terminate_backend($1)", pid)
            await asyncio.sleep(0.1)


async def test_a_lock_that_others_hold_is_contention(
    single: Database, admin: asyncpg.Connection[Any]
) -> None:
    async with admin.transaction():
        await admin.execute("LOCK TABLE principal IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(ContentionError):
            async with single.transaction() as connection:
                await connection.execute("SET LOCAL lock_timeout = '50ms'")
                await connection.fetch("SELECT * FROM principal")


async def test_a_refused_row_names_its_constraint(single: Database) -> None:
    with pytest.raises(ConstraintError) as refused:
        async with single.transaction() as connection:
            await connection.execute(INSERT.format("cat"))
    assert (refused.value.constraint, refused.value.sqlstate) == ("principal_kind_check", "23514")


async def test_a_wrong_argument_is_a_fault_of_ours_and_stays_visible(single: Database) -> None:
    with pytest.raises(asyncpg.DataError):
        async with single.transaction() as connection:
            await connection.fetchval("SELECT $1::int", "seven")


async def test_no_setting_leaks_to_the_next_borrower(single: Database) -> None:
    """A connection is not reset, so settings must end with their transaction."""
    async with single.transaction() as connection:
        await connection.execute("SET LOCAL statement_timeout = '1s'")
        await connection.fetchval("SELECT set_config('fencepost.principal', '7', true)")
    async with single.transaction() as connection:
        assert await connection.fetchval("SELECT current_setting('statement_timeout')") == "5s"
        assert (
            await connection.fetchval("SELECT current_setting('fencepost.principal', true)") == ""
        )


async def test_a_readonly_transaction_writes_nothing(single: Database) -> None:
    with pytest.raises(asyncpg.ReadOnlySQLTransactionError):
        async with single.transaction(readonly=True) as connection:
            await connection.execute(INSERT.format("person"))


def test_addresses_are_not_shown() -> None:
    secret = "postgresql://u:hunter2@h/d"
    assert "hunter2" not in repr(Settings(database_url=secret, admin_url=secret))


async def test_a_statement_of_the_server_is_planned_once(runtime: asyncpg.Connection[Any]) -> None:
    """With a long history the planner would else take custom plans for the cheaper ones."""
    query = await runtime.prepare("SELECT count(*) FROM item WHERE queue = $1 AND tenant_id = $2")
    for turn in range(12):
        await query.fetchval("posts", turn)
    made = await runtime.fetchrow(
        "SELECT generic_plans, custom_plans FROM pg_prepared_statements WHERE statement = $1",
        query.get_query(),
    )
    assert made is not None
    assert tuple(made) == (12, 0)
