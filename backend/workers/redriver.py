"""Gives run-out leases back, wakes the parked, escalates the abandoned, brings strays home."""

from __future__ import annotations

from backend.db.connection import Database
from backend.services.news import Tell, nobody
from backend.services.redrive import redrive
from backend.services.strays import rescue_strays
from backend.workers.loop import Worker

_BATCH = 200


def redriver(db: Database, *, tell: Tell = nobody, every: float = 1.0) -> Worker:
    """Return the worker; any number of them may run side by side."""

    async def tick() -> bool:
        busy = (await redrive(db, limit=_BATCH, tell=tell)).busy
        return await rescue_strays(db, limit=_BATCH, tell=tell) > 0 or busy

    return Worker("redriver", tick, every=every)
