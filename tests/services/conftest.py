"""Fixtures of the service tests: a desk with the shipped policy in force."""

from __future__ import annotations

from typing import Any

import asyncpg
import pytest

from backend.db.connection import Database
from backend.services.policies import shipped_policy
from tests.support.desk import Desk, set_up_desk


@pytest.fixture
async def desk(database: Database, admin: asyncpg.Connection[Any]) -> Desk:
    return await set_up_desk(database, admin, shipped_policy())
