"""Drain a PgQueuer queue of jobs that do nothing; print the jobs a second.

python -m tests.benchmarks.peer_pgqueuer URL JOBS BATCH
"""

from __future__ import annotations

import asyncio
import sys
import time

import asyncpg
from pgqueuer import AsyncpgDriver, Job, PgQueuer, Queries
from pgqueuer.types import QueueExecutionMode

_CONSUMERS = 5
_ROWS = 1_000


async def _drain(url: str, jobs: int, batch: int) -> float:
    connections = [await asyncpg.connect(url) for _ in range(_CONSUMERS)]
    queries = Queries(AsyncpgDriver(connections[0]))
    await queries.install()
    for first in range(0, jobs, _ROWS):
        count = min(_ROWS, jobs - first)
        await queries.enqueue(["nothing"] * count, [b"x"] * count, [0] * count)
    consumers = []
    for connection in connections:
        consumer = PgQueuer(AsyncpgDriver(connection))

        @consumer.entrypoint("nothing")  # type: ignore[untyped-decorator] # no types, or not there
        async def nothing(job: Job) -> None:
            """Do nothing."""

        consumers.append(consumer)
    started = time.perf_counter()
    await asyncio.gather(
        *(each.run(batch_size=batch, mode=QueueExecutionMode.drain) for each in consumers)
    )
    took = time.perf_counter() - started
    for connection in connections:
        await connection.close()
    return jobs / took


if __name__ == "__main__":
    print(asyncio.run(_drain(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
