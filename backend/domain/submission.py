"""What a producer may say: each field of a submission or a case, checked once, at the door.

What passes can be stored, hashed, shown and exported without a second thought; what does not is
refused with the name of its field and never repeated.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
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
    body: bytes

    def fingerprint(self, nonce: bytes) -> bytes:
        """Return the SHA-256 of `nonce` and `body`: without the nonce it says nothing of either."""
        return hashlib.sha256(nonce + self.body).digest()


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
    said: dict[str, Any] = {
        "content_id": body.content_id,
        "kind": _name(body.kind, "kind"),
        "lang": _lang(body.lang),
        "text": _text(body.text),
        "fields": read_fields(bytes(body.fields)),
        "model_version": model_version,
        "author_id": _author(body.author_id),
        "queue": queue,
    }
    created_at = _created_at(body.created_at)
    canonical = canonical_bytes(
        said
        | {
            "v": BODY_FORMAT,
            "labels": {name: score_text(score) for name, score in labels.items()},
            "author_followers": str(body.author_followers),
            "created_at": None if created_at is None else utc_text(created_at),
        }
    )
    return CheckedContent(
        **said,
        labels=labels,
        author_followers=body.author_followers,
        created_at=created_at,
        body=canonical,
    )


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
