"""Fixtures for every test: the cluster of the session, one database a test."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from backend.db.connection import Database
from tests.support.postgres import Cluster, Dsn, running_cluster

pytest_plugins = ["tests.support.requirements"]


@pytest.fixture(scope="session")
async def cluster() -> AsyncIterator[Cluster]:
    """A PostgreSQL of this test process alone."""
    async with running_cluster() as running:
        yield running


@pytest.fixture
async def dsn(cluster: Cluster) -> AsyncIterator[Dsn]:
    """A migrated database of this test alone."""
    made = await cluster.clone()
    yield made
    await cluster.drop(made)


@pytest.fixture
async def database(dsn: Dsn) -> AsyncIterator[Database]:
    """The pool that services are given, as the runtime role. Its clock may be replaced."""
    async with Database(dsn.runtime, durable=False, true_clock=False) as opened:
        yield opened


@pytest.fixture
async def admin(dsn: Dsn) -> AsyncIterator[asyncpg.Connection[Any]]:
    """A superuser's connection into this test's database, to look and to prepare."""
    connection = await asyncpg.connect(dsn.admin, server_settings={"search_path": "fencepost"})
    yield connection
    await connection.close()


@pytest.fixture
async def runtime(dsn: Dsn) -> AsyncIterator[asyncpg.Connection[Any]]:
    """A connection as the runtime role, outside any pool."""
    connection = await asyncpg.connect(dsn.runtime)
    yield connection
    await connection.close()
