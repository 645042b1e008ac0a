"""Principals, what they may do, and the keys that prove who they are."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import msgspec

from backend.db.statements import many, maybe, run, statements

_SQL = statements("principal")


class KeyRow(msgspec.Struct, frozen=True, kw_only=True):
    """A key and all that a request needs to know of who sent it.

    `roles` and `queues` go together, one grant a place; a queue of None means all of them.
    `touch`: its last use was noted more than a minute ago.
    """

    key_id: str
    env: str
    secret_sha256: bytes
    principal_id: int
    tenant_id: int
    tenant: str
    name: str
    usable: bool
    touch: bool
    roles: list[str]
    queues: list[str | None]


class PrincipalRow(msgspec.Struct, frozen=True, kw_only=True):
    """A person or service."""

    id: int
    kind: str
    active: bool


class ListedKeyRow(msgspec.Struct, frozen=True, kw_only=True):
    """A key as an operator sees it; a grant is `role`, or `role:queue` for one queue."""

    key_id: str
    env: str
    name: str
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None
    usable: bool
    grants: list[str]


async def find_key(conn: Any, key_id: str) -> KeyRow | None:
    """Read one key; None if there is none of that id."""
    return await maybe(_SQL["find_key"], KeyRow, conn, key_id=key_id)


async def touch_key(conn: Any, key_id: str) -> None:
    """Note that a key was used."""
    await run(_SQL["touch_key"], conn, key_id=key_id)


async def find_tenant(conn: Any, name: str) -> int | None:
    """Find a tenant by its name."""
    found: int | None = await _SQL["find_tenant"](conn, name=name)
    return found


async def find_principal(conn: Any, tenant_id: int, name: str) -> PrincipalRow | None:
    """Find a principal by his name."""
    return await maybe(_SQL["find_principal"], PrincipalRow, conn, tenant_id=tenant_id, name=name)


async def insert_principal(conn: Any, tenant_id: int, name: str, kind: str) -> None:
    """Make a principal unless one of that name is there."""
    await run(_SQL["insert_principal"], conn, tenant_id=tenant_id, name=name, kind=kind)


async def insert_grant(conn: Any, principal_id: int, role: str, queue: str | None) -> None:
    """Grant a role in one queue, or in all."""
    await run(_SQL["insert_grant"], conn, principal_id=principal_id, role=role, queue=queue)


async def insert_key(
    conn: Any,
    key_id: str,
    *,
    principal_id: int,
    env: str,
    secret_sha256: bytes,
    expires_in: timedelta | None,
) -> None:
    """Store a new key by the hash of its secret; it ends after `expires_in`, or never."""
    await run(
        _SQL["insert_key"],
        conn,
        key_id=key_id,
        principal_id=principal_id,
        env=env,
        secret_sha256=secret_sha256,
        expires_in=expires_in,
    )


async def revoke_key(conn: Any, key_id: str) -> bool:
    """Revoke a key; False if there is none of that id."""
    return await _SQL["revoke_key"](conn, key_id=key_id) is not None


async def list_keys(conn: Any, tenant_id: int) -> list[ListedKeyRow]:
    """List the keys of a tenant, newest last."""
    return await many(_SQL["list_keys"], ListedKeyRow, conn, tenant_id=tenant_id)
