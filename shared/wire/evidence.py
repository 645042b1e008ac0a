"""Evidence that changes: revisions by the producer, what changed for the reviewer, attachments."""

from __future__ import annotations

from typing import Annotated

import msgspec

from shared.vocabulary import Band, ContentState
from shared.wire.queue import Sha256

ATTACHMENT_LIMIT = 20
"""How many attachments one revision may have."""
BLOB_LIMIT = 8 * 2**20
"""The largest attachment, in bytes."""
BLOB_TYPES = (
    "image/png",
    "image/jpeg",
    "image/gif",
    "image/webp",
    "application/pdf",
    "text/plain",
)
"""The media types that an attachment may have."""
LEASE_TOKEN_HEADER = "fencepost-lease-token"  # noqa: S105 - the name of a header
"""The header by which the holder of a lease reads an attachment: a token is never in an address."""

Attachments = Annotated[tuple[Sha256, ...], msgspec.Meta(max_length=ATTACHMENT_LIMIT)]


class EvidenceRevision(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Body of `PUT /v1/content/{content_id}/evidence`: all of what is shown from now on.

    It replaces text, fields, labels and attachments as a whole; the same body again changes
    nothing. `expected_revision`: refuse if another one is current.
    """

    text: str | None = None
    fields: msgspec.Raw = msgspec.Raw(b"{}")
    labels: msgspec.Raw = msgspec.Raw(b"{}")
    model_version: str | None = None
    attachments: Attachments = ()
    expected_revision: Annotated[int, msgspec.Meta(ge=1)] | None = None


class Revised(msgspec.Struct, frozen=True, kw_only=True):
    """Answer to a revision.

    `changed` is false for a body that was there already, unless it was withdrawn: then it is new.
    """

    content_id: str
    state: ContentState
    revision: int
    changed: bool
    item_id: str | None = None
    """The open item that shows it now."""
    reopened: bool = False
    """Whether the revision opened a new round."""


class LabelChange(msgspec.Struct, frozen=True, kw_only=True):
    """One category before and after; scores are decimal strings, None: there is none."""

    category: str
    before: str | None
    after: str | None
    band_before: Band | None
    band_after: Band | None
    crossed: bool
    """Whether it crossed into another band."""


class TextChange(msgspec.Struct, frozen=True, kw_only=True):
    """One place where the text differs, in characters of the old and of the new text."""

    before_start: int
    before_end: int
    after_start: int
    after_end: int


class EvidenceChange(msgspec.Struct, frozen=True, kw_only=True):
    """What a refused verdict did not see: `extra.change` of an `evidence_changed` problem.

    `known` is false if the hash that was sent was never shown: then nothing can be compared.
    """

    known: bool
    before_hash: str
    after_hash: str
    before_revision: int | None
    after_revision: int
    labels: tuple[LabelChange, ...] = ()
    text: tuple[TextChange, ...] = ()
    text_before: str | None = None
    """The old text, so that the places can be shown; None if there was none, if it did not change,
    or if the answer would become too long with it."""
    fields: tuple[str, ...] = ()
    """The names of the fields that differ, the first 200 in their order."""
    fields_unnamed: int = 0
    """How many more differ: beyond that number, or of a name beyond 100 characters."""
    attachments_added: tuple[str, ...] = ()
    attachments_removed: tuple[str, ...] = ()


class BlobReceipt(msgspec.Struct, frozen=True, kw_only=True):
    """Answer to `PUT /v1/blobs/{sha256}`; `created` is false if it was there."""

    sha256: str
    media_type: str
    size: int
    created: bool
