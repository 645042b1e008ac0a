"""Submissions in batches, banded, stored, told and queued, over raw INSERTs of the same rows.

Ours begins with the bytes that a producer sends and ends with the commit; the raw side has its rows
ready in memory. Both write to databases of one schema on one durable server, in turn.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import Any

import asyncpg
import msgspec

from backend.db.connection import Database
from backend.domain.identity import Identity
from backend.domain.policy import Policy
from backend.domain.submission import check_submission
from backend.services.submit import submit
from shared.wire.content import Submission
from tests.benchmarks.bodies import bodies
from tests.benchmarks.frame import ROUNDS, Benchmark, Figure, figure, number, seconds
from tests.benchmarks.raw import Insertion, insert, insertions
from tests.support.gateway import somebody, standard
from tests.support.postgres import Cluster, running_cluster

ASKED = 1_000_000 / 3_600
"""Items a second that the founding text asks for."""
_decoder = msgspec.json.Decoder(Submission)


def _flags(parser: argparse.ArgumentParser) -> None:
    number(parser, "--batches", 20, "batches a round")
    number(parser, "--rows", 1_000, "rows a batch")
    number(parser, "--connections", 2, "batches under way at once, on either side")
    number(parser, "--rounds", ROUNDS, "interleaved rounds")


class Ours:
    """The gateway, in this process."""

    def __init__(self, db: Database, policy: Policy, who: Identity) -> None:
        self.db = db
        self.policy = policy
        self.who = who

    async def send(self, batch: Sequence[bytes]) -> None:
        """Take in one batch."""
        rows = [check_submission(_decoder.decode(one)) for one in batch]
        receipts = await submit(self.db, self.policy, self.who, rows)
        assert all(receipt.created for receipt in receipts)


class Raw:
    """Connections that insert."""

    def __init__(self, connections: Sequence[asyncpg.Connection[Any]]) -> None:
        self.free: asyncio.Queue[asyncpg.Connection[Any]] = asyncio.Queue()
        for connection in connections:
            self.free.put_nowait(connection)

    async def send(self, batch: Sequence[Insertion]) -> None:
        """Insert the rows of one batch."""
        connection = await self.free.get()
        try:
            await insert(connection, batch)
        finally:
            self.free.put_nowait(connection)


async def _all(send: Any, batches: Sequence[Any], at_once: int) -> None:
    """Send batches, some at once."""
    waiting = iter(batches)

    async def sender() -> None:
        for batch in waiting:
            await send(batch)

    async with asyncio.TaskGroup() as senders:
        for _ in range(at_once):
            senders.create_task(sender())


async def _prepared(
    stack: contextlib.AsyncExitStack, cluster: Cluster, connections: int
) -> tuple[Ours, list[asyncpg.Connection[Any]]]:
    """Make a database with a policy and a producer, alike each time, and connect to it."""
    dsn = await cluster.clone()
    db = await stack.enter_async_context(Database(dsn.runtime, size=connections))
    policy = await standard(db)
    admins = []
    for _ in range(connections):
        admin = await asyncpg.connect(dsn.admin, server_settings={"search_path": "fencepost"})
        stack.push_async_callback(admin.close)
        admins.append(admin)
    return Ours(db, policy, await somebody(db)), admins


async def _run(options: argparse.Namespace) -> AsyncIterator[Figure]:
    count, at_once = options.batches * options.rows, options.connections
    ours_took, raw_took = [], []
    async with contextlib.AsyncExitStack() as stack:
        cluster = await stack.enter_async_context(running_cluster(durable=True))
        ours, (admin, *_) = await _prepared(stack, cluster, at_once)
        _, others = await _prepared(stack, cluster, at_once)
        raw = Raw(others)
        for turn in range(options.rounds + 1):
            sent = _batches(bodies(count, seed=turn, prefix=f"c-{turn}"), options.rows)
            ours_seconds = await seconds(partial(_all, ours.send, sent, at_once))
            same = [await insertions(admin, await _keys(admin, batch)) for batch in sent]
            raw_seconds = await seconds(partial(_all, raw.send, same, at_once))
            if turn:  # the first one warms both sides up
                ours_took.append(ours_seconds)
                raw_took.append(raw_seconds)
    size = f"{options.batches} batches of {options.rows:,}, {at_once} at once"
    ratios = [theirs / mine for mine, theirs in zip(ours_took, raw_took, strict=True)]
    yield figure("ingest_batch", ratios, target=(">=", 0.5), size=size)
    rates = [count / took for took in ours_took]
    asked = [rate / ASKED for rate in rates]
    yield figure("ingest_rate", asked, target=(">=", 30), size=size)
    yield figure("ingest_items", rates, "items/s", size=size)
    yield figure("ingest_raw_items", [count / took for took in raw_took], "items/s", size=size)


async def _keys(admin: asyncpg.Connection[Any], batch: Sequence[bytes]) -> list[int]:
    ids = [_decoder.decode(one).content_id for one in batch]
    rows = await admin.fetch("SELECT id FROM content WHERE content_id = ANY ($1)", ids)
    return [row["id"] for row in rows]


def _batches(sent: Sequence[bytes], rows: int) -> list[tuple[bytes, ...]]:
    waiting = iter(sent)
    return list(iter(lambda: tuple(itertools.islice(waiting, rows)), ()))


BENCHMARK = Benchmark(__doc__ or "", _flags, _run)
