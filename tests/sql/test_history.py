"""The evil application: every table, every verb, every role, and some tricks besides.

What the server has to answer stands in `access.py`; a new table fails here until it has a line in
each block there.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

import asyncpg
import pytest

from tests.sql.access import ACCESS, UPDATABLE, VERBS, expected, tables
from tests.sql.rows import GOOD, insertion
from tests.sql.world import make_world
from tests.support.postgres import Dsn

Roles = Mapping[str, Any]

ROLES = tuple(ACCESS)
HISTORY = ("decision", "event", "applied", "lease_log", "verdict_reply", "score")
APPEND_ONLY = tables("UPDATE", "23001")
NO_RIGHT, APPENDED, GENERATED = "42501", "23001", "428C9"

CLOCK = "FUNCTION fencepost.clock() RETURNS timestamptz LANGUAGE sql AS 'SELECT now()'"

each_role = pytest.mark.parametrize("role", ROLES)
each_table = pytest.mark.parametrize("table", GOOD)
each_history = pytest.mark.parametrize("table", HISTORY)


@pytest.fixture(scope="module")
async def roles(
    module_dsn: Dsn, module_admin: Any, module_runtime: Any, module_reader: Any
) -> AsyncIterator[Roles]:
    """A connection for each role, in a world where every table has a row."""
    await make_world(module_runtime)
    await module_reader.execute("SET default_transaction_read_only = off")
    owner = await asyncpg.connect(module_dsn.admin, server_settings={"search_path": "fencepost"})
    await owner.execute("SET ROLE fencepost_owner")
    yield {
        "owner": owner,
        "runtime": module_runtime,
        "reader": module_reader,
        "superuser": module_admin,
    }
    await owner.close()


async def attempt(connection: Any, *statements: str) -> str:
    """Try statements in a transaction that is undone; return `ok` or the SQLSTATE."""
    transaction = connection.transaction()
    await transaction.start()
    try:
        for statement in statements:
            await connection.execute(statement)
    except asyncpg.PostgresError as error:
        return str(error.sqlstate)
    else:
        return "ok"
    finally:
        await transaction.rollback()


async def columns(roles: Roles, table: str) -> list[str]:
    rows = await roles["superuser"].fetch(
        "SELECT attname FROM pg_attribute WHERE attrelid = $1::text::regclass AND attnum > 0"
        " AND NOT attisdropped ORDER BY attnum",
        table,
    )
    return [row["attname"] for row in rows]


async def identity(roles: Roles, table: str) -> set[str]:
    rows = await roles["superuser"].fetch(
        "SELECT attname FROM pg_attribute"
        " WHERE attrelid = $1::text::regclass AND attidentity = 'a'",
        table,
    )
    return {row["attname"] for row in rows}


@each_role
async def test_every_table_has_its_answers(roles: Roles, role: str) -> None:
    rows = await roles["superuser"].fetch(
        "SELECT relname FROM pg_class WHERE relnamespace = 'fencepost'::regnamespace"
        " AND relkind NOT IN ('i', 'S', 't')"
    )
    assert {table for who, table, _ in expected() if who == role} == {row[0] for row in rows}
    assert set(GOOD) == {row[0] for row in rows}


@each_role
@each_table
@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb != "UPDATE"])
async def test_a_role_gets_exactly_this_answer(
    roles: Roles, role: str, table: str, verb: str
) -> None:
    said = {
        "SELECT": f"SELECT * FROM {table}",
        "INSERT": insertion(table),
        "DELETE": f"DELETE FROM {table}",
        "TRUNCATE": f"TRUNCATE {table} CASCADE",
    }
    assert await attempt(roles[role], said[verb]) == expected()[role, table, verb]


@each_role
@each_table
async def test_a_role_may_update_exactly_these_columns(roles: Roles, role: str, table: str) -> None:
    answer = expected()[role, table, "UPDATE"]
    allowed = UPDATABLE[table].split() if answer == "some" else []
    for column in await columns(roles, table):
        wanted = "ok" if column in allowed else NO_RIGHT if answer == "some" else answer
        if column in await identity(roles, table):
            wanted = GENERATED
        got = await attempt(roles[role], f"UPDATE {table} SET {column} = {column}")
        assert got == wanted, column


@each_table
async def test_the_server_may_not_say_ids_times_or_counters(roles: Roles, table: str) -> None:
    if expected()["runtime", table, "INSERT"] == NO_RIGHT:
        sayable: set[str] = set()
    else:
        sayable = set(GOOD[table])
    for column in set(await columns(roles, table)) - sayable:
        forged = (
            f"INSERT INTO {table} ({column}) OVERRIDING SYSTEM VALUE SELECT {column} FROM {table}"
        )
        assert await attempt(roles["runtime"], forged) == NO_RIGHT, column


@each_table
async def test_an_id_is_never_chosen_by_accident_either(roles: Roles, table: str) -> None:
    for column in await identity(roles, table):
        assert await attempt(roles["owner"], insertion(table, {column: "-5"})) == GENERATED


@pytest.mark.parametrize("table", APPEND_ONLY)
@pytest.mark.parametrize("who", ["owner", "superuser"])
@pytest.mark.parametrize("mode", ["origin", "replica", "local"])
async def test_history_stays_also_when_triggers_are_set_aside(
    roles: Roles, table: str, who: str, mode: str
) -> None:
    superuser = roles["superuser"]
    as_whom = f"SET LOCAL ROLE {'fencepost_owner' if who == 'owner' else 'postgres'}"
    (column, *_) = set(await columns(roles, table)) - await identity(roles, table)
    for statement in (
        f"UPDATE {table} SET {column} = {column}",
        f"DELETE FROM {table}",
        f"TRUNCATE {table} CASCADE",
    ):
        pretend = f"SET LOCAL session_replication_role = {mode}"
        assert await attempt(superuser, pretend, as_whom, statement) == APPENDED, statement


@pytest.mark.parametrize("role", ["runtime", "reader"])
async def test_nobody_who_logs_in_can_set_triggers_aside(roles: Roles, role: str) -> None:
    assert await attempt(roles[role], "SET session_replication_role = replica") == NO_RIGHT


@pytest.mark.parametrize("role", ["runtime", "reader"])
@each_history
async def test_nobody_who_logs_in_can_take_the_triggers_off(
    roles: Roles, role: str, table: str
) -> None:
    for statement in (
        f"ALTER TABLE {table} DISABLE TRIGGER ALL",
        f"DROP TRIGGER append_only ON {table}",
        f"DROP TABLE {table}",
        f"ALTER TABLE {table} OWNER TO fencepost_runtime",
        f"CREATE TRIGGER mine BEFORE INSERT ON {table} EXECUTE FUNCTION refuse_rewrite()",
        f"CREATE RULE mine AS ON INSERT TO {table} DO INSTEAD NOTHING",
    ):
        assert await attempt(roles[role], statement) == NO_RIGHT, statement


@each_history
async def test_history_can_not_be_locked_or_merged_over(roles: Roles, table: str) -> None:
    runtime = roles["runtime"]
    (column, *_) = GOOD[table]
    merge = f"ON CONFLICT ON CONSTRAINT {table}_pkey DO UPDATE SET {column} = excluded.{column}"
    for statement in (
        f"SELECT * FROM {table} FOR UPDATE",
        f"SELECT * FROM {table} FOR KEY SHARE",
        f"LOCK TABLE {table} IN EXCLUSIVE MODE",
        f"{insertion(table)} {merge}",
        f"MERGE INTO {table} USING (VALUES (1)) AS one ON true WHEN MATCHED THEN DELETE",
    ):
        assert await attempt(runtime, statement) == NO_RIGHT, statement


async def test_no_row_goes_because_another_went(roles: Roles) -> None:
    rows = await roles["superuser"].fetch(
        "SELECT conname FROM pg_constraint WHERE contype = 'f'"
        " AND connamespace = 'fencepost'::regnamespace"
        " AND (confdeltype NOT IN ('a', 'r') OR confupdtype NOT IN ('a', 'r') OR condeferrable)"
    )
    assert rows == []
    assert await attempt(roles["owner"], "DELETE FROM content WHERE id = 1") == "23503"


async def test_the_public_may_execute_and_create_nothing(roles: Roles) -> None:
    superuser = roles["superuser"]
    functions = await superuser.fetch(
        "SELECT proname FROM pg_proc, aclexplode(coalesce(proacl, acldefault('f', proowner)))"
        " WHERE pronamespace = 'fencepost'::regnamespace AND grantee = 0"
    )
    assert functions == []
    schema = await superuser.fetch(
        "SELECT FROM pg_namespace, aclexplode(coalesce(nspacl, acldefault('n', nspowner)))"
        " WHERE nspname = 'fencepost' AND grantee = 0"
    )
    assert schema == []


@pytest.mark.parametrize("role", ["runtime", "reader"])
async def test_a_role_may_call_only_these_functions(roles: Roles, role: str) -> None:
    rows = await roles["superuser"].fetch(
        "SELECT proname FROM pg_proc WHERE pronamespace = 'fencepost'::regnamespace"
        " AND has_function_privilege($1, oid, 'EXECUTE')",
        f"fencepost_{role}",
    )
    callable_ = {"runtime": {"clock", "actor_rank", "holds_lease"}, "reader": {"clock", "may_read"}}
    assert {row["proname"] for row in rows} == callable_[role]


@pytest.mark.parametrize("role", ["runtime", "reader"])
async def test_nobody_who_logs_in_can_make_or_change_what_others_run(
    roles: Roles, role: str
) -> None:
    for statement in (
        "CREATE TABLE fencepost.mine (n int)",
        "CREATE TABLE public.mine (n int)",
        "CREATE SCHEMA mine",
        "CREATE FUNCTION fencepost.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        f"CREATE OR REPLACE {CLOCK}",
        "CALL fencepost.make_append_only('fencepost.item')",
        "SET ROLE fencepost_owner",
        "ALTER ROLE fencepost_owner LOGIN",
        "ALTER TABLE payload DISABLE ROW LEVEL SECURITY",
        "CREATE POLICY mine ON payload USING (true)",
    ):
        assert await attempt(roles[role], statement) == NO_RIGHT, statement


@pytest.mark.parametrize("role", ["runtime", "reader"])
async def test_nobody_who_logs_in_can_grant_himself_anything(roles: Roles, role: str) -> None:
    # The GRANT itself only warns, and grants nothing.
    granted = f"GRANT UPDATE, DELETE ON decision TO fencepost_{role}"
    for statement in ("UPDATE decision SET seen = 0", "DELETE FROM decision"):
        assert await attempt(roles[role], granted, statement) == NO_RIGHT
    assert await attempt(roles[role], f"GRANT fencepost_owner TO fencepost_{role}") == NO_RIGHT


@pytest.mark.parametrize("role", ["runtime", "reader"])
async def test_nobody_who_logs_in_can_turn_back_a_counter(roles: Roles, role: str) -> None:
    sequences = await roles["superuser"].fetch(
        "SELECT oid::regclass::text AS name FROM pg_class"
        " WHERE relkind = 'S' AND relnamespace = 'fencepost'::regnamespace"
    )
    assert len(sequences) > 5
    for row in sequences:
        assert await attempt(roles[role], f"SELECT setval('{row['name']}', 1)") == NO_RIGHT
        assert await attempt(roles[role], f"SELECT nextval('{row['name']}')") == NO_RIGHT


@pytest.mark.parametrize("role", ["runtime", "reader"])
async def test_roles_that_log_in_have_no_powers(roles: Roles, role: str) -> None:
    row = await roles["superuser"].fetchrow(
        "SELECT rolcanlogin AS logs_in,"
        " rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls AS powers,"
        " (SELECT count(*) FROM pg_auth_members WHERE member = pg_roles.oid) AS memberships"
        " FROM pg_roles WHERE rolname = $1",
        f"fencepost_{role}",
    )
    assert dict(row) == {"logs_in": True, "powers": False, "memberships": 0}


async def test_nobody_logs_in_as_the_owner(roles: Roles) -> None:
    assert not await roles["superuser"].fetchval(
        "SELECT rolcanlogin OR rolsuper FROM pg_roles WHERE rolname = 'fencepost_owner'"
    )


async def test_no_temporary_table_stands_in_for_one_of_ours(roles: Roles) -> None:
    async with roles["runtime"].transaction():
        await roles["runtime"].execute("CREATE TEMP TABLE item (id int) ON COMMIT DROP")
        real = await roles["runtime"].fetchval(
            "SELECT 'item'::regclass = 'fencepost.item'::regclass"
        )
    assert real
