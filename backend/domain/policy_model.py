"""The parts of a policy as frozen values. Import them from `backend.domain.policy`.

Names that a policy owns (categories, queues, reasons, scorers, kinds) match `NAME_PATTERN`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cached_property

import msgspec

from backend.domain.plan import Category, Plan
from backend.domain.rank import Weights
from shared.reasons import Reason, admitted
from shared.vocabulary import Role, Verdict

_MINUTE_MS = 60_000
_HOUR_MS = 60 * _MINUTE_MS
_DAY_MS = 24 * _HOUR_MS


class Scorer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A source of scores; one of `categories` that it leaves out counts as missing."""

    categories: tuple[str, ...]


class Queue(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A pile of work for people, and the terms on which they take it. Spans are milliseconds.

    `kinds` are the kinds of content that are sent here; `severity` ranks an item that has no
    category (a case); `escalation_queue` takes what `abandon_threshold` different people left
    undecided, raised by `escalation_boost`; `claimable_by` are roles, one of which a grant for this
    queue must have. `late_cap_ms` is how long after its expiry a verdict is still good, if nobody
    else took the item; `release_cooldown_ms` how long a released item is kept from who released it;
    `max_hold_ms` the longest that renewals may stretch one lease, `max_park_ms` that an item may be
    parked in one round. `reopen_on_evidence` gives a decided content a new round when its evidence
    is revised. A `draining` queue takes nothing new and is worked off; the former names of queues
    that were renamed or merged stand in `formerly` of the one that took their place.
    """

    title: str
    verdicts: tuple[Verdict, ...] = (
        Verdict.APPROVE,
        Verdict.LIMIT,
        Verdict.REJECT,
        Verdict.ESCALATE,
    )
    kinds: tuple[str, ...] = ()
    severity: int = 0
    sla_ms: int = 5 * _MINUTE_MS
    lease_ttl_ms: int = 3 * _MINUTE_MS
    max_hold_ms: int = _HOUR_MS
    late_cap_ms: int = 8 * _HOUR_MS
    undo_window_ms: int = 10_000
    release_cooldown_ms: int = 10 * _MINUTE_MS
    abandon_threshold: int = 3
    escalation_queue: str | None = None
    escalation_boost: int = 10
    max_park_ms: int = 30 * _DAY_MS
    reopen_on_evidence: bool = True
    draining: bool = False
    formerly: tuple[str, ...] = ()
    claimable_by: tuple[Role, ...] = (Role.REVIEWER, Role.LEAD)


class Policy(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A policy without faults. `default_queue` takes every kind that no queue names.

    `followed` is no part of the text: it is what the database remembers of earlier versions, the
    name of a closed queue -> the queue that took its place. Nor is `settling`: it came into force
    so short a while ago that what is known of a key may be older.
    """

    version: str
    default_queue: str
    categories: dict[str, Category]
    scorers: dict[str, Scorer]
    queues: dict[str, Queue]
    reasons: tuple[Reason, ...]
    weights: Weights = Weights()
    title: str = ""
    followed: Mapping[str, str] = {}
    settling: bool = False

    @cached_property
    def plan(self) -> Plan:
        """The categories as the engine walks them."""
        covered = {name for scorer in self.scorers.values() for name in scorer.categories}
        return Plan(self.version, self.categories, covered)

    @cached_property
    def routes(self) -> Mapping[str, str]:
        """Kind of content -> queue, for the kinds that a queue names."""
        return {kind: name for name, queue in self.queues.items() for kind in queue.kinds}

    def queue_for(self, kind: str) -> str:
        """Return the name of the queue in which an ambiguous content of this kind waits."""
        return self.routes.get(kind, self.default_queue)

    @cached_property
    def former(self) -> Mapping[str, str]:
        """Former name -> queue, for the names that a queue says it had."""
        return {old: name for name, queue in self.queues.items() for old in queue.formerly}

    def queue_named(self, name: str) -> str | None:
        """Return the queue of this name, or the one that took its place; None if none did."""
        passed: set[str] = set()
        while name not in self.queues:
            following = self.former.get(name) or self.followed.get(name)
            if following is None or name in passed:
                return None
            passed.add(name)
            name = following
        return name

    def reasons_for(self, queue: str) -> tuple[Reason, ...]:
        """Return the reasons offered in `queue`, in the policy's order."""
        return self._reasons_by_queue.get(queue, ())

    @cached_property
    def _reasons_by_queue(self) -> Mapping[str, tuple[Reason, ...]]:
        return {
            name: tuple(
                reason for reason in self.reasons if not reason.queues or name in reason.queues
            )
            for name in self.queues
        }

    def admitted(self, queue: str, verdict: Verdict) -> tuple[Reason, ...]:
        """Return the reasons that `verdict` admits in `queue`, in the policy's order."""
        return admitted(self.reasons_for(queue), verdict, queue)


class Fault(msgspec.Struct, frozen=True):
    """One thing wrong with a policy text: where, as `queues.posts.verdicts`, and what."""

    path: str
    what: str

    def __str__(self) -> str:
        line = f"{self.path}: {self.what}" if self.path else self.what
        return line if line.isprintable() else ascii(line)[1:-1]


class PolicyError(ValueError):
    """A policy text that may not become a policy; `faults` holds all that is wrong with it."""

    def __init__(self, faults: tuple[Fault, ...]) -> None:
        super().__init__("\n".join(map(str, faults)))
        self.faults = faults


def policy_sha256(text: str) -> str:
    """Return the SHA-256 of a policy text, as 64 hexadecimal digits: its identity."""
    return hashlib.sha256(text.encode()).hexdigest()
