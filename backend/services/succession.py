"""What a new policy does to the queues of the one before: none with work in it just disappears."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from enum import StrEnum

import msgspec

from backend.db import policy as rows
from backend.db.connection import Connection
from backend.db.policy import KnownQueue
from backend.db.stray import Undecided, count_undecided
from backend.domain.policy import Policy
from backend.domain.refusals import InvalidField


class Change(StrEnum):
    """What happened to a queue when a policy came into force."""

    OPENED = "opened"
    DRAINS = "drains"
    RENAMED = "renamed"
    MERGED = "merged"
    CLOSED = "closed"


class QueueChange(msgspec.Struct, frozen=True, kw_only=True):
    """One queue that is not as before; `moved` of its items went to `successor`."""

    queue: str
    change: Change
    successor: str | None = None
    moved: int = 0


def changes(policy: Policy, known: Sequence[KnownQueue]) -> list[QueueChange]:
    """Return what `policy` changes, given the queues as they were."""
    were_open = {queue.name for queue in known if queue.open}
    draining = {queue.name for queue in known if queue.draining}
    made = [
        QueueChange(queue=name, change=Change.DRAINS if terms.draining else Change.OPENED)
        for name, terms in policy.queues.items()
        if name not in were_open or terms.draining != (name in draining)
    ]
    for name in sorted(were_open - policy.queues.keys()):
        successor = policy.former.get(name)
        if successor is None:
            made.append(QueueChange(queue=name, change=Change.CLOSED))
        else:
            change = Change.MERGED if successor in were_open else Change.RENAMED
            made.append(QueueChange(queue=name, change=change, successor=successor))
    return made


def unrouted(before: Policy, policy: Policy) -> tuple[str, ...]:
    """Return the kinds that a queue named in the policy before, and that go to the default now."""
    return tuple(
        kind
        for kind, queue in before.routes.items()
        if kind not in policy.routes and policy.queue_named(queue) != policy.default_queue
    )


async def bring_queues(
    conn: Connection, tenant_id: int, policy: Policy, terms: Sequence[rows.QueueRow]
) -> list[QueueChange]:
    """Bring the queue table to what `policy` says, and return what changed. Items stay.

    Raises InvalidField for a queue that holds undecided items and would be gone.
    """
    known = await rows.read_queues(conn, tenant_id)
    made = changes(policy, known)
    gone = [change.queue for change in made if change.change is Change.CLOSED]
    if gone:
        _refuse_busy(policy, await count_undecided(conn, tenant_id, gone))
    await rows.store_queues(conn, tenant_id, terms)
    closed = _closed(policy, known)
    if closed:
        await rows.close_queues(conn, tenant_id, closed)
    heirs = _heirs(policy, known)
    if heirs:
        await rows.copy_grants(conn, tenant_id, heirs)
    return made


def remembered(known: Sequence[KnownQueue]) -> dict[str, str]:
    """Return name -> queue that took its place, for the closed queues of which that is known."""
    return {queue.name: queue.successor for queue in known if queue.successor is not None}


def _closed(policy: Policy, known: Sequence[KnownQueue]) -> list[KnownQueue]:
    """Return the queues that are closed from now on, each led to a queue that is open.

    So whoever reads the table never has to follow from one closed queue to another.
    """
    wise = msgspec.structs.replace(policy, followed=remembered(known))
    return [
        msgspec.structs.replace(
            queue,
            open=False,
            successor=wise.queue_named(queue.name),
            escalation_queue=wise.queue_named(queue.escalation_queue or ""),
        )
        for queue in known
        if queue.name not in policy.queues
    ]


def _heirs(policy: Policy, known: Sequence[KnownQueue]) -> dict[str, str]:
    """Return old name -> queue for those that are followed for the first time.

    Only then are grants copied: what was taken from somebody later does not come back.
    """
    return {
        queue.name: policy.former[queue.name]
        for queue in known
        if queue.name in policy.former and (queue.open or queue.successor is None)
    }


def _refuse_busy(policy: Policy, undecided: Sequence[Undecided]) -> None:
    by_queue: dict[str, dict[str, int]] = defaultdict(dict)
    for row in undecided:
        by_queue[row.queue][row.state] = row.items
    if not by_queue:
        return
    held = "; ".join(
        f"queue {queue} is gone from it and holds {sum(states.values())} undecided"
        f" ({', '.join(f'{count} {state}' for state, count in states.items())})"
        for queue, states in sorted(by_queue.items())
    )
    raise InvalidField(
        f"{held}: keep it with draining = true until they are decided, or name it in formerly of"
        f" the queue that takes its place; the policy has {', '.join(policy.queues)}",
        field="queues",
        undecided=dict(by_queue),
    )
