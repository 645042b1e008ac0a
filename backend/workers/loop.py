"""The one loop that every worker runs: a bounded batch, then a pause; it never dies of a tick.

A tick that found work runs again at once. One that failed waits longer each time, with jitter, so
that many processes do not come back together after an outage. Stopping waits for the tick in hand.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Awaitable, Callable

import structlog

_log = structlog.get_logger("fencepost.workers")
_LONGEST_BACKOFF = 30.0


class Worker:
    """Runs `tick` until it is stopped; `tick` returns whether there may be more to do at once."""

    def __init__(
        self, name: str, tick: Callable[[], Awaitable[bool]], *, every: float = 0.5
    ) -> None:
        self._name = name
        self._tick = tick
        self._every = every
        self._stopping = asyncio.Event()
        self._failures = 0

    def stop(self) -> None:
        """Ask the loop to end after the tick in hand."""
        self._stopping.set()

    async def run(self) -> None:
        """Tick until stopped. A failing tick is logged and retried, never raised."""
        while not self._stopping.is_set():
            more = await self._once()
            if not more:
                await self._pause()

    async def _once(self) -> bool:
        try:
            more = await self._tick()
        except Exception as error:  # noqa: BLE001 - whatever it is, the next tick must come
            self._failures += 1
            _log.warning("tick_failed", worker=self._name, error=type(error).__name__)
            return False
        self._failures = 0
        return more

    async def _pause(self) -> None:
        longest = min(_LONGEST_BACKOFF, self._every * 2 ** min(self._failures, 10))
        wait = longest * random.uniform(0.5, 1.0) if self._failures else self._every  # noqa: S311 - jitter is no secret
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), wait)
