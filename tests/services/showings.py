"""What tests of evidence need: a producer who submits and revises, and what is shown then."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from backend.domain.identity import Grant, Identity
from backend.services.blobs import put_blob
from backend.services.claim import my_lease
from backend.services.news import Tell, nobody
from backend.services.revise import revise
from backend.services.submit import submit, submit_case
from shared.evidence import Evidence, open_evidence
from shared.vocabulary import Role
from shared.wire.evidence import EvidenceRevision, Revised
from shared.wire.queue import Lease
from tests.support.desk import Desk
from tests.support.gateway import SAFE, case, row
from tests.support.renaming import STANDARD, versioned

VIOLENT = {"violence": 0.5}
PNG = b"\x89PNG\r\n\x1a\n"


async def shop(desk: Desk) -> Identity:
    """Return the producer of these tests, who is made once."""
    found = await desk.value("SELECT id FROM principal WHERE name = 'shop'")
    if found is None:
        return await desk.person("shop", Role.PRODUCER)
    grants = (Grant(role=Role.PRODUCER),)
    return Identity(principal_id=found, tenant_id=1, name="shop", key_id="k" * 12, grants=grants)


async def submitted(
    desk: Desk,
    content_id: str = "c-1",
    labels: dict[str, float] | None = None,
    **fields: Any,
) -> Identity:
    """Submit a content that people look at, unless `labels` say otherwise; return its producer."""
    who = await shop(desk)
    checked = row(content_id, VIOLENT if labels is None else labels, **{"text": "one", **fields})
    await submit(desk.db, desk.policy, who, [checked])
    return who


async def submitted_case(desk: Desk, content_id: str = "k-1", **fields: Any) -> Identity:
    """Submit a case; return its producer."""
    who = await shop(desk)
    await submit_case(desk.db, desk.policy, who, "cases", case(content_id, **fields))
    return who


def revision(labels: dict[str, float] | None = None, **fields: Any) -> EvidenceRevision:
    """Return a revision whose labels are safe but for what `labels` say; {} stands for none."""
    said = {"text": "two", "labels": {} if labels == {} else SAFE | (labels or VIOLENT), **fields}
    return msgspec.json.decode(msgspec.json.encode(said), type=EvidenceRevision)


async def revised(
    desk: Desk,
    who: Identity,
    content_id: str = "c-1",
    labels: dict[str, float] | None = None,
    *,
    tell: Tell = nobody,
    **fields: Any,
) -> Revised:
    """Send new evidence."""
    sent = revision(labels, **fields)
    return await revise(desk.db, desk.policy, who, content_id, sent, tell=tell)


async def held(desk: Desk, who: Identity) -> Lease:
    """Return what somebody holds."""
    lease = (await my_lease(desk.db, desk.policy, who)).lease
    assert lease is not None
    return lease


def opened(lease: Lease) -> Evidence:
    """Return the evidence of a lease, proven."""
    return open_evidence(lease.evidence, lease.evidence_hash)


async def picture(desk: Desk, who: Identity, data: bytes = PNG) -> str:
    """Send a picture and return its digest."""
    digest = digest_of(data)
    await put_blob(desk.db, who, digest, "image/png", data)
    return digest


def altered(old: str, new: str) -> str:
    """Return the standard policy with other terms, under another version."""
    assert old in STANDARD
    return versioned(STANDARD.replace(old, new), "v-2")


async def the_item(desk: Desk) -> Any:
    """Return the newest item as it stands."""
    return await desk.admin.fetchrow("SELECT * FROM item ORDER BY id DESC LIMIT 1")


async def events(desk: Desk) -> list[str]:
    """Return what the trails tell, by type."""
    rows = await desk.admin.fetch("SELECT type FROM event ORDER BY content_id, seq")
    return [row["type"] for row in rows]


def digest_of(data: bytes) -> str:
    """Return a digest as it is sent."""
    return hashlib.sha256(data).hexdigest()
