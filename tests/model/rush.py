"""Everybody at once, while time passes in leaps and the workers do theirs."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine
from datetime import timedelta
from typing import Any

from backend.db.errors import OutcomeUnknownError
from backend.services.apply import apply_due
from backend.services.redrive import redrive
from tests.model.crowd import NOT_DONE, Client, Crowd, watching
from tests.model.seniors import Seniors


async def rush(crowd: Crowd, seniors: Seniors, *, clients: int, times: int) -> None:
    """Let the clients work, while leads, the producer, the workers and time do theirs."""
    async with contextlib.AsyncExitStack() as life:
        watches = [await life.enter_async_context(watching(crowd.desk)) for _ in range(clients)]
        background = asyncio.create_task(_background(crowd))
        try:
            async with asyncio.TaskGroup() as group:
                for number, watch in enumerate(watches):
                    who = crowd.people[number % len(crowd.people)]
                    group.create_task(Client(crowd, who, watch).work(times))
                group.create_task(seniors.lead(crowd, times))
                group.create_task(seniors.produce(crowd, times))
        finally:
            background.cancel()
            await asyncio.wait([background])
        if not background.cancelled():
            background.result()


async def _background(crowd: Crowd) -> None:
    desk = crowd.desk
    while True:
        await desk.pass_time(timedelta(seconds=crowd.random.uniform(0, 25)))
        workers = [apply_due] + [redrive] * (crowd.random.random() < 0.3)
        for work in workers:
            with contextlib.suppress(*NOT_DONE, OutcomeUnknownError):
                await _cut_off(crowd, work(desk.db))
        await asyncio.sleep(0.02)


async def _cut_off(crowd: Crowd, work: Coroutine[Any, Any, object]) -> None:
    """Do a worker's work, or kill it in the middle; being told to stop oneself is another thing."""
    try:
        await crowd.cut(work)
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
