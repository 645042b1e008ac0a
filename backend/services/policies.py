"""Policies: stored for ever, put in force one at a time, and kept at hand by every process."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from importlib.resources import files

import msgspec
from msgspec import structs

from backend.db import policy as rows
from backend.db.connection import Connection, Database
from backend.db.principal import find_tenant
from backend.domain.model import DEFAULT_TENANT
from backend.domain.policy import Policy, PolicyError, parse_policy, policy_sha256
from backend.domain.refusals import Busy, InvalidField
from backend.services.news import Tell, depth, nobody
from backend.services.strays import RENAMED, bring
from backend.services.succession import QueueChange, bring_queues, remembered, unrouted

KEEP_SECONDS = 1.0
"""How long a process believes the policy it knows to be the one in force."""

STANDARD = "standard"

CHUNK = 500
"""Items of a queue, of each state, that go to its successor in one transaction."""


def shipped_policy(name: str = STANDARD) -> str:
    """Return the text of a policy that comes with fencepost. Raises KeyError for another."""
    path = files("backend").joinpath("policies", f"{name}.toml")
    if not path.is_file():
        raise KeyError(name)
    return path.read_text(encoding="utf-8")


class Activated(msgspec.Struct, frozen=True, kw_only=True):
    """A policy that is in force, and what that did to the queues."""

    policy: Policy
    queues: tuple[QueueChange, ...]
    unrouted: tuple[str, ...] = ()
    """Kinds that a queue named before and none names now: they go to the default."""


async def activate(
    db: Database, tenant_id: int, text: str, principal_id: int | None = None, *, tell: Tell = nobody
) -> Policy:
    """Put a policy in force as `put_in_force` does, and return it."""
    return (await put_in_force(db, tenant_id, text, principal_id, tell=tell)).policy


async def put_in_force(
    db: Database, tenant_id: int, text: str, principal_id: int | None = None, *, tell: Tell = nobody
) -> Activated:
    """Store a policy text, bring queues and names to what it says, and put it in force.

    The same text again changes nothing. What waits in a queue that another takes the place of goes
    there: the first items in the same transaction, the rest of a long queue right after it. Raises
    PolicyError with every fault of the text, and InvalidField if its version is taken by another
    text (a version never changes) or a queue would be gone that holds undecided items.
    """
    policy = parse_policy(text)
    sha256 = bytes.fromhex(policy_sha256(text))
    row = rows.PolicyRow(version=policy.version, document=text, sha256=sha256)
    async with db.transaction() as conn:
        await rows.lock_policies(conn, tenant_id)
        await rows.insert_policy(conn, tenant_id, row, principal_id)
        stored = await rows.read_policy(conn, tenant_id, policy.version)
        if stored is None or stored.sha256 != sha256:
            raise InvalidField("this version exists with another text", field="version")
        changed = await bring_queues(conn, tenant_id, policy, _queue_rows(policy))
        await rows.store_names(
            conn,
            tenant_id,
            list(policy.categories),
            [(reason.code, reason.title) for reason in policy.reasons],
        )
        active = await rows.read_active_policy(conn, tenant_id)
        if active is None or active.version != policy.version:
            await rows.activate_policy(conn, tenant_id, policy.version, principal_id)
        changed = [await _brought(conn, tenant_id, one, principal_id) for one in changed]
    changed = [await _brought_all(db, tenant_id, one, principal_id) for one in changed]
    for one in changed:
        for news in depth(tenant_id, one.queue, *filter(None, [one.successor])):
            tell(news)
    return Activated(policy=policy, queues=tuple(changed), unrouted=_unrouted(active, policy))


def _unrouted(active: rows.PolicyRow | None, policy: Policy) -> tuple[str, ...]:
    try:
        return () if active is None else unrouted(parse_policy(active.document), policy)
    except PolicyError:  # of a text that was good once; the new one must not fail for it
        return ()


async def _brought(
    conn: Connection, tenant_id: int, one: QueueChange, principal_id: int | None
) -> QueueChange:
    """Bring some items of a queue to what takes its place, and count them."""
    if one.successor is None:
        return one
    principal = None if principal_id is None else str(principal_id)
    moved = await bring(
        conn, tenant_id, one.queue, one.successor, RENAMED, limit=CHUNK, principal=principal
    )
    return structs.replace(one, moved=one.moved + moved)


async def _brought_all(
    db: Database, tenant_id: int, one: QueueChange, principal_id: int | None
) -> QueueChange:
    """Bring what is left, one short transaction at a time; the redriver finishes what this can't.

    The policy is in force by now, so that nobody is made to wait for a long queue.
    """
    before = 0
    while one.moved - before >= CHUNK:
        before = one.moved
        async with db.transaction() as conn:
            one = await _brought(conn, tenant_id, one, principal_id)
    return one


class _Known(msgspec.Struct, frozen=True):
    policy: Policy
    sha256: bytes
    until: float


class ActivePolicy:
    """The policy in force of each tenant, re-read at most once a second. One a process."""

    def __init__(self, db: Database, *, keep_seconds: float = KEEP_SECONDS) -> None:
        self._db = db
        self._keep_seconds = keep_seconds
        self._known: dict[int, _Known] = {}
        self._reading: dict[int, asyncio.Task[_Known]] = {}

    async def of(self, tenant_id: int) -> Policy:
        """Return the policy in force. Raises Busy if none was ever activated."""
        known = self._known.get(tenant_id)
        if known is None or asyncio.get_running_loop().time() >= known.until:
            # All who ask meanwhile share one reading, its failure too: they wait once together.
            known = await asyncio.shield(self._reading_of(tenant_id))
        return known.policy

    def _reading_of(self, tenant_id: int) -> asyncio.Task[_Known]:
        reading = self._reading.get(tenant_id)
        if reading is None or reading.done():
            reading = asyncio.create_task(self._read(tenant_id))
            reading.add_done_callback(_heard)
            self._reading[tenant_id] = reading
        return reading

    async def _read(self, tenant_id: int) -> _Known:
        until = asyncio.get_running_loop().time() + self._keep_seconds
        async with self._db.connection() as conn:
            row = await rows.read_active_policy(conn, tenant_id)
            followed = remembered(await rows.read_queues(conn, tenant_id))
        if row is None:
            raise Busy("no policy is active yet: activate one first")
        old = self._known.get(tenant_id)
        same = old is not None and old.sha256 == row.sha256
        policy = old.policy if same and old is not None else parse_policy(row.document)
        if (policy.followed, policy.settling) != (followed, row.settling):
            policy = structs.replace(policy, followed=followed, settling=row.settling)
        known = _Known(policy, row.sha256, until)
        self._known[tenant_id] = known
        return known


def _heard(reading: asyncio.Task[_Known]) -> None:
    """Take note of a failure, though everybody who waited for it may have left."""
    if not reading.cancelled():
        reading.exception()


async def refuse_unready(db: Database) -> None:
    """Raise Busy unless the database answers and the default tenant has a policy in force."""
    async with db.connection() as conn:
        tenant_id = await find_tenant(conn, DEFAULT_TENANT)
        row = None if tenant_id is None else await rows.read_active_policy(conn, tenant_id)
    if row is None:
        raise Busy("no policy is active yet: activate one first")


def _queue_rows(policy: Policy) -> list[rows.QueueRow]:
    return [
        rows.QueueRow(
            name=name,
            title=queue.title,
            severity=queue.severity,
            lease_ttl=timedelta(milliseconds=queue.lease_ttl_ms),
            max_hold=timedelta(milliseconds=queue.max_hold_ms),
            abandon_threshold=queue.abandon_threshold,
            escalation_queue=queue.escalation_queue,
            escalation_boost=float(queue.escalation_boost),
            undo_window=timedelta(milliseconds=queue.undo_window_ms),
            release_cooldown=timedelta(milliseconds=queue.release_cooldown_ms),
            sla=timedelta(milliseconds=queue.sla_ms),
            draining=queue.draining,
        )
        for name, queue in policy.queues.items()
    ]
