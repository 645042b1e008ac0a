"""Lets decisions take effect when their undo windows are over."""

from __future__ import annotations

from backend.db.connection import Database
from backend.services.apply import apply_due
from backend.services.news import Tell, nobody
from backend.workers.loop import Worker

_BATCH = 50


def applier(db: Database, *, every: float = 0.5, tell: Tell = nobody) -> Worker:
    """Return the worker; any number of them may run side by side."""

    async def tick() -> bool:
        return await apply_due(db, limit=_BATCH, tell=tell) > 0

    return Worker("applier", tick, every=every)
