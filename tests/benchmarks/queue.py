"""What a claim costs with leases in front and a history behind, over what it costs without."""

from __future__ import annotations

import argparse
import contextlib
import time
import uuid
from collections.abc import AsyncIterator
from typing import Any

import asyncpg

from backend.db.claim import claim_next
from tests.benchmarks.frame import ROUNDS, Benchmark, Figure, figure, number, percentile
from tests.sql.crowd import QUEUE, make_past, make_people, make_present
from tests.support.postgres import Cluster, running_cluster

FIRST_CLAIMER = 1_000_000
_RESET = """
UPDATE item SET state = 'queued', owner = NULL, fence_token = NULL, claim_key = NULL,
  leased_at = NULL, lease_expires = NULL, lease_epoch = lease_epoch + 1
WHERE owner >= $1
"""


def _flags(parser: argparse.ArgumentParser) -> None:
    number(parser, "--history", 200_000, "decided items behind the full queue")
    number(parser, "--waiting", 50_000, "items that wait in each queue")
    number(parser, "--leased", 5_000, "unexpired leases ranked before all that waits")
    number(parser, "--claims", 1_000, "claims a round and side")
    number(parser, "--rounds", ROUNDS, "interleaved rounds")


class Side:
    """One database and what its claims took, in milliseconds."""

    def __init__(
        self, admin: asyncpg.Connection[Any], runtime: asyncpg.Connection[Any], claimers: int
    ) -> None:
        self.admin = admin
        self.runtime = runtime
        self.claimers = claimers
        self.took: list[float] = []

    async def claim(self, turn: int) -> None:
        """Claim as the next person, who holds nothing yet."""
        started = time.perf_counter()
        lease = await claim_next(
            self.runtime,
            tenant_id=1,
            queue=QUEUE,
            principal_id=FIRST_CLAIMER + turn,
            claim_key=uuid.uuid4(),
        )
        self.took.append(1_000 * (time.perf_counter() - started))
        assert lease is not None, "the queue ran empty: more must wait"

    async def reset(self) -> None:
        """Put everything back, and leave no dead rows to the next round."""
        self.took.clear()
        await self.admin.execute(_RESET, FIRST_CLAIMER)
        await self.admin.execute("VACUUM ANALYZE item")


@contextlib.asynccontextmanager
async def _side(
    cluster: Cluster, claimers: int, *, history: int, waiting: int, leased: int
) -> AsyncIterator[Side]:
    dsn = await cluster.clone()
    admin = await asyncpg.connect(dsn.admin, server_settings={"search_path": "fencepost"})
    runtime = await asyncpg.connect(dsn.runtime)
    try:
        await make_past(admin, runtime, resolved=history)
        await make_present(admin, after=history, queued=waiting, leased=leased)
        await make_people(admin, claimers, first=FIRST_CLAIMER)
        await admin.execute("VACUUM ANALYZE")
        await admin.execute("CHECKPOINT")
        yield Side(admin, runtime, claimers)
    finally:
        await runtime.close()
        await admin.close()


async def _run(options: argparse.Namespace) -> AsyncIterator[Figure]:
    waiting, leased, history = options.waiting, options.leased, options.history
    async with contextlib.AsyncExitStack() as stack:
        cluster = await stack.enter_async_context(running_cluster(durable=True))

        async def side(history: int, leased: int) -> Side:
            made = _side(cluster, options.claims, history=history, waiting=waiting, leased=leased)
            return await stack.enter_async_context(made)

        none, front, full = await side(0, 0), await side(0, leased), await side(history, leased)
        rounds = [await _round([none, front, full], options.claims) for _ in range(options.rounds)]
    at = f"{waiting:,} waiting, {leased:,} leased"
    p50, p99 = [[_at(took, share) for took in rounds] for share in (0.5, 0.99)]
    in_front = [one[1] / one[0] for one in p50]
    yield figure("claim_leased", in_front, target=("<=", 1.15), size=at)
    at = f"{at}, {history:,} decided"
    behind = [one[2] / one[0] for one in p50]
    yield figure("claim_history_p50", behind, target=("<=", 1.25), size=at)
    tail = [one[2] / one[0] for one in p99]
    yield figure("claim_history_p99", tail, target=("<=", 1.5), size=at)
    yield figure("claim_p50", [one[2] for one in p50], "ms", size=at)


async def _round(sides: list[Side], claims: int) -> list[list[float]]:
    """Claim on all sides in turn, one by one, and return what each took."""
    for side in sides:
        await side.reset()
    for turn in range(claims):
        for side in sides if turn % 2 else reversed(sides):
            await side.claim(turn)
    return [list(side.took) for side in sides]


def _at(took: list[list[float]], share: float) -> list[float]:
    return [percentile(values, share) for values in took]


BENCHMARK = Benchmark(__doc__ or "", _flags, _run)
