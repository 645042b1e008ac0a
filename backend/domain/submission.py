"""What a producer may say: each field of a submission or a case, checked once, at the door.

What passes can be stored, hashed, shown and exported without a second thought; what does not is
refused with the name of its field and never repeated.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, NoReturn

import msgspec

from backend.domain.model import utc_text
from backend.domain.rank import MAX_FOLLOWERS
from backend.domain.refusals import InvalidField
from backend.domain.scores import is_name, read_labels, score_text
from backend.domain.strict_json import read_fields, text_fault
from shared.canonical import canonical_bytes
from shared.evidence import ShownContent
from shared.ids import CONTENT_ID_PATTERN, NAME_PATTERN, is_content_id
from shared.wire.content import Case, Submission
from shared.wire.evidence import EvidenceRevision

BODY_FORMAT = 1
"""Raised whenever the same body would give other bytes."""

MAX_TEXT_BYTES = 2**20
MAX_AUTHOR = 128
MAX_LANG = 35
MAX_MODEL_VERSION = 64
FIRST_YEAR, LAST_YEAR = 1970, 9998

_LANG = re.compile(r"[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8}){0,4}\Z")
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


class CheckedContent(msgspec.Struct, frozen=True, kw_only=True):
    """A submission in which every rule holds.

    `author_id` is in NFC, `created_at` in UTC, `labels` are exact and in the order sent. `body` are
    the canonical JSON bytes of all of it, numbers with a fraction as strings: what is stored, and
    what tells two bodies apart.
    """

    content_id: str
    kind: str
    lang: str | None
    text: str | None
    fields: dict[str, Any]
    labels: dict[str, Decimal]
    model_version: str | None
    author_id: str | None
    author_followers: int
    created_at: datetime | None
    queue: str | None
    attachments: tuple[str, ...] = ()
    body: bytes

    def fingerprint(self, nonce: bytes) -> bytes:
        """Return the SHA-256 of `nonce` and `body`: without the nonce it says nothing of either."""
        return hashlib.sha256(nonce + self.body).digest()


class Submitted(msgspec.Struct, frozen=True, kw_only=True):
    """What of a content its producer said once, and no revision changes."""

    content_id: str
    kind: str
    lang: str | None
    author_id: str | None
    author_followers: int
    created_at: datetime | None
    queue: str | None


class _StoredBody(msgspec.Struct, frozen=True, kw_only=True):
    """The members of a stored body that a content's own row does not repeat."""

    text: str | None
    fields: dict[str, Any]
    model_version: str | None


def check_submission(body: Submission) -> CheckedContent:
    """Return `body` checked. Raises InvalidField or DuplicateKey naming the field at fault."""
    return _checked(
        body,
        labels=read_labels(body.labels),
        model_version=_model_version(body.model_version),
        queue=None if body.queue is None else _name(body.queue, "queue"),
    )


def check_case(body: Case, queue: str) -> CheckedContent:
    """Return the case `body`, sent to `queue`, checked; raises as `check_submission` does."""
    return _checked(body, labels={}, model_version=None, queue=_name(queue, "queue"))


def check_revision(body: EvidenceRevision, of: Submitted, *, is_case: bool) -> CheckedContent:
    """Return the content `of` with all that is shown of it replaced by `body`, checked as strictly.

    Raises as `check_submission` does; a case has neither labels nor a model.
    """
    labels = read_labels(body.labels)
    if is_case and labels:
        _refuse("labels", "a case has none")
    if is_case and body.model_version is not None:
        _refuse("model_version", "a case has none")
    return _sealed(
        of,
        text=_text(body.text),
        fields=read_fields(bytes(body.fields)),
        labels=labels,
        model_version=_model_version(body.model_version),
        attachments=_attachments(body.attachments),
    )


def stored_content(
    of: Submitted, body: bytes, labels: dict[str, Decimal], attachments: Sequence[str]
) -> CheckedContent:
    """Return what was checked when it came, from its stored `body` and its newest scores."""
    said = msgspec.json.decode(body, type=_StoredBody)
    return _sealed(
        of,
        text=said.text,
        fields=said.fields,
        labels=labels,
        model_version=said.model_version,
        attachments=tuple(attachments),
    )


def shown_content(checked: CheckedContent) -> ShownContent:
    """Return what a reviewer sees of the content itself."""
    return ShownContent(
        content_id=checked.content_id,
        kind=checked.kind,
        lang=checked.lang,
        text=checked.text,
        fields=checked.fields,
        author_id=checked.author_id,
        created_at=None if checked.created_at is None else utc_text(checked.created_at),
    )


def _checked(
    body: Submission | Case,
    *,
    labels: dict[str, Decimal],
    model_version: str | None,
    queue: str | None,
) -> CheckedContent:
    if not is_content_id(body.content_id):
        _refuse("content_id", f"it matches {CONTENT_ID_PATTERN}")
    if not 0 <= body.author_followers <= MAX_FOLLOWERS:
        _refuse("author_followers", "a whole number in [0, 2**63 - 1]")
    submitted = Submitted(
        content_id=body.content_id,
        kind=_name(body.kind, "kind"),
        lang=_lang(body.lang),
        author_id=_author(body.author_id),
        author_followers=body.author_followers,
        created_at=_created_at(body.created_at),
        queue=queue,
    )
    return _sealed(
        submitted,
        text=_text(body.text),
        fields=read_fields(bytes(body.fields)),
        labels=labels,
        model_version=model_version,
        attachments=_attachments(body.attachments) if body.attachments else (),
    )


def _sealed(
    submitted: Submitted,
    *,
    text: str | None,
    fields: dict[str, Any],
    labels: dict[str, Decimal],
    model_version: str | None,
    attachments: tuple[str, ...],
) -> CheckedContent:
    """Put both halves of a content together, and write the one body that they come to."""
    created_at = submitted.created_at
    said: dict[str, Any] = {
        "v": BODY_FORMAT,
        "content_id": submitted.content_id,
        "kind": submitted.kind,
        "lang": submitted.lang,
        "text": text,
        "fields": fields,
        "labels": {name: score_text(score) for name, score in labels.items()},
        "model_version": model_version,
        "author_id": submitted.author_id,
        "author_followers": str(submitted.author_followers),
        "created_at": None if created_at is None else utc_text(created_at),
        "queue": submitted.queue,
    }
    if attachments:  # only then: bodies without any keep the bytes they always had
        said["attachments"] = attachments
    return CheckedContent(
        content_id=submitted.content_id,
        kind=submitted.kind,
        lang=submitted.lang,
        text=text,
        fields=fields,
        labels=labels,
        model_version=model_version,
        author_id=submitted.author_id,
        author_followers=submitted.author_followers,
        created_at=created_at,
        queue=submitted.queue,
        attachments=attachments,
        body=canonical_bytes(said),
    )


def _attachments(digests: tuple[str, ...]) -> tuple[str, ...]:
    """Their form is the wire's to refuse; none stands twice, since each is shown once."""
    if len(set(digests)) < len(digests):
        place = next(n for n, digest in enumerate(digests) if digest in digests[:n])
        _refuse(f"attachments[{place}]", "each may stand once")
    return digests


def _name(value: str, field: str) -> str:
    if not is_name(value):
        _refuse(field, f"it matches {NAME_PATTERN}")
    return value


def _lang(value: str | None) -> str | None:
    if value is not None and (len(value) > MAX_LANG or _LANG.match(value) is None):
        _refuse("lang", "a language tag such as en or pt-BR")
    return value


def _text(value: str | None) -> str | None:
    if value is None:
        return None
    fault = text_fault(value)
    if fault is not None:
        _refuse("text", f"it {fault}")
    if len(value) > MAX_TEXT_BYTES or len(value.encode()) > MAX_TEXT_BYTES:
        _refuse("text", f"at most {MAX_TEXT_BYTES} bytes of UTF-8")
    return value


def _author(value: str | None) -> str | None:
    """Ids are compared as NFC without anything invisible: two that look the same are the same."""
    if value is None:
        return None
    if not 1 <= len(value) <= MAX_AUTHOR:
        _refuse("author_id", f"1 to {MAX_AUTHOR} characters")
    if value.isascii() and value.isprintable():
        return value
    if any(unicodedata.category(char) in _INVISIBLE for char in value):
        _refuse("author_id", "no control, format or line-breaking characters")
    value = unicodedata.normalize("NFC", value)
    if len(value) > MAX_AUTHOR:
        _refuse("author_id", f"1 to {MAX_AUTHOR} characters")
    return value


def _created_at(value: datetime | None) -> datetime | None:
    if value is None:
        return None
    if value.tzinfo is None:
        _refuse("created_at", "it needs an offset, such as Z or +02:00")
    # Judged before the shift to UTC, which fails at both ends of the calendar.
    if not FIRST_YEAR <= value.year <= LAST_YEAR:
        _refuse("created_at", f"a year in [{FIRST_YEAR}, {LAST_YEAR}]")
    value = value.astimezone(UTC)
    if not FIRST_YEAR <= value.year <= LAST_YEAR:
        _refuse("created_at", f"a year in [{FIRST_YEAR}, {LAST_YEAR}], in UTC")
    return value


def _model_version(value: str | None) -> str | None:
    if value is None:
        return None
    if not 1 <= len(value) <= MAX_MODEL_VERSION or not value.isprintable():
        _refuse("model_version", f"1 to {MAX_MODEL_VERSION} printable characters")
    return value


def _refuse(field: str, detail: str) -> NoReturn:
    raise InvalidField(detail, field=field)
