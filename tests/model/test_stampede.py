"""Five hundred people in five processes claim at the same moment from three servers."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from backend.db.connection import Database
from backend.services.keys import create
from backend.services.policies import activate, shipped_policy
from shared.vocabulary import KeyEnv, Role
from tests.support.desk import QUEUE, Desk
from tests.support.postgres import Cluster, Dsn, running_cluster
from tests.support.processes import ROOT
from tests.support.served import serving

pytestmark = [pytest.mark.slow, pytest.mark.fault]

PEOPLE, PROCESSES, SERVERS = 500, 5, 3
# When the transaction of each grant began, and when it came to its commit, by the database's clock.
_WATCH = """
CREATE TABLE span (token uuid PRIMARY KEY, began timestamptz NOT NULL, ended timestamptz NOT NULL);
CREATE FUNCTION note_span() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  INSERT INTO fencepost.span VALUES (NEW.token, transaction_timestamp(), clock_timestamp());
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER span AFTER INSERT ON lease_log DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW WHEN (NEW.happening = 'grant') EXECUTE FUNCTION note_span();
"""
_OVERLAPS = """
SELECT count(*) FROM span a JOIN span b
  ON a.token < b.token AND a.began < b.ended AND b.began < a.ended
"""


@pytest.fixture(scope="module")
async def durable() -> AsyncIterator[Cluster]:
    """A cluster that keeps what it commits: a server refuses any other."""
    async with running_cluster(durable=True) as running:
        yield running


class Crowd:
    """Processes of clients who wait for the word."""

    def __init__(self, processes: list[asyncio.subprocess.Process]) -> None:
        self._processes = processes

    async def go(self) -> list[Any]:
        """Let all claim at once; return what each was told."""
        for process in self._processes:
            assert process.stdin is not None
            process.stdin.write(b"go\n")
        told = []
        for process in self._processes:
            assert process.stdout is not None
            told += json.loads(await process.stdout.readline())
        return told


@contextlib.asynccontextmanager
async def crowd(ports: list[int], keys: list[str]) -> AsyncIterator[Crowd]:
    """Start the client processes; each person goes to the next server in turn."""
    clients = [(ports[place % len(ports)], key) for place, key in enumerate(keys)]
    async with contextlib.AsyncExitStack() as stack:
        processes = []
        for first in range(PROCESSES):
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "tests.model.stampede", QUEUE),
                cwd=ROOT,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                limit=2**22,
            )
            stack.push_async_callback(_end, process)
            assert process.stdin is not None
            process.stdin.write(json.dumps(clients[first::PROCESSES]).encode() + b"\n")
            processes.append(process)
        for process in processes:
            assert process.stdout is not None
            assert await process.stdout.readline() == b"ready\n"
        yield Crowd(processes)


async def _end(process: asyncio.subprocess.Process) -> None:
    assert process.stdin is not None
    process.stdin.close()
    await process.wait()


@contextlib.asynccontextmanager
async def stampede(cluster: Cluster, items: int) -> AsyncIterator[tuple[Crowd, Dsn]]:
    dsn = await cluster.clone()
    async with contextlib.AsyncExitStack() as stack:
        admin = await asyncpg.connect(dsn.admin, server_settings={"search_path": "fencepost"})
        stack.push_async_callback(admin.close)
        await admin.execute(_WATCH)
        async with Database(dsn.runtime, durable=False) as db:
            policy = await activate(db, 1, shipped_policy())
            desk = Desk(db, admin, policy)
            for number in range(items):
                await desk.item(f"c-{number}", rank=float(number))
            made = (
                create(db, f"r{number}", "person", Role.REVIEWER, None, KeyEnv.LIVE)
                for number in range(PEOPLE)
            )
            keys = [await one for one in made]
        async with contextlib.AsyncExitStack() as servers:
            ports = [
                await servers.enter_async_context(serving(dsn.runtime)) for _ in range(SERVERS)
            ]
            yield await servers.enter_async_context(crowd(ports, keys)), dsn
    await cluster.drop(dsn)


async def rows(dsn: Dsn, query: str) -> Any:
    connection = await asyncpg.connect(dsn.admin, server_settings={"search_path": "fencepost"})
    try:
        return await connection.fetchval(query)
    finally:
        await connection.close()


async def test_five_hundred_who_claim_at_once_get_five_hundred_items(durable: Cluster) -> None:
    async with stampede(durable, PEOPLE) as (people, dsn):
        told = await people.go()
        assert [one for one in told if not isinstance(one, list)] == []
        assert len({item for item, _ in told}) == PEOPLE
        assert len({token for _, token in told}) == PEOPLE
        assert await rows(dsn, _OVERLAPS) >= 50, "they did not race"
        again = await people.go()  # the answers were lost, say
        assert again == told
        assert await rows(dsn, "SELECT count(*) FROM lease_log WHERE token IS NOT NULL") == PEOPLE


async def test_a_queue_of_one_is_given_to_one_of_five_hundred(durable: Cluster) -> None:
    async with stampede(durable, 1) as (people, dsn):
        told = await people.go()
        kinds = Counter("lease" if isinstance(one, list) else one for one in told)
        assert kinds == {"lease": 1, "nothing": PEOPLE - 1}
        assert await rows(dsn, "SELECT count(*) FROM lease_log") == 1
