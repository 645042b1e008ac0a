"""What the queue promises, written a second time: dicts and whole seconds, nothing else.

It reads no SQL and calls no service. Each operation changes the world as the promise says and
returns what a caller must be told. What only the database can know (tokens, ids) is handed in.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

COUNTED = {"need_time", "policy_unclear", "sign_off"}
OUTCOMES = {"approve": "allow", "limit": "limit", "reject": "remove", "escalate": "none"}
STATES = {"allow": "allowed", "limit": "limited", "remove": "removed"}


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


ALL = ("approve", "limit", "reject", "escalate")
TERMS = {
    "posts": Terms(threshold=3, above="escalation", verdicts=ALL),
    "cases": Terms(threshold=2, above="escalation", verdicts=ALL, ttl=90, cooldown=40),
    "escalation": Terms(threshold=2, above=None, verdicts=ALL[:3]),
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
    state: str = "queued"
    owner: int | None = None
    token: str | None = None
    key: str | None = None
    leased_at: int | None = None
    expires: int | None = None
    ended: int | None = None
    """When the lease ran out, or will: kept when the item goes back to its queue."""
    leases: int = 0
    left_by: list[int] = field(default_factory=list)
    abandoned: bool = False
    escalated: int | None = None
    stuck: int | None = None


@dataclass
class Content:
    """What is judged, and the kinds of its events in their order."""

    state: str = "pending"
    head: int | None = None
    applied: int | None = None
    events: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Decision:
    """What somebody said, and when it takes effect."""

    pk: int
    content: str
    item: int
    person: int
    verdict: str
    token: str
    supersedes: int | None
    late: int
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


class Grant(NamedTuple):
    """A token that somebody was given."""

    item: int
    person: int
    at: int


@dataclass
class World:
    """Everything that is true, and the time in seconds."""

    names: dict[int, str]
    rooms: dict[int, set[str]]
    """The queues in which each person may work."""
    reasons: dict[str, set[str]]
    now: int = 0
    items: dict[int, Item] = field(default_factory=dict)
    contents: dict[str, Content] = field(default_factory=dict)
    evidence: dict[str, str] = field(default_factory=dict)
    kept_away: list[tuple[int, int, int, str]] = field(default_factory=list)
    log: list[tuple[int, str, int, str | None, str | None]] = field(default_factory=list)
    grants: dict[str, Grant] = field(default_factory=dict)
    decisions: dict[int, Decision] = field(default_factory=dict)
    replies: dict[tuple[int, str], tuple[Saying, Decision]] = field(default_factory=dict)
    waiting: list[int] = field(default_factory=list)
    """Decisions without an effect yet, oldest first."""

    def open_items(self, queue: str | None = None) -> list[Item]:
        """Every item that nobody has decided, in one queue or in all."""
        found = [item for item in self.items.values() if item.state != "resolved"]
        return [item for item in found if queue in (None, item.queue)]

    def run_out(self, item: Item) -> bool:
        """A lease has run out at the very second at which it ends."""
        return item.state == "leased" and item.expires is not None and item.expires <= self.now

    def live(self, person: int) -> Item | None:
        """What a person holds; never more than one."""
        held = [
            item
            for item in self.open_items()
            if item.owner == person and item.state == "leased" and not self.run_out(item)
        ]
        assert len(held) <= 1, held
        return held[0] if held else None

    def shut_out(self, person: int, item: Item) -> bool:
        """Whether this person left this item a short while ago."""
        return any(
            (pk, who) == (item.pk, person) and until > self.now
            for pk, who, until, _ in self.kept_away
        )

    def offered(self, queue: str) -> list[Item]:
        """What waits in a queue and is not on its way out of it."""
        return [i for i in self.open_items(queue) if i.state == "queued" and not i.abandoned]

    def lapse(self, item: Item) -> None:
        """Give a run-out lease back: the token stays good, but its owner has left the item."""
        assert item.owner is not None
        item.state, item.expires, item.key = "queued", None, None
        self.log.append((item.pk, "lapse", item.owner, None, None))
        self.leave(item, item.owner, "lapsed", counts=True)

    def leave(self, item: Item, person: int, why: str, *, counts: bool) -> None:
        """Keep a person away for a while, and count the different people who left."""
        terms = TERMS[item.queue]
        self.kept_away.append((item.pk, person, self.now + terms.cooldown, why))
        if counts and person not in item.left_by:
            item.left_by.append(person)
        item.abandoned = item.stuck is None and len(item.left_by) >= terms.threshold

    def let_go(self, item: Item) -> None:
        """Take every claim off an item: whatever token was good for it is no longer."""
        item.owner = item.token = item.key = item.leased_at = item.expires = None

    def tell(self, item: Item, kind: str) -> None:
        """Add an event to the trail of an item's content."""
        self.contents[item.content].events.append(kind)

    def lease_of(self, item: Item) -> Told:
        """What the holder of an item is shown."""
        left = 0 if item.expires is None else item.expires - self.now
        facts = {
            "item": item.pk,
            "content": item.content,
            "queue": item.queue,
            "round": item.round,
            "token": item.token,
            "left": left,
            "leases": item.leases,
            "left_by": len(item.left_by),
            "rank": item.rank,
            "evidence": self.evidence[item.content],
        }
        return Told("lease", facts)

    def mine(self, person: int) -> Told:
        """What a person holds, a lapsed lease that nobody else took included."""
        owned = [item for item in self.open_items() if item.owner == person]
        if not owned:
            return Told("nothing", {})
        return self.lease_of(max(owned, key=_newest))

    def figures(self, person: int, queue: str) -> dict[str, Any]:
        """How much of a queue is free, held, and not for this person."""
        there = self.open_items(queue)
        held = [i for i in there if i.state == "leased" and not self.run_out(i)]
        free = [*self.offered(queue), *(i for i in there if self.run_out(i))]
        ends = [item.expires - self.now for item in held if item.expires is not None]
        return {
            "free": len(free),
            "held": len(held),
            "not_for_you": sum(self.shut_out(person, i) for i in self.offered(queue)),
            "free_in": min(ends, default=None),
            "oldest": max((self.now - item.first for item in there), default=None),
        }

    def stale(self, person: int, pk: int, token: str) -> Told:
        """What somebody is told whose token is no fence: all of it only if it was his."""
        item, grant = self.items[pk], self.grants.get(token)
        if grant is None or (grant.item, grant.person) != (pk, person):
            return Told("stale_lease", {})
        holder = None
        if item.state == "resolved":
            word = "resolved"
        elif item.escalated is not None and item.escalated > grant.at:
            word = "escalated"
        elif item.state == "leased" and item.owner != person and not self.run_out(item):
            assert item.owner is not None
            word, holder = "leased", self.names[item.owner]
        else:
            word = "free"
        return Told("stale_lease", {"now": word, "holder": holder, "again": word == "free"})


def _newest(item: Item) -> tuple[bool, int, int]:
    return (item.state == "leased", item.expires or 0, item.leased_at or 0)
