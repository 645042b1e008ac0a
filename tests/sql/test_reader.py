"""The read-only role: it sees bodies and evidence on behalf of a principal, and writes nothing."""

from __future__ import annotations

from typing import Any

import asyncpg
import pytest

from tests.sql.rows import insertion
from tests.sql.world import make_world

GUARDED = ("payload", "evidence")
AUDITOR_ELSEWHERE, LEAD_ELSEWHERE, FORMER_LEAD, AUDITOR = 4, 5, 6, 7

each_guarded = pytest.mark.parametrize("table", GUARDED)


@pytest.fixture(scope="module")
async def reader(
    module_admin: Any, module_runtime: Any, module_reader: asyncpg.Connection[Any]
) -> asyncpg.Connection[Any]:
    """A reader in a world of two tenants; principal 2 reviews, 3 leads."""
    await make_world(module_runtime)
    await module_admin.execute(insertion("tenant"))
    people = (
        ("'auditor'", "2", "auditor"),
        ("'lead'", "2", "lead"),
        ("'former'", "1", "lead"),
        ("'auditor'", "1", "auditor"),
    )
    for key, (name, tenant, role) in enumerate(people, start=AUDITOR_ELSEWHERE):
        await module_runtime.execute(insertion("principal", {"tenant_id": tenant, "name": name}))
        await module_runtime.execute(
            insertion("role_grant", {"principal_id": str(key), "role": f"'{role}'"})
        )
    await module_runtime.execute(f"UPDATE principal SET active = false WHERE id = {FORMER_LEAD}")
    elsewhere = {"tenant_id": "2", "policy_version": "NULL", "submitted_by": str(LEAD_ELSEWHERE)}
    await module_runtime.execute(insertion("content", elsewhere))
    for table in GUARDED:
        await module_runtime.execute(insertion(table, {"content_id": "5", "revision": "1"}))
    return module_reader


async def seen(reader: asyncpg.Connection[Any], table: str, principal: str | None) -> list[int]:
    """Return the contents whose rows a principal sees."""
    async with reader.transaction():
        if principal is not None:
            await reader.execute("SELECT set_config('fencepost.principal', $1, true)", principal)
        rows = await reader.fetch(f"SELECT DISTINCT content_id FROM {table} ORDER BY 1")
    return [row["content_id"] for row in rows]


@each_guarded
@pytest.mark.parametrize("principal", [None, "", "1", "2", "999", str(FORMER_LEAD)], ids=str)
async def test_nobody_without_the_right_sees_anything(
    reader: asyncpg.Connection[Any], table: str, principal: str | None
) -> None:
    assert await seen(reader, table, principal) == []


@each_guarded
@pytest.mark.parametrize("principal", ["3", str(AUDITOR)])
async def test_leads_and_auditors_see_their_own_tenant(
    reader: asyncpg.Connection[Any], table: str, principal: str
) -> None:
    assert await seen(reader, table, principal) == [1, 2, 3, 4]


@each_guarded
@pytest.mark.parametrize("principal", [str(AUDITOR_ELSEWHERE), str(LEAD_ELSEWHERE)])
async def test_leads_and_auditors_see_no_other_tenant(
    reader: asyncpg.Connection[Any], table: str, principal: str
) -> None:
    assert await seen(reader, table, principal) == [5]


@each_guarded
async def test_the_right_ends_with_the_transaction(
    reader: asyncpg.Connection[Any], table: str
) -> None:
    assert await seen(reader, table, "3") != []
    assert await seen(reader, table, None) == []


@each_guarded
async def test_a_temporary_table_does_not_answer_who_may_read(
    reader: asyncpg.Connection[Any], table: str
) -> None:
    async with reader.transaction():
        await reader.execute("SET TRANSACTION READ WRITE")
        await reader.execute("SET LOCAL search_path = pg_temp, fencepost")
        for name, columns in {
            "content": "id, 1 AS tenant_id FROM generate_series(1, 9) AS id",
            "principal": "2 AS id, 1 AS tenant_id, true AS active",
            "role_grant": "2 AS principal_id, 'lead' AS role",
        }.items():
            await reader.execute(f"CREATE TEMP TABLE {name} ON COMMIT DROP AS SELECT {columns}")
        await reader.execute("SET LOCAL fencepost.principal = '2'")
        assert await reader.fetch(f"SELECT FROM fencepost.{table}") == []


async def test_the_reader_never_sees_notes_statements_or_secrets(
    reader: asyncpg.Connection[Any],
) -> None:
    for said in ("text FROM note", "text FROM statement", "secret_sha256 FROM api_key"):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await reader.execute(f"SELECT {said}")


async def test_a_transaction_of_the_reader_is_read_only_from_the_start(
    reader: asyncpg.Connection[Any],
) -> None:
    with pytest.raises(asyncpg.ReadOnlySQLTransactionError):
        await reader.execute("CREATE TEMP TABLE mine (n int)")


@pytest.mark.parametrize(
    ("role", "wanted"),
    [
        (
            "module_runtime",
            {
                "search_path": "fencepost, pg_temp",
                "statement_timeout": "5s",
                "lock_timeout": "1s",
                "idle_in_transaction_session_timeout": "10s",
                "synchronous_commit": "on",
                "TimeZone": "UTC",
            },
        ),
        (
            "module_reader",
            {
                "search_path": "fencepost, pg_temp",
                "statement_timeout": "30s",
                "lock_timeout": "1s",
                "idle_in_transaction_session_timeout": "10s",
                "default_transaction_read_only": "on",
            },
        ),
    ],
)
async def test_a_role_brings_its_limits_along(
    request: pytest.FixtureRequest, role: str, wanted: dict[str, str]
) -> None:
    connection = request.getfixturevalue(role)
    found = {name: await connection.fetchval(f"SHOW {name}") for name in wanted}
    assert found == wanted
