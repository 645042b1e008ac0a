"""What leads see: the queue's health in figures that are read, never kept."""

from __future__ import annotations

from datetime import datetime

import msgspec


class QueueHealth(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of one queue.

    `lease_counts[n]` is how many unresolved items were leased n times; the last place holds "that
    many or more". `oldest_ms` is the age of the oldest item that waits or is held, as its SLA
    counts it: without the time that it was parked. A person is `present` if he has a right to the
    queue and used his key within the last 15 minutes; the asker only where he is a reviewer.
    """

    queue: str
    title: str
    waiting: int
    in_review: int
    lapsed: int
    """Leases that have run out and wait for a claim or the redriver."""
    escalating: int
    """Items at their abandon threshold that wait to be moved."""
    stuck: int = 0
    """Items that were left undecided where nothing escalates further."""
    oldest_ms: int | None
    sla_ms: int
    lease_counts: tuple[int, ...]
    parked: int = 0
    unclaimable: int = 0
    """Waiting items that nobody who is present may take."""
    present: int = 0


class Health(msgspec.Struct, frozen=True, kw_only=True):
    """Answer to `GET /v1/health`.

    `not_applied` are decisions past their undo window by more than `not_applied_after_ms` without
    an effect; `dead` those that gave up; `held` contents that wait for a score still.
    """

    as_of: datetime
    queues: tuple[QueueHealth, ...]
    not_applied: int
    not_applied_oldest_ms: int | None
    not_applied_after_ms: int
    waiting_to_apply: int
    dead: int
    held: int
    decided_last_hour: int
    policy_version: str
