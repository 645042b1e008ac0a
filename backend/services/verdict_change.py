"""What a verdict on old evidence did not see: read under its lock, compared once that is free."""

from __future__ import annotations

import asyncio

import msgspec

from backend.db.connection import Connection
from backend.db.evidence import TwoRevisions, read_two_revisions
from backend.db.verdict import FencedRow
from backend.domain.difference import evidence_change
from backend.domain.refusals import EvidenceChanged
from backend.services.places import Places
from shared.evidence import Evidence
from shared.wire.evidence import EvidenceChange

COMPARISONS = Places(2)
"""Texts compared word by word at once in this process: each takes a core for up to a second."""


class Changed(msgspec.Struct, frozen=True, kw_only=True):
    """The hash that was decided on, what it stood for, and what is shown now."""

    before_hash: str
    revision: int
    shown: TwoRevisions


async def read_changed(conn: Connection, fenced: FencedRow, before_hash: str) -> Changed | None:
    """Return what changed for the holder of an item; None if `before_hash` is what it shows."""
    if before_hash == fenced.evidence_hash:
        return None
    shown = await read_two_revisions(
        conn,
        content_pk=fenced.content_pk,
        before_hash=bytes.fromhex(before_hash),
        revision=fenced.evidence_revision,
    )
    return Changed(before_hash=before_hash, revision=fenced.evidence_revision, shown=shown)


async def refusal_of(changed: Changed) -> EvidenceChanged:
    """Return the refusal with all that changed; it is worked out beside the requests of others.

    Where too many are compared already nobody waits: a text that differs counts as replaced. To be
    called when the transaction is over: this takes time, and needs no connection.
    """
    shown = changed.shown
    with COMPARISONS.one() as is_free:
        told = await asyncio.to_thread(_compare, changed, closely=is_free)
    return EvidenceChanged(
        "look at the new evidence and decide again; the lease is still yours",
        field="evidence_hash",
        evidence_hash=shown.after_hash,
        evidence_revision=changed.revision,
        change=told,
    )


def _compare(changed: Changed, *, closely: bool) -> EvidenceChange:
    shown = changed.shown
    after = _opened(shown.after_bytes)
    if after is None:  # erased under the holder's eyes
        return EvidenceChange(
            known=False,
            before_hash=changed.before_hash,
            after_hash=shown.after_hash,
            before_revision=None,
            after_revision=changed.revision,
        )
    before = _opened(shown.before_bytes)
    return evidence_change(before, after, changed.before_hash, shown.after_hash, closely=closely)


def _opened(data: bytes | None) -> Evidence | None:
    return None if data is None else msgspec.json.decode(data, type=Evidence)
