"""The terms of the queues, and what there is: contents, items, tokens, decisions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

COUNTED = {"need_time", "policy_unclear", "sign_off"}
OUTCOMES = {"approve": "allow", "limit": "limit", "reject": "remove", "escalate": "none"}
STATES = {"allow": "allowed", "limit": "limited", "remove": "removed"}
DECIDED = set(STATES.values())


@dataclass(frozen=True, kw_only=True)
class Terms:
    """The terms of one queue, in seconds."""

    threshold: int
    above: str | None
    verdicts: tuple[str, ...]
    ttl: int = 60
    hold: int = 150
    late_cap: int = 300
    undo: int = 10
    cooldown: int = 200
    boost: int = 10
    sla: int = 100
    park: int = 500
    reopens: bool = True
    """Whether new evidence on what was decided opens a new round."""
    draining: bool = False


ALL = ("approve", "limit", "reject", "escalate")
TERMS = {
    "posts": Terms(threshold=3, above="escalation", verdicts=ALL),
    "cases": Terms(
        threshold=2, above="escalation", verdicts=ALL, ttl=90, cooldown=40, sla=400, reopens=False
    ),
    "escalation": Terms(threshold=2, above=None, verdicts=ALL[:3], sla=50),
    "attic": Terms(threshold=2, above=None, verdicts=ALL[:3], draining=True),
}


class Told(NamedTuple):
    """An answer: its kind, and the facts that it states."""

    word: str
    facts: dict[str, Any]


@dataclass
class Item:
    """One round of work."""

    pk: int
    content: str
    queue: str
    round: int
    rank: float
    first: int
    sla_from: int
    source: str = "engine"
    severity: int = 60
    state: str = "queued"
    resolution: str | None = None
    resolved: int | None = None
    revision: int = 1
    """The evidence that it shows."""
    epoch: int = 0
    owner: int | None = None
    token: str | None = None
    key: str | None = None
    terminal: str | None = None
    leased_at: int | None = None
    expires: int | None = None
    ended: int | None = None
    """When the lease ran out, or will: kept when the item goes back to its queue."""
    parked: int | None = None
    wakes: int | None = None
    rested: int = 0
    """For how long it was parked, as far as that is over."""
    parkings: int = 0
    leases: int = 0
    left_by: list[int] = field(default_factory=list)
    abandoned: bool = False
    escalated: int | None = None
    moved: int | None = None
    stuck: int | None = None


@dataclass
class Content:
    """What is judged, and the kinds of its events in their order."""

    queue: str
    """Where its producer sent it."""
    power: int
    """The power of ten of its author's followers."""
    body: tuple[str, str]
    """The text and the category that the newest revision shows."""
    evidence: list[str]
    """The hash of each revision."""
    state: str = "pending"
    head: int | None = None
    applied: int | None = None
    withdrawn: int | None = None
    withdrawn_item: int | None = None
    events: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Decision:
    """What somebody said, or the engine of itself; and when it takes effect."""

    pk: int
    content: str
    outcome: str
    item: int | None = None
    person: int | None = None
    verdict: str | None = None
    token: str | None = None
    supersedes: int | None = None
    late: int | None = None
    at: int
    due: int


@dataclass(frozen=True, kw_only=True)
class Saying:
    """A verdict as it is sent."""

    item: int
    lease_token: str
    verdict_token: str
    evidence: str
    verdict: str
    reason: str
    note: str | None = None


@dataclass
class Grant:
    """A token that somebody was given, and how it ended."""

    item: int
    person: int
    at: int
    epoch: int
    end: str | None = None
    ended: int | None = None
    wakes: int | None = None
    """Until when the item was parked with it."""


class Row(NamedTuple):
    """A row of the lease log."""

    item: int
    happening: str
    person: int | None
    epoch: int
    token: str | None = None
    reason: str | None = None
    by: int | None = None
    expires: int | None = None


class Parking(NamedTuple):
    """A parking as it is asked for."""

    reason: str
    until: int | None = None
    text: str | None = None


@dataclass(frozen=True, kw_only=True)
class Question:
    """What a producer is asked when an item is parked."""

    item: int
    person: int
    reason: str
    text: str | None
    asked: int
    wakes: int
