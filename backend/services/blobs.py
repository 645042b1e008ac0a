"""Attachments: stored under their own digest, read through a lease or a logged audit view."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Mapping, Sequence
from uuid import UUID

import msgspec

from backend.db.apply import advance_trail
from backend.db.blob import (
    AttachedRow,
    BytesRow,
    blobs_here,
    find_attached,
    find_blob,
    insert_blob,
    read_blob,
    read_leased_blob,
)
from backend.db.connection import Connection, Database
from backend.db.content import lock_chains
from backend.db.event import insert_events
from backend.domain.identity import Identity
from backend.domain.ledger import Fact, chain
from backend.domain.policy import Policy
from backend.domain.refusals import Forbidden, InvalidField, NotFound, TooLarge
from backend.domain.submission import CheckedContent
from backend.services.claim import queue_of_item
from backend.services.lease import item_key, stale
from shared.ids import is_content_id
from shared.vocabulary import EventType, Role
from shared.wire.evidence import BLOB_LIMIT, LEASE_TOKEN_HEADER, BlobReceipt

_DIGEST = re.compile(r"[0-9a-f]{64}\Z")
_TOKEN = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")
_AUDITORS = (Role.LEAD, Role.AUDITOR)


class Blob(msgspec.Struct, frozen=True):
    """Bytes and what their sender said they are."""

    media_type: str
    data: bytes


async def put_blob(
    db: Database, who: Identity, sha256: str, media_type: str, data: bytes
) -> BlobReceipt:
    """Store `data`, whose media type is one of BLOB_TYPES, under its digest, once.

    What is there already stays as it is, its media type too. Raises InvalidField for bytes that are
    not those of the digest, are none, or were erased here, and TooLarge.
    """
    digest = _digest(sha256)
    if not data:
        raise InvalidField("an attachment has at least one byte", field="sha256")
    if len(data) > BLOB_LIMIT:
        raise TooLarge(f"at most {BLOB_LIMIT} bytes in one attachment")
    # Beside the requests of others: this many bytes take a while.
    if await asyncio.to_thread(lambda: hashlib.sha256(data).digest()) != digest:
        raise InvalidField("it is not the digest of these bytes", field="sha256")
    async with db.connection() as conn:
        row = await insert_blob(
            conn,
            tenant_id=who.tenant_id,
            sha256=digest,
            media_type=media_type,
            data=data,
            principal_id=who.principal_id,
        )
        created = row is not None
        if row is None:
            row = await find_blob(conn, tenant_id=who.tenant_id, sha256=digest)
    if row is None:
        raise InvalidField("these bytes were erased and do not come back", field="sha256")
    return BlobReceipt(sha256=sha256, media_type=row.media_type, size=row.size, created=created)


async def missing(
    db: Database, who: Identity, rows: Sequence[CheckedContent]
) -> Mapping[int, InvalidField]:
    """Return, by place in `rows`, the refusal of each content whose attachments are not all here.

    It names the first that is missing. Nothing is asked where nothing is attached.
    """
    wanted = sorted({digest for row in rows for digest in row.attachments})
    if not wanted:
        return {}
    async with db.connection() as conn:
        here = await blobs_here(
            conn, tenant_id=who.tenant_id, digests=[bytes.fromhex(digest) for digest in wanted]
        )
    faults = {}
    for place, row in enumerate(rows):
        lacking = [n for n, digest in enumerate(row.attachments) if digest not in here]
        if lacking:
            field = f"attachments[{lacking[0]}]"
            faults[place] = InvalidField("send its bytes first, with PUT /v1/blobs", field=field)
    return faults


async def read_leased(
    db: Database, policy: Policy, who: Identity, item_id: str, token: str, sha256: str
) -> Blob:
    """Return bytes that an item shows now to the holder of its live lease.

    Raises StaleLease, Forbidden where he may not work any more, InvalidField for what can't be a
    token, and NotFound for anything that the item does not show now.
    """
    item_pk = item_key(item_id)
    if _TOKEN.match(token) is None:
        raise InvalidField("the token of your lease on this item", field=LEASE_TOKEN_HEADER)
    fence = UUID(token)
    async with db.connection() as conn:
        row = await read_leased_blob(
            conn,
            tenant_id=who.tenant_id,
            item_id=item_pk,
            fence_token=fence,
            principal_id=who.principal_id,
            sha256=_known_digest(sha256),
        )
        if row is None:
            raise await stale(conn, who, item_pk, fence)
    queue_of_item(policy, who, row.queue)
    if row.media_type is None or row.data is None:
        raise _not_here()
    return Blob(row.media_type, row.data)


async def read_audited(
    db: Database, policy: Policy, who: Identity, content_id: str, sha256: str
) -> Blob:
    """Return bytes that a content shows or ever showed, once the look at them is in its trail.

    Raises NotFound, and Forbidden for who neither leads nor audits the content's queue.
    """
    digest = _known_digest(sha256)
    if not is_content_id(content_id):
        raise _not_here()
    async with db.transaction() as conn:
        found = await find_attached(
            conn, tenant_id=who.tenant_id, content_id=content_id, sha256=digest
        )
        if found is None:
            raise _not_here()
        queue = found.queue or policy.queue_for(found.kind)
        if not any(who.may(role, queue) for role in _AUDITORS):
            raise Forbidden("your key has no role in this queue")
        row: BytesRow | None = await read_blob(conn, tenant_id=who.tenant_id, sha256=digest)
        if row is None:
            raise _not_here()
        await _log_view(conn, who, content_id, found, sha256)
    return Blob(row.media_type, row.data)


async def _log_view(
    conn: Connection, who: Identity, content_id: str, found: AttachedRow, sha256: str
) -> None:
    (tip,) = await lock_chains(conn, [found.content_pk])
    fact = Fact(
        type=EventType.EVIDENCE_VIEWED,
        at=tip.at,
        principal=str(who.principal_id),
        data={"attachment": sha256, "key": who.key_id},
    )
    (event,) = chain(content_id, tip.seq + 1, tip.chain_head, [fact], tenant=who.tenant)
    await insert_events(conn, [(found.content_pk, event)])
    await advance_trail(conn, content_pk=found.content_pk, seq=event.seq, chain_head=event.hash)


def _digest(sha256: str) -> bytes:
    if _DIGEST.match(sha256) is None:
        raise InvalidField("a SHA-256 as 64 digits of 0-9a-f", field="sha256")
    return bytes.fromhex(sha256)


def _known_digest(sha256: str) -> bytes:
    """Return a digest as bytes; what can't be one is as unknown as what is not here."""
    if _DIGEST.match(sha256) is None:
        raise _not_here()
    return bytes.fromhex(sha256)


def _not_here() -> NotFound:
    return NotFound("no such attachment is shown there", field="sha256")
