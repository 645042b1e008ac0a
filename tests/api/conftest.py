"""The API over this test's database, the standard policy in force."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from backend.db.connection import Database
from tests.support.api import Api, api_of
from tests.support.gateway import standard


@pytest.fixture
async def api(database: Database) -> AsyncIterator[Api]:
    await standard(database)
    async with api_of(database) as running:
        yield running
