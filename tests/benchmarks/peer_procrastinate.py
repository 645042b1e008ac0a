"""Drain a Procrastinate queue of tasks that do nothing; print the tasks a second.

python -m tests.benchmarks.peer_procrastinate URL TASKS CONCURRENCY
"""

from __future__ import annotations

import asyncio
import sys
import time

from procrastinate import App, PsycopgConnector

_ROWS = 1_000


async def _drain(url: str, tasks: int, concurrency: int) -> float:
    app = App(connector=PsycopgConnector(conninfo=url, min_size=4, max_size=concurrency + 4))

    @app.task(name="nothing")  # type: ignore[untyped-decorator] # no types, or not there
    async def nothing() -> None:
        """Do nothing."""

    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        for first in range(0, tasks, _ROWS):
            await nothing.batch_defer_async(*([{}] * min(_ROWS, tasks - first)))
        started = time.perf_counter()
        await app.run_worker_async(
            wait=False, concurrency=concurrency, install_signal_handlers=False
        )
        return tasks / (time.perf_counter() - started)


if __name__ == "__main__":
    print(asyncio.run(_drain(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
