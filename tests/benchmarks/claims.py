"""What a claim costs with leases in front and a history behind, alone and among sixteen."""

from __future__ import annotations

import asyncio
import contextlib
import time
import uuid
from collections.abc import AsyncIterator, Sequence
from typing import Any

import asyncpg
import msgspec

from backend.db.claim import claim_next
from tests.benchmarks.frame import Figure, figure, percentile
from tests.benchmarks.stock import FIRST_CLAIMER, Stock
from tests.sql.crowd import QUEUE
from tests.support.postgres import Dsn

AT_ONCE = 16
_RESET = """
UPDATE item SET state = 'queued', owner = NULL, fence_token = NULL, claim_key = NULL,
  terminal = NULL, leased_at = NULL, lease_expires = NULL, lease_epoch = lease_epoch + 1
WHERE owner >= $1
"""


class Sizes(msgspec.Struct, frozen=True, kw_only=True):
    """How many rows there are, and how much is done with them."""

    history: int
    waiting: int
    leased: int
    claims: int
    rounds: int


class Side:
    """One database and what its claims took, in milliseconds."""

    def __init__(
        self, admin: asyncpg.Connection[Any], claimers: Sequence[asyncpg.Connection[Any]]
    ) -> None:
        self.admin = admin
        self.claimers = claimers
        self.took: list[float] = []

    async def claim(self, turn: int, by: int = 0) -> None:
        """Claim as the next person, who holds nothing yet."""
        started = time.perf_counter()
        lease = await claim_next(
            self.claimers[by],
            tenant_id=1,
            queue=QUEUE,
            principal_id=FIRST_CLAIMER + turn,
            claim_key=uuid.uuid4(),
            terminal=None,
        )
        self.took.append(1_000 * (time.perf_counter() - started))
        assert lease is not None, "the queue ran empty: more must wait"

    async def claim_at_once(self, claims: int) -> None:
        """Claim on all connections at once, each as a person of its own each time."""
        turns = iter(range(claims))

        async def work(by: int) -> None:
            for turn in turns:
                await self.claim(turn, by)

        await asyncio.gather(*(work(by) for by in range(len(self.claimers))))

    async def reset(self) -> None:
        """Put everything back, and leave no dead rows to the next round."""
        self.took.clear()
        await self.admin.execute(_RESET, FIRST_CLAIMER)
        await self.admin.execute("VACUUM ANALYZE item")
        await self.admin.execute("CHECKPOINT")


@contextlib.asynccontextmanager
async def _side(dsn: Dsn) -> AsyncIterator[Side]:
    async with contextlib.AsyncExitStack() as stack:
        admin = await asyncpg.connect(dsn.admin, server_settings={"search_path": "fencepost"})
        stack.push_async_callback(admin.close)
        claimers = []
        for _ in range(AT_ONCE):
            claimers.append(await asyncpg.connect(dsn.runtime))
            stack.push_async_callback(claimers[-1].close)
        yield Side(admin, claimers)


async def claims(stock: Stock, sizes: Sizes) -> AsyncIterator[Figure]:
    """Yield `claim_leased`, `claim_history` and `claim_history_16`."""
    async with contextlib.AsyncExitStack() as stack:

        async def side(history: int, leased: int) -> Side:
            dsn = await stock.database(history, sizes.waiting, leased, sizes.claims)
            return await stack.enter_async_context(_side(dsn))

        none, front = await side(0, 0), await side(0, sizes.leased)
        full = await side(sizes.history, sizes.leased)
        sides = [none, front, full]
        alone = [await _alone(sides, sizes.claims) for _ in range(sizes.rounds)]
        crowded = [await _crowded([none, full], sizes.claims) for _ in range(sizes.rounds)]
    at = f"{sizes.waiting:,} waiting, {sizes.leased:,} leased"
    p50, p99 = [[_at(took, share) for took in alone] for share in (0.5, 0.99)]
    yield figure("claim_leased", [one[1] / one[0] for one in p50], target=("<=", 1.15), size=at)
    at = f"{at}, {sizes.history:,} decided"
    behind = [one[2] / one[0] for one in p50]
    yield figure("claim_history_p50", behind, target=("<=", 1.25), size=at)
    tail = [one[2] / one[0] for one in p99]
    yield figure("claim_history_p99", tail, target=("<=", 1.5), size=at)
    among = [one[1] / one[0] for one in (_at(took, 0.99) for took in crowded)]
    yield figure("claim_history_16", among, target=("<=", 1.5), size=f"{at}, {AT_ONCE} at once")
    yield figure("claim_p50", [one[2] for one in p50], "ms", size=at)


async def _alone(sides: Sequence[Side], claims: int) -> list[list[float]]:
    """Claim on all sides in turn, one by one, and return what each took."""
    for side in sides:
        await side.reset()
    for turn in range(claims):
        for side in sides if turn % 2 else reversed(sides):
            await side.claim(turn)
    return [list(side.took) for side in sides]


async def _crowded(sides: Sequence[Side], claims: int) -> list[list[float]]:
    """Claim on one side after the other, each with all its connections, in slices."""
    for side in sides:
        await side.reset()
    for side in sides:
        await side.claim_at_once(claims)
    return [list(side.took) for side in sides]


def _at(took: list[list[float]], share: float) -> list[float]:
    return [percentile(values, share) for values in took]
