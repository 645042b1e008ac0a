"""The figures that leads watch, read from the tables as they stand."""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta

from backend.db.connection import Database
from backend.db.health import (
    LeaseCountRow,
    QueueHealthRow,
    StaffingRow,
    effect_health,
    lease_counts,
    queue_health,
    staffing,
)
from backend.domain.identity import Identity
from backend.domain.policy import Policy
from shared.vocabulary import Role
from shared.wire.cockpit import Health, QueueHealth

NOT_APPLIED_AFTER = timedelta(minutes=5)
"""A decision this long past its undo window without an effect means that the system did not carry
out what a person said."""

PRESENT_WITHIN = timedelta(minutes=15)
"""How long after the last use of his key a person counts as present."""

_MOST_LEASES = 5


async def health(db: Database, policy: Policy, who: Identity) -> Health:
    """Return the figures of the queues that `who` leads, all as of one moment."""
    async with db.transaction(readonly=True) as conn:
        queues = await queue_health(conn, tenant_id=who.tenant_id)
        counts = await lease_counts(conn, tenant_id=who.tenant_id)
        staff = await staffing(
            conn,
            tenant_id=who.tenant_id,
            claimable_by=[
                (name, role.value)
                for name, terms in policy.queues.items()
                for role in terms.claimable_by
            ],
            principal_id=who.principal_id,
            present_within=PRESENT_WITHIN,
        )
        effects = await effect_health(conn, tenant_id=who.tenant_id, grace=NOT_APPLIED_AFTER)
    led = [row for row in queues if who.may(Role.LEAD, row.queue) and _shown(row)]
    return Health(
        as_of=effects.as_of,
        queues=_with_counts(led, counts, staff),
        not_applied=effects.not_applied,
        not_applied_oldest_ms=effects.not_applied_oldest_ms,
        not_applied_after_ms=NOT_APPLIED_AFTER // timedelta(milliseconds=1),
        waiting_to_apply=effects.waiting_to_apply,
        dead=effects.dead,
        held=effects.held,
        decided_last_hour=effects.decided_last_hour,
        policy_version=policy.version,
    )


def _shown(row: QueueHealthRow) -> bool:
    """Leave out what the policy no longer names, unless something is left in it."""
    return row.open or _unresolved(row) > 0


def _with_counts(
    queues: list[QueueHealthRow], counts: list[LeaseCountRow], staff: list[StaffingRow]
) -> tuple[QueueHealth, ...]:
    leased: dict[str, dict[int, int]] = defaultdict(dict)
    for row in counts:
        leased[row.queue][row.leases] = row.items
    present = {row.queue: row for row in staff}
    return tuple(_queue(row, leased[row.queue], present[row.queue]) for row in queues)


def _queue(row: QueueHealthRow, leased: dict[int, int], staff: StaffingRow) -> QueueHealth:
    """Zero leases are the rest: an index holds only the items that were leased at all."""
    never = max(0, _unresolved(row) - sum(leased.values()))
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
        parked=row.parked,
        unclaimable=staff.unclaimable,
        present=staff.present,
    )


def _unresolved(row: QueueHealthRow) -> int:
    return row.waiting + row.escalating + row.in_review + row.lapsed + row.parked
