"""One database for the tests of a module that leave nothing behind: each is rolled back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from tests.support.postgres import Cluster, Dsn


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
