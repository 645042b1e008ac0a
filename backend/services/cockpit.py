"""The figures that leads watch, read from the tables as they stand."""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta

from backend.db.connection import Database
from backend.db.health import (
    LeaseCountRow,
    QueueHealthRow,
    effect_health,
    lease_counts,
    queue_health,
)
from backend.domain.identity import Identity
from shared.vocabulary import Role
from shared.wire.cockpit import Health, QueueHealth

NOT_APPLIED_AFTER = timedelta(minutes=5)
"""A decision this long past its undo window without an effect means that the system did not carry
out what a person said."""

_MOST_LEASES = 5


async def health(db: Database, who: Identity, policy_version: str) -> Health:
    """Return the figures of the queues that `who` leads, all as of one moment."""
    async with db.transaction(readonly=True) as conn:
        queues = await queue_health(conn, tenant_id=who.tenant_id)
        counts = await lease_counts(conn, tenant_id=who.tenant_id)
        effects = await effect_health(conn, tenant_id=who.tenant_id, grace=NOT_APPLIED_AFTER)
    led = [row for row in queues if who.may(Role.LEAD, row.queue)]
    return Health(
        as_of=effects.as_of,
        queues=_with_counts(led, counts),
        not_applied=effects.not_applied,
        not_applied_oldest_ms=effects.not_applied_oldest_ms,
        not_applied_after_ms=NOT_APPLIED_AFTER // timedelta(milliseconds=1),
        waiting_to_apply=effects.waiting_to_apply,
        dead=effects.dead,
        held=effects.held,
        decided_last_hour=effects.decided_last_hour,
        policy_version=policy_version,
    )


def _with_counts(
    queues: list[QueueHealthRow], counts: list[LeaseCountRow]
) -> tuple[QueueHealth, ...]:
    leased: dict[str, dict[int, int]] = defaultdict(dict)
    for row in counts:
        leased[row.queue][row.leases] = row.items
    return tuple(_queue(row, leased[row.queue]) for row in queues)


def _queue(row: QueueHealthRow, leased: dict[int, int]) -> QueueHealth:
    """Zero leases are the rest: an index holds only the items that were leased at all."""
    never = max(0, row.unresolved - sum(leased.values()))
    counts = (never, *(leased.get(times, 0) for times in range(1, _MOST_LEASES + 1)))
    return QueueHealth(
        queue=row.queue,
        title=row.title,
        waiting=row.waiting + row.lapsed,
        in_review=row.in_review,
        lapsed=row.lapsed,
        escalating=row.escalating,
        stuck=row.stuck,
        oldest_ms=row.oldest_ms,
        sla_ms=row.sla_ms,
        lease_counts=counts,
    )
