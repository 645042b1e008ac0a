"""Every refusal that a client can meet, as RFC 9457 problem+json with a stable code."""

from __future__ import annotations

from enum import StrEnum, unique
from typing import Any

import msgspec

PROBLEM_MEDIA_TYPE = "application/problem+json"


@unique
class ProblemCode(StrEnum):
    """The closed list of codes; clients branch on the code, never on the text."""

    # 400-422: the request itself
    MALFORMED = "malformed"
    INVALID_FIELD = "invalid_field"
    DUPLICATE_KEY = "duplicate_key"
    TOO_LARGE = "too_large"
    UNSUPPORTED_MEDIA_TYPE = "unsupported_media_type"
    METHOD_NOT_ALLOWED = "method_not_allowed"
    # 401-404: who asks
    UNAUTHENTICATED = "unauthenticated"
    FORBIDDEN = "forbidden"
    WRONG_OWNER = "wrong_owner"
    NOT_FOUND = "not_found"
    # 409: what is true now
    STALE_LEASE = "stale_lease"
    LEASE_HELD = "lease_held"
    EVIDENCE_CHANGED = "evidence_changed"
    VERDICT_CONFLICT = "verdict_conflict"
    REASON_NOT_ADMITTED = "reason_not_admitted"
    CONTENT_EXISTS = "content_exists"
    NO_OPEN_ITEM = "no_open_item"
    NOT_REOPENABLE = "not_reopenable"
    QUEUE_DRAINING = "queue_draining"
    # 429, 5xx: the system
    BUSY = "busy"
    OUTCOME_UNKNOWN = "outcome_unknown"
    INTERNAL = "internal"


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One refusal.

    `type` is a stable URN of the code, `title` one sentence, `detail` what to do now, `field` the
    path of the value at fault (`labels.hate`), `extra` facts that belong to the code: for a stale
    lease `now`, `holder`, `since`, `can_reclaim`.
    """

    code: ProblemCode
    status: int
    title: str
    type: str = ""
    detail: str = ""
    field: str = ""
    request_id: str = ""
    extra: dict[str, Any] = {}


def problem_type(code: ProblemCode) -> str:
    """Return the `type` member of a problem with this code."""
    return f"urn:fencepost:problem:{code}"
