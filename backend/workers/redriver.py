"""Gives run-out leases back and escalates what was left undecided."""

from __future__ import annotations

from backend.db.connection import Database
from backend.services.redrive import redrive
from backend.workers.loop import Worker

_BATCH = 200


def redriver(db: Database, *, every: float = 1.0) -> Worker:
    """Return the worker; any number of them may run side by side."""

    async def tick() -> bool:
        return (await redrive(db, limit=_BATCH)).busy

    return Worker("redriver", tick, every=every)
