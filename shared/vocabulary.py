"""The closed words of the house: the same in SQL, Python, HTTP and on screen.

A word that the policy owns (category, reason, queue, rule) is not here: it is data.
Each enum that the database stores is a CHECK there too; a test compares the two.
"""

from __future__ import annotations

from enum import StrEnum, unique


@unique
class Verdict(StrEnum):
    """What a person said."""

    APPROVE = "approve"
    LIMIT = "limit"
    REJECT = "reject"
    ESCALATE = "escalate"
    OVERTURN = "overturn"
    UPHOLD = "uphold"


@unique
class Outcome(StrEnum):
    """What holds once a decision is applied; `value` is one of the policy's own closed list."""

    ALLOW = "allow"
    LIMIT = "limit"
    REMOVE = "remove"
    HOLD = "hold"
    NONE = "none"
    VALUE = "value"


@unique
class Actor(StrEnum):
    """Who decided, weakest first: a later one outranks an earlier one."""

    RULES = "rules"
    MODEL = "model"
    REVIEWER = "reviewer"
    APPEAL = "appeal"


@unique
class DecisionKind(StrEnum):
    """How a decision came about."""

    AUTOMATIC = "automatic"
    VERDICT = "verdict"
    UNDO = "undo"
    APPEAL = "appeal"


@unique
class ContentState(StrEnum):
    """What the world may see of a content; `in_review` and `appealed` keep the old action."""

    PENDING = "pending"
    ALLOWED = "allowed"
    REMOVED = "removed"
    LIMITED = "limited"
    IN_REVIEW = "in_review"
    APPEALED = "appealed"


@unique
class ItemState(StrEnum):
    """Where an item (one round of work in one queue) stands."""

    QUEUED = "queued"
    LEASED = "leased"
    PARKED = "parked"
    RESOLVED = "resolved"


@unique
class Resolution(StrEnum):
    """How an item ended."""

    DECIDED = "decided"
    WITHDRAWN = "withdrawn"


@unique
class ItemSource(StrEnum):
    """Why an item exists."""

    ENGINE = "engine"
    CASE = "case"
    ESCALATION = "escalation"
    UNDO = "undo"
    APPEAL = "appeal"
    EVIDENCE = "evidence"
    RULE = "rule"
    REOPEN = "reopen"
    SECOND_LOOK = "second_look"
    GOLDEN = "golden"


@unique
class Band(StrEnum):
    """Where a score falls, mildest first; the strictest over all categories decides."""

    ALLOW = "ALLOW"
    REVIEW = "REVIEW"
    HELD = "HELD"
    BLOCK = "BLOCK"


@unique
class ReleaseReason(StrEnum):
    """Why a person gives an item back undecided."""

    NEED_TIME = "need_time"
    POLICY_UNCLEAR = "policy_unclear"
    SIGN_OFF = "sign_off"
    TECH = "tech"
    DISTRESS = "distress"
    CONFLICT = "conflict"
    LANGUAGE = "language"


COUNTED_RELEASES = frozenset(
    {ReleaseReason.NEED_TIME, ReleaseReason.POLICY_UNCLEAR, ReleaseReason.SIGN_OFF}
)
"""The releases that say "I left this undecided", and so count towards escalation.

Signing off counts: a closed terminal is the plainest way to leave an item to somebody else.
"""


@unique
class ParkReason(StrEnum):
    """Why a person sets an item aside until a date or new evidence."""

    AWAIT_PRODUCER = "await_producer"
    AWAIT_EVIDENCE = "await_evidence"
    AWAIT_DATE = "await_date"


@unique
class TakeBackReason(StrEnum):
    """Why a lead takes a lease back."""

    HOLDER_AWAY = "holder_away"
    CONFLICT = "conflict"
    REASSIGN = "reassign"
    MISTAKE = "mistake"


LEASE_REASONS = frozenset(
    {word.value for kind in (ReleaseReason, ParkReason, TakeBackReason) for word in kind}
    | {"undo", "take_back"}
)
"""Every reason that the lease log may name; the last two are the house's own."""


@unique
class LeaseHappening(StrEnum):
    """What can happen to a lease; the lease log holds one row for each but `verdict`.

    A verdict has a row of its own, the decision, which the history of an item is told from.
    """

    GRANT = "grant"
    RENEW = "renew"
    RELEASE = "release"
    LAPSE = "lapse"
    TAKE_OVER = "take_over"
    TAKE_BACK = "take_back"
    PARK = "park"
    WAKE = "wake"
    MOVE = "move"
    ESCALATE = "escalate"
    WITHDRAW = "withdraw"
    VERDICT = "verdict"


@unique
class AppliedResult(StrEnum):
    """What became of a decision: it took effect, was overtaken, or was handled outside."""

    APPLIED = "applied"
    SKIPPED = "skipped"
    HANDLED = "handled"


@unique
class ScoreMode(StrEnum):
    """Whether a score may act, or is only recorded and compared."""

    ACTING = "acting"
    SHADOW = "shadow"


@unique
class Role(StrEnum):
    """What a principal may be granted."""

    PRODUCER = "producer"
    REVIEWER = "reviewer"
    LEAD = "lead"
    AUDITOR = "auditor"
    OPERATOR = "operator"
    ADMIN = "admin"


@unique
class KeyEnv(StrEnum):
    """Which kind of deployment a key is for; it stands in the key itself."""

    LIVE = "live"
    TEST = "test"


@unique
class EventType(StrEnum):
    """The content-visible facts that the chained event log records."""

    CONTENT_SUBMITTED = "content.submitted"
    CONTENT_RESUBMITTED = "content.resubmitted"
    CONTENT_WITHDRAWN = "content.withdrawn"
    DECISION_RECORDED = "decision.recorded"
    DECISION_APPLIED = "decision.applied"
    DECISION_SKIPPED = "decision.skipped"
    EVIDENCE_REVISED = "evidence.revised"
    EVIDENCE_VIEWED = "evidence.viewed"
    ITEM_QUEUED = "item.queued"
    ITEM_ESCALATED = "item.escalated"
    ITEM_PARKED = "item.parked"
    ITEM_MOVED = "item.moved"
    ITEM_WITHDRAWN = "item.withdrawn"
    VERDICT_REFUSED = "verdict.refused"


@unique
class ItemNow(StrEnum):
    """What is true of an item whose lease turned out stale.

    `taken_over`: the asker holds it himself, under a newer token, in another terminal.
    """

    FREE = "free"
    LEASED = "leased"
    RESOLVED = "resolved"
    MOVED = "moved"
    ESCALATED = "escalated"
    WITHDRAWN = "withdrawn"
    TAKEN_BACK = "taken_back"
    TAKEN_OVER = "taken_over"
    PARKED = "parked"


@unique
class NewsKind(StrEnum):
    """What the live stream tells; ids only, and never the truth itself: that is asked for."""

    EVIDENCE_CHANGED = "evidence_changed"
    LEASE_REVOKED = "lease_revoked"
    ITEM_WITHDRAWN = "item_withdrawn"
    ITEM_RESOLVED = "item_resolved"
    QUEUE_DEPTH = "queue_depth"
    RESYNC = "resync"


@unique
class BulkResult(StrEnum):
    """What a bulk deed of a lead came to for one item."""

    DONE = "done"
    UNCHANGED = "unchanged"
    RESOLVED = "resolved"
    NOT_FOUND = "not_found"
    FORBIDDEN = "forbidden"
    REFUSED = "refused"


@unique
class ItemList(StrEnum):
    """The lists of items that leads page through."""

    WAITING = "waiting"
    HELD = "held"
    PARKED = "parked"
    STUCK = "stuck"
    UNCLAIMABLE = "unclaimable"
