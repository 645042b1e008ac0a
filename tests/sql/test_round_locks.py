"""The statements of leads by themselves: they guard what the services have looked at before."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import asyncpg
import pytest

from backend.db.item import lock_contents, lock_items
from backend.db.move import move_items, open_queue
from backend.db.withdraw import withdraw_items
from tests.support.postgres import Dsn

Connection = Any
NOW = datetime(2030, 1, 1, tzinfo=UTC)
BY = 3


@pytest.fixture
async def other(dsn: Dsn) -> Any:
    """A second connection of the runtime role."""
    connection = await asyncpg.connect(dsn.runtime)
    yield connection
    await connection.close()


async def test_what_is_resolved_is_neither_moved_nor_withdrawn(world: Connection) -> None:
    both: dict[str, Any] = {"tenant_id": 1, "item_ids": [1, 2], "by": BY, "now": NOW}
    assert await move_items(world, to="escalation", **both) == [2]
    assert await withdraw_items(world, **both) == [2]
    assert await withdraw_items(world, **both) == []


async def test_statements_of_a_bulk_are_of_one_tenant(world: Connection) -> None:
    theirs: dict[str, Any] = {"tenant_id": 2, "item_ids": [2, 3], "by": BY, "now": NOW}
    assert await move_items(world, to="escalation", **theirs) == []
    assert await withdraw_items(world, **theirs) == []
    assert await lock_items(world, tenant_id=2, item_ids=[2, 3]) == []
    assert not await open_queue(world, tenant_id=2, queue="posts")


async def test_a_bulk_waits_for_whoever_works_on_its_items(
    world: Connection, other: Connection
) -> None:
    first = world.transaction()
    await first.start()
    assert len(await lock_items(world, tenant_id=1, item_ids=[3, 2])) == 2
    waiting = asyncio.create_task(lock_items(other, tenant_id=1, item_ids=[2]))
    done, _ = await asyncio.wait([waiting], timeout=0.3)
    assert not done
    await move_items(world, tenant_id=1, item_ids=[2], to="escalation", by=BY, now=NOW)
    await first.commit()
    (seen,) = await asyncio.wait_for(waiting, 5)
    assert seen.queue == "escalation"


async def test_contents_are_locked_against_writers_of_their_trail(
    world: Connection, other: Connection
) -> None:
    async with world.transaction():
        await lock_contents(world, content_ids=[2])
        async with other.transaction():
            waiting = asyncio.create_task(lock_contents(other, content_ids=[2]))
            done, _ = await asyncio.wait([waiting], timeout=0.3)
            assert not done
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)


async def test_a_queue_that_closes_waits_for_what_is_on_its_way_in(
    world: Connection, other: Connection
) -> None:
    async with world.transaction():
        assert await open_queue(world, tenant_id=1, queue="posts")
        async with other.transaction():
            closing = asyncio.create_task(
                other.execute("UPDATE queue SET draining = true WHERE name = 'posts'")
            )
            done, _ = await asyncio.wait([closing], timeout=0.3)
            assert not done
            closing.cancel()
            await asyncio.gather(closing, return_exceptions=True)
    await world.execute("UPDATE queue SET draining = true WHERE name = 'posts'")
    assert not await open_queue(world, tenant_id=1, queue="posts")
