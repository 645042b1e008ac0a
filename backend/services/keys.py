"""Keys: made once, shown once, and asked for with every request.

A key is `fp_<env>_<id>_<secret>`. The database knows the SHA-256 of the secret; a secret of 256
random bits needs no slower hash.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import re
import secrets
import string
from collections.abc import Sequence
from datetime import timedelta

import msgspec
import structlog

from backend.db import principal as rows
from backend.db.connection import Database
from backend.db.policy import KnownQueue, read_queues
from backend.domain.identity import Grant, Identity
from backend.domain.model import DEFAULT_TENANT
from backend.domain.refusals import InvalidField, NotFound, Unauthenticated
from shared.vocabulary import KeyEnv, Role

_log = structlog.get_logger(__name__)

_KEY = re.compile(r"fp_(?P<env>live|test)_(?P<id>[a-z0-9]{12})_(?P<secret>[A-Za-z0-9]{27,128})\Z")
_NAME = re.compile(r"[a-z0-9][a-z0-9._@-]{0,63}\Z")
_ID_LETTERS = string.ascii_lowercase + string.digits
_SECRET_LETTERS = string.ascii_letters + string.digits
_ID_LENGTH = 12
_SECRET_LENGTH = 43  # of 62 letters: 256 bits
_NOBODY = bytes(32)

KEEP_SECONDS = 0.5
"""How long a key that was looked up is believed without another look."""

_KEPT_AT_MOST = 4096


async def create(  # noqa: PLR0913, PLR0917 - what a key is, column by column
    db: Database,
    name: str,
    kind: str,
    role: Role,
    queue: str | None,
    env: KeyEnv,
    expires: timedelta | None = None,
    *,
    tenant: str = DEFAULT_TENANT,
) -> str:
    """Make a key for a principal, who is made too if need be, and grant him `role`.

    `kind` is `person` or `service`; a `queue` of None means all; the key ends after `expires`.
    Returns the key, which nothing can show again. Raises InvalidField naming `name`, `kind` or
    `queue`, and NotFound for an unknown tenant.
    """
    if _NAME.match(name) is None:
        raise InvalidField("1 to 64 of a-z 0-9 . _ @ -", field="name")
    if kind not in ("person", "service"):
        raise InvalidField("person or service", field="kind")
    key_id = "".join(secrets.choice(_ID_LETTERS) for _ in range(_ID_LENGTH))
    secret = "".join(secrets.choice(_SECRET_LETTERS) for _ in range(_SECRET_LENGTH))
    async with db.transaction() as conn:
        tenant_id = await rows.find_tenant(conn, tenant)
        if tenant_id is None:
            raise NotFound("there is no tenant of this name", field="tenant")
        if queue is not None:
            _refuse_unknown(queue, await read_queues(conn, tenant_id))
        await rows.insert_principal(conn, tenant_id, name, kind)
        found = await rows.find_principal(conn, tenant_id, name)
        if found is None or found.kind != kind or not found.active:
            raise InvalidField("this principal exists, as another kind or inactive", field="name")
        await rows.insert_grant(conn, found.id, role, queue)
        await rows.insert_key(
            conn,
            key_id,
            principal_id=found.id,
            env=env,
            secret_sha256=_hash(secret),
            expires_in=expires,
        )
    return f"fp_{env}_{key_id}_{secret}"


def _refuse_unknown(queue: str, known: Sequence[KnownQueue]) -> None:
    offered = [one.name for one in known if one.open]
    if queue not in offered:
        there = ", ".join(offered) or "none until a policy is in force"
        raise InvalidField(f"the active policy has no such queue; it has {there}", field="queue")


async def revoke(db: Database, key_id: str) -> None:
    """Revoke a key for good; every process refuses it within a second. Raises NotFound."""
    async with db.transaction() as conn:
        if not await rows.revoke_key(conn, key_id):
            raise NotFound("there is no key of this id", field="key_id")


class _Kept(msgspec.Struct, frozen=True):
    row: rows.KeyRow | None
    until: float


class Keyring:
    """Tells who a bearer key belongs to. One a process, for one kind of deployment."""

    def __init__(self, db: Database, env: KeyEnv, *, keep_seconds: float = KEEP_SECONDS) -> None:
        self._db = db
        self._env = env
        self._keep_seconds = keep_seconds
        self._kept: dict[str, _Kept] = {}
        self._touching: set[asyncio.Task[None]] = set()

    async def identify(self, bearer: str) -> Identity:
        """Return who sent this key. Raises Unauthenticated, the same for every reason."""
        key = _KEY.match(bearer)
        if key is None or key["env"] != self._env:
            raise Unauthenticated
        row = await self._look_up(key["id"])
        # The same work whether or not the id is known, so that time tells nothing.
        stored = _NOBODY if row is None else row.secret_sha256
        proven = hmac.compare_digest(_hash(key["secret"]), stored)
        if row is None or not proven or not row.usable or row.env != self._env:
            raise Unauthenticated
        if row.touch:
            self._note_use(row)
        return _identity(row)

    async def close(self) -> None:
        """Let notes of last use that are under way come to an end."""
        await asyncio.gather(*self._touching, return_exceptions=True)

    async def _look_up(self, key_id: str) -> rows.KeyRow | None:
        """Return what is known of a key; also of one that is not, which must not take longer."""
        now = asyncio.get_running_loop().time()
        kept = self._kept.get(key_id)
        if kept is not None and now < kept.until:
            return kept.row
        async with self._db.connection() as conn:
            row = await rows.find_key(conn, key_id)
        if len(self._kept) >= _KEPT_AT_MOST:
            self._kept.clear()
        self._kept[key_id] = _Kept(row, now + self._keep_seconds)
        return row

    def _note_use(self, row: rows.KeyRow) -> None:
        """Note it once, however often the key comes until it is looked up again."""
        kept = self._kept.get(row.key_id)
        if kept is not None:
            noted = msgspec.structs.replace(row, touch=False)
            self._kept[row.key_id] = _Kept(noted, kept.until)
        task = asyncio.create_task(self._touch(row.key_id))
        self._touching.add(task)
        task.add_done_callback(self._touching.discard)

    async def _touch(self, key_id: str) -> None:
        """Note the use of a key beside the request, which neither waits for it nor fails by it."""
        try:
            async with self._db.transaction() as conn:
                await rows.touch_key(conn, key_id)
        except Exception as fault:  # noqa: BLE001 - a diagnostic; the next minute tries again
            _log.warning("key.last_use_not_noted", key_id=key_id, fault=type(fault).__name__)


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


def _identity(row: rows.KeyRow) -> Identity:
    return Identity(
        principal_id=row.principal_id,
        tenant_id=row.tenant_id,
        tenant=row.tenant,
        name=row.name,
        key_id=row.key_id,
        grants=tuple(
            Grant(role=Role(role), queue=queue)
            for role, queue in zip(row.roles, row.queues, strict=True)
        ),
    )
