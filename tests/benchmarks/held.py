"""Cycles at full speed for minutes, and while another transaction holds an old snapshot."""

from __future__ import annotations

import asyncio
import contextlib
import statistics
from collections.abc import AsyncIterator

import asyncpg

from tests.benchmarks.claims import AT_ONCE, Sizes
from tests.benchmarks.frame import Figure, figure
from tests.benchmarks.pgbench import Work, cycle_script, defined, run
from tests.benchmarks.stock import FIRST_CLAIMER, Stock
from tests.sql.crowd import QUEUE

_WORK = Work(queue=QUEUE, reason="fine", policy_version="p-1", first_person=FIRST_CLAIMER)
_SLICES = 6
FASTEST = 3_000
"""Cycles a second that can't be reached: so many more items wait than are decided."""
_BEFORE, _HELD = 5, 20
"""Seconds without a snapshot, and with one; the rate is taken when it has been held for 15."""


async def long_run(stock: Stock, sizes: Sizes, seconds: int) -> AsyncIterator[Figure]:
    """Yield `claim_long`: the rate of the last slice of a run over that of the first."""
    every = max(1, seconds // _SLICES)
    async with stock.consumed(sizes.waiting + FASTEST * seconds, sizes.leased, AT_ONCE) as dsn:
        ran = await run(
            stock.server,
            dsn.runtime,
            cycle_script(_WORK),
            defined(_WORK),
            clients=AT_ONCE,
            seconds=seconds,
            every=every,
        )
    last_over_first = ran.slices[-1][1] / ran.slices[0][1]
    size = f"{sizes.waiting:,} waiting at least, {seconds} s, {AT_ONCE} at once, one pass"
    yield figure("claim_long", [last_over_first], target=(">=", 0.9), size=size)


async def snapshot(stock: Stock, sizes: Sizes) -> AsyncIterator[Figure]:
    """Yield `claim_snapshot`: the rate after a snapshot was held for 15 s over that before."""
    seconds = _BEFORE + _HELD
    async with stock.consumed(sizes.waiting + FASTEST * seconds, sizes.leased, AT_ONCE) as dsn:
        holding = asyncio.create_task(_hold(dsn.admin))
        ran = await run(
            stock.server,
            dsn.runtime,
            cycle_script(_WORK),
            defined(_WORK),
            clients=AT_ONCE,
            seconds=seconds,
            every=1,
        )
        await holding
    before = [rate for at, rate in ran.slices if 1 < at <= _BEFORE]
    held = [rate for at, rate in ran.slices if at > _BEFORE + 15]
    ratio = statistics.mean(held) / statistics.mean(before)
    size = f"{sizes.waiting:,} waiting at least, {AT_ONCE} at once, one pass"
    yield figure("claim_snapshot", [ratio], target=(">=", 0.5), size=size, stretch=True)


async def _hold(url: str) -> None:
    """Take a snapshot after a while and keep it to the end of the run."""
    await asyncio.sleep(_BEFORE)
    connection = await asyncpg.connect(url)
    with contextlib.suppress(asyncpg.InterfaceError):
        async with connection.transaction(isolation="repeatable_read", readonly=True):
            await connection.fetchval("SELECT count(*) FROM tenant")
            await asyncio.sleep(_HELD)
    await connection.close()
