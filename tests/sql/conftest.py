"""One database for the tests of a module that leave nothing behind: each is rolled back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from tests.sql.crowd import make_past, make_present
from tests.sql.world import STOPPED_CLOCK, make_world
from tests.support.postgres import Cluster, Dsn

CROWDED = (
    "item",
    "content",
    "evidence",
    "exclusion",
    "decision",
    "lease_log",
    "pending_apply",
    "principal",
)


@pytest.fixture(scope="module")
async def module_dsn(cluster: Cluster) -> AsyncIterator[Dsn]:
    """A migrated database of this module."""
    made = await cluster.clone()
    yield made
    await cluster.drop(made)


@pytest.fixture(scope="module")
async def module_admin(module_dsn: Dsn) -> AsyncIterator[asyncpg.Connection[Any]]:
    """The superuser in it."""
    connection = await asyncpg.connect(
        module_dsn.admin, server_settings={"search_path": "fencepost"}
    )
    yield connection
    await connection.close()


@pytest.fixture(scope="module")
async def module_runtime(module_dsn: Dsn) -> AsyncIterator[asyncpg.Connection[Any]]:
    """The runtime role in it."""
    connection = await asyncpg.connect(module_dsn.runtime)
    yield connection
    await connection.close()


@pytest.fixture(scope="module")
async def module_reader(module_dsn: Dsn) -> AsyncIterator[asyncpg.Connection[Any]]:
    """The reader in it."""
    connection = await asyncpg.connect(module_dsn.reader)
    yield connection
    await connection.close()


@pytest.fixture(scope="module", params=["late", "early", "never"])
async def crowd(
    cluster: Cluster, request: pytest.FixtureRequest
) -> AsyncIterator[asyncpg.Connection[Any]]:
    """A superuser in a crowded database, whose statistics are late, early or not there."""
    dsn = await cluster.clone()
    admin = await asyncpg.connect(dsn.admin, server_settings={"search_path": "fencepost"})
    runtime = await asyncpg.connect(dsn.runtime)
    for table in CROWDED:
        await admin.execute(f"ALTER TABLE {table} SET (autovacuum_enabled = false)")
    await make_past(admin, runtime)
    if request.param == "early":
        await admin.execute("ANALYZE")
    await make_present(admin)
    if request.param == "late":
        await admin.execute("ANALYZE")
    yield admin
    await runtime.close()
    await admin.close()
    await cluster.drop(dsn)


@pytest.fixture
async def world(
    admin: asyncpg.Connection[Any], runtime: asyncpg.Connection[Any]
) -> asyncpg.Connection[Any]:
    """The runtime role in a small world where it is noon until it is told otherwise.

    Items 2 and 3 wait, 2 before 3; item 1 is resolved.
    """
    await make_world(runtime)
    await admin.execute(
        "UPDATE item SET state = 'resolved', resolution = 'withdrawn', resolved_at = now(),"
        " owner = NULL, fence_token = NULL, lease_expires = NULL WHERE id = 1"
    )
    await admin.execute("DELETE FROM exclusion")
    await admin.execute("SET ROLE fencepost_owner")
    await admin.execute(STOPPED_CLOCK)
    await admin.execute("RESET ROLE")
    return runtime
