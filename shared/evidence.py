"""Evidence: exactly what a reviewer was shown, its canonical bytes, and their hash.

The bytes are RFC 8785 (JSON canonicalisation) and hold no floating-point number: scores and
thresholds are decimal strings, so that one text has one hash on every machine. The server builds
and hashes them when an item is queued; the client hashes the very text that it received, shows
only what it decodes from it, and refuses a mismatch.
"""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from shared.canonical import canonical_bytes
from shared.vocabulary import Band

EVIDENCE_FORMAT = 1
"""Raised whenever the same facts would give other bytes; golden vectors change only with it."""


class ShownContent(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The content as submitted; `fields` are a case's own facts, without fractions."""

    content_id: str
    kind: str
    lang: str | None = None
    text: str | None = None
    fields: dict[str, Any] = {}
    author_id: str | None = None
    created_at: str | None = None


class ShownLabel(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One category: its score against the bands of the policy version that banded it.

    `score`, `low` and `high` are decimal strings in [0, 1]; `score` is None when it is missing.
    """

    category: str
    score: str | None
    low: str
    high: str
    band: Band
    severity: int
    fail_closed: bool


class ShownRuleHit(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One rule that fired; `start` and `end` are offsets in characters of `text`, or None."""

    rule: str
    category: str
    start: int | None = None
    end: int | None = None


class Evidence(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All that is shown of one item; `nonce` is random: the hash of erased content says nothing."""

    nonce: str
    revision: int
    content: ShownContent
    labels: tuple[ShownLabel, ...] = ()
    rules: tuple[ShownRuleHit, ...] = ()
    attachments: tuple[str, ...] = ()
    """SHA-256 digests, hexadecimal."""
    deciding: str | None = None
    """The category that decided, or None for a case without scores."""
    policy_version: str
    model_version: str | None = None
    statement: str | None = None
    """The appellant's statement."""
    format: int = EVIDENCE_FORMAT


def evidence_bytes(evidence: Evidence) -> bytes:
    """Return the canonical bytes of `evidence`.

    Raises ValueError for a floating-point number or a text that is not valid Unicode.
    """
    return canonical_bytes(msgspec.to_builtins(evidence))


def evidence_hash(data: bytes) -> str:
    """Return the SHA-256 of canonical evidence bytes, as 64 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def open_evidence(text: str, expected_hash: str) -> Evidence:
    """Decode evidence as received, after proving that it is what the server hashed.

    Raises ValueError if the hash differs, for what can't be proven is not shown; and if it holds
    anything that this version does not know, for a verdict speaks of all that was hashed.
    """
    data = text.encode()
    if evidence_hash(data) != expected_hash:
        raise ValueError("the evidence received is not the evidence that was hashed")
    try:
        return msgspec.json.decode(data, type=Evidence)
    except msgspec.DecodeError:
        raise ValueError("the evidence holds what this version can't show") from None
