"""Policy versions, which one is in force, and the names that a policy owns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import msgspec

from backend.db.statements import many, maybe, run, statements

_SQL = statements("policy")


class PolicyRow(msgspec.Struct, frozen=True, kw_only=True):
    """One stored policy: its version, its TOML text, and the SHA-256 of that."""

    version: str
    document: str
    sha256: bytes


class ActivePolicyRow(PolicyRow, frozen=True, kw_only=True):
    """The policy in force; `settling`: it has been for a few seconds at most."""

    settling: bool


class QueueRow(msgspec.Struct, frozen=True, kw_only=True):
    """One queue as the queue table holds it."""

    name: str
    title: str
    severity: int
    lease_ttl: timedelta
    max_hold: timedelta
    abandon_threshold: int
    escalation_queue: str | None
    escalation_boost: float
    undo_window: timedelta
    release_cooldown: timedelta
    sla: timedelta
    draining: bool


class KnownQueue(msgspec.Struct, frozen=True, kw_only=True):
    """A queue that the tenant has or had; a closed one may have a `successor`, which is open."""

    name: str
    open: bool
    draining: bool
    successor: str | None
    escalation_queue: str | None


async def read_active_policy(conn: Any, tenant_id: int) -> ActivePolicyRow | None:
    """Read the policy in force; None before the first activation."""
    return await maybe(_SQL["read_active_policy"], ActivePolicyRow, conn, tenant_id=tenant_id)


async def read_policy(conn: Any, tenant_id: int, version: str) -> PolicyRow | None:
    """Read one stored version."""
    return await maybe(_SQL["read_policy"], PolicyRow, conn, tenant_id=tenant_id, version=version)


async def lock_policies(conn: Any, tenant_id: int) -> None:
    """Wait until no other transaction activates a policy of this tenant."""
    await run(_SQL["lock_policies"], conn, tenant_id=tenant_id)


async def insert_policy(
    conn: Any, tenant_id: int, row: PolicyRow, principal_id: int | None
) -> None:
    """Store a version unless its name is taken."""
    await run(
        _SQL["insert_policy"],
        conn,
        tenant_id=tenant_id,
        version=row.version,
        document=row.document,
        sha256=row.sha256,
        principal_id=principal_id,
    )


async def activate_policy(
    conn: Any, tenant_id: int, version: str, principal_id: int | None
) -> None:
    """Put a stored version in force."""
    await run(
        _SQL["activate_policy"],
        conn,
        tenant_id=tenant_id,
        version=version,
        principal_id=principal_id,
    )


async def store_queues(conn: Any, tenant_id: int, rows: Sequence[QueueRow]) -> None:
    """Open or change these queues."""
    await run(
        _SQL["store_queues"],
        conn,
        tenant_id=tenant_id,
        names=[row.name for row in rows],
        titles=[row.title for row in rows],
        severities=[row.severity for row in rows],
        lease_ttls=[row.lease_ttl for row in rows],
        max_holds=[row.max_hold for row in rows],
        abandon_thresholds=[row.abandon_threshold for row in rows],
        escalation_queues=[row.escalation_queue for row in rows],
        escalation_boosts=[row.escalation_boost for row in rows],
        undo_windows=[row.undo_window for row in rows],
        release_cooldowns=[row.release_cooldown for row in rows],
        slas=[row.sla for row in rows],
        drainings=[row.draining for row in rows],
    )


async def read_queues(conn: Any, tenant_id: int) -> list[KnownQueue]:
    """Read every queue that the tenant has or had."""
    return await many(_SQL["read_queues"], KnownQueue, conn, tenant_id=tenant_id)


async def close_queues(conn: Any, tenant_id: int, queues: Sequence[KnownQueue]) -> None:
    """Close these queues, and lead each to its successor."""
    await run(
        _SQL["close_queues"],
        conn,
        tenant_id=tenant_id,
        names=[queue.name for queue in queues],
        successors=[queue.successor for queue in queues],
        escalations=[queue.escalation_queue for queue in queues],
    )


async def copy_grants(conn: Any, tenant_id: int, successors: Mapping[str, str]) -> None:
    """Copy the grants for each of these queues to the one that takes its place."""
    await run(
        _SQL["copy_grants"],
        conn,
        tenant_id=tenant_id,
        names=list(successors),
        successors=list(successors.values()),
    )


async def store_names(
    conn: Any, tenant_id: int, categories: Sequence[str], reasons: Sequence[tuple[str, str]]
) -> None:
    """Add categories, and reasons as (code, title)."""
    await run(_SQL["store_categories"], conn, tenant_id=tenant_id, names=categories)
    await run(
        _SQL["store_reasons"],
        conn,
        tenant_id=tenant_id,
        codes=[code for code, _ in reasons],
        titles=[title for _, title in reasons],
    )
