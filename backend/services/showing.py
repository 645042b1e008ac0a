"""What is shown of a content: its evidence, built in one place, and made up for where it lacks."""

from __future__ import annotations

import hashlib
from decimal import Decimal
from secrets import token_bytes

import msgspec

from backend.db.connection import Connection
from backend.db.evidence import ToShow, insert_evidence, read_to_show
from backend.domain.banding import Banding
from backend.domain.engine import decide
from backend.domain.policy import Policy
from backend.domain.refusals import NotReopenable
from backend.domain.submission import CheckedContent, Submitted, shown_content, stored_content
from shared.evidence import Evidence, evidence_bytes

NONCE_BYTES = 16


class Shown(msgspec.Struct, frozen=True):
    """The canonical bytes of evidence, and their SHA-256."""

    data: bytes
    digest: bytes


def show(
    policy: Policy, checked: CheckedContent, banding: Banding | None, revision: int = 1
) -> Shown:
    """Return the evidence of one revision of a content, as `policy` bands it (None: a case)."""
    data = evidence_bytes(
        Evidence(
            nonce=token_bytes(NONCE_BYTES).hex(),
            revision=revision,
            content=shown_content(checked),
            labels=() if banding is None else banding.rows,
            attachments=checked.attachments,
            deciding=None if banding is None else banding.deciding,
            policy_version=policy.version,
            model_version=checked.model_version,
        )
    )
    return Shown(data, hashlib.sha256(data).digest())


async def ensure_evidence(conn: Connection, policy: Policy, content_pk: int) -> int:
    """Return the revision of a content's newest evidence, which is built if there is none yet.

    It is built from the stored body and the newest acting score, as `policy` bands them. Whoever
    calls holds the content's lock. Raises NotReopenable if the body was erased.
    """
    row = await read_to_show(conn, content_pk=content_pk)
    if row.is_shown:
        return row.revision
    if row.body is None:
        raise NotReopenable("nothing of it is left to look at")
    checked = _stored(row, row.body)
    banding = None if row.is_case else decide(checked.labels, (), policy)
    shown = show(policy, checked, banding, row.revision)
    await insert_evidence(
        conn,
        content_pk=content_pk,
        revision=row.revision,
        evidence_hash=shown.digest,
        evidence=shown.data,
        policy_version=policy.version,
    )
    return row.revision


def _stored(row: ToShow, body: str) -> CheckedContent:
    labels = {} if row.labels is None else msgspec.json.decode(row.labels, type=dict[str, Decimal])
    submitted = Submitted(
        content_id=row.content_id,
        kind=row.kind,
        lang=row.lang,
        author_id=row.author_id,
        author_followers=row.author_followers,
        created_at=row.created_at,
        queue=None,
    )
    return stored_content(submitted, body.encode(), labels, row.attachments)
