"""Everything that is true in the model, and what of it is shown."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.model.reference.records import (
    TERMS,
    Content,
    Decision,
    Grant,
    Item,
    Question,
    Row,
    Saying,
    Told,
)


@dataclass
class World:
    """Everything that is true, and the time in seconds."""

    names: dict[int, str]
    rooms: dict[int, set[str]]
    """The queues in which each person may work."""
    led: dict[int, set[str]]
    """The queues that each person leads."""
    reasons: dict[str, set[str]]
    now: int = 0
    items: dict[int, Item] = field(default_factory=dict)
    contents: dict[str, Content] = field(default_factory=dict)
    kept_away: list[tuple[int, int, int, str]] = field(default_factory=list)
    log: list[Row] = field(default_factory=list)
    grants: dict[str, Grant] = field(default_factory=dict)
    decisions: dict[int, Decision] = field(default_factory=dict)
    replies: dict[tuple[int, str], tuple[Saying, Decision]] = field(default_factory=dict)
    waiting: list[int] = field(default_factory=list)
    """Decisions without an effect yet, oldest first."""
    skipped: set[int] = field(default_factory=set)
    questions: list[Question] = field(default_factory=list)

    # --- What there is --------------------------------------------------------------------------

    def open_items(self, queue: str | None = None) -> list[Item]:
        """Every item that is not resolved, in one queue or in all."""
        found = [item for item in self.items.values() if item.state != "resolved"]
        return [item for item in found if queue in (None, item.queue)]

    def open_item(self, content: str) -> Item | None:
        """The round of a content that is before people."""
        return next((item for item in self.open_items() if item.content == content), None)

    def last_round(self, content: str) -> Item:
        return max(
            (item for item in self.items.values() if item.content == content),
            key=lambda item: item.round,
        )

    def run_out(self, item: Item) -> bool:
        """A lease has run out at the very second at which it ends."""
        return item.state == "leased" and item.expires is not None and item.expires <= self.now

    def due(self, item: Item) -> bool:
        """A parked item comes back at the very second to which it was parked."""
        return item.wakes is not None and item.wakes <= self.now

    def ones_own(self, person: int, item: Item) -> bool:
        """He let it run out himself; the next claim says so and keeps it from him."""
        return self.run_out(item) and item.owner == person

    def alive(self, item: Item) -> bool:
        """Somebody holds it, and his time is not over."""
        return item.state == "leased" and not self.run_out(item)

    def live(self, person: int) -> Item | None:
        """What a person holds; never more than one."""
        held = [item for item in self.open_items() if item.owner == person and self.alive(item)]
        assert len(held) <= 1, held
        return held[0] if held else None

    def owned(self, person: int) -> Item | None:
        """What a person holds, a lapsed lease that nobody else took included."""
        owned = [item for item in self.open_items() if item.owner == person]
        return max(owned, key=_newest) if owned else None

    def shut_out(self, person: int, item: Item) -> bool:
        """Whether this person left this item a short while ago."""
        return any(
            (pk, who) == (item.pk, person) and until > self.now
            for pk, who, until, _ in self.kept_away
        )

    def offered(self, queue: str) -> list[Item]:
        """What waits in a queue and is not on its way out of it."""
        return [i for i in self.open_items(queue) if i.state == "queued" and not i.abandoned]

    def leaving(self, item: Item) -> bool:
        """On its way to escalation: enough people left it, the one whose lease ran out included."""
        if not self.run_out(item):
            return item.state == "queued" and item.abandoned
        left = len({*item.left_by, item.owner})
        return item.stuck is None and left >= TERMS[item.queue].threshold

    def evidence(self, item: Item) -> str:
        """The hash of what an item shows."""
        return self.contents[item.content].evidence[item.revision - 1]

    # --- What happens to it ---------------------------------------------------------------------

    def note(self, item: Item, happening: str, person: int | None, **more: Any) -> None:
        """Add a row to the lease log."""
        self.log.append(Row(item.pk, happening, person, item.epoch, **more))

    def end(self, item: Item, happening: str, **more: Any) -> None:
        """Let the token of an item die, and say in the log how; nothing if nobody had one."""
        if item.token is None:
            return
        assert item.owner is not None
        self.note(item, happening, item.owner, **more)
        grant = self.grants[item.token]
        grant.end, grant.ended = happening, self.now
        self.let_go(item)
        item.epoch += 1

    def let_go(self, item: Item) -> None:
        """Take every claim off an item: whatever token was good for it is no longer."""
        item.owner = item.token = item.key = item.terminal = None
        item.leased_at = item.expires = None

    def lapse(self, item: Item) -> None:
        """Give a run-out lease back: the token stays good, but its owner has left the item."""
        assert item.owner is not None
        item.state, item.expires, item.key = "queued", None, None
        self.note(item, "lapse", item.owner)
        self.leave(item, item.owner, "lapsed", counts=True)

    def leave(self, item: Item, person: int, why: str, *, counts: bool) -> None:
        """Keep a person away for a while, and count the different people who left."""
        terms = TERMS[item.queue]
        self.keep_away(item, person, why)
        if counts and person not in item.left_by:
            item.left_by.append(person)
        item.abandoned = item.stuck is None and len(item.left_by) >= terms.threshold

    def keep_away(self, item: Item, person: int, why: str) -> None:
        until = self.now + TERMS[item.queue].cooldown
        self.kept_away.append((item.pk, person, until, why))

    def wake(self, item: Item) -> None:
        """A parked item comes back as it was; the time that it lay does not count as waiting."""
        assert item.parked is not None
        item.state = "queued"
        item.sla_from += self.now - item.parked
        item.rested += self.now - item.parked
        item.parked = item.wakes = None
        self.note(item, "wake", None)

    def wake_due(self, queue: str | None = None) -> int:
        """Wake whatever was parked until now; return how many."""
        due = [item for item in self.open_items(queue) if self.due(item)]
        for item in due:
            self.wake(item)
        return len(due)

    def tell(self, item: Item, kind: str) -> None:
        """Add an event to the trail of an item's content."""
        self.contents[item.content].events.append(kind)

    def withdraw(self, item: Item, by: int) -> None:
        """Nobody needs to look any more: what holds is what was last applied."""
        self.end(item, "withdraw", by=by)
        item.state, item.resolution, item.resolved = "resolved", "withdrawn", self.now
        item.parked, item.wakes, item.abandoned = None, None, False

    # --- What is shown --------------------------------------------------------------------------

    def lease_of(self, item: Item) -> Told:
        """What the holder of an item is shown."""
        left = 0 if item.expires is None else item.expires - self.now
        facts = {
            "item": item.pk,
            "content": item.content,
            "queue": item.queue,
            "round": item.round,
            "source": item.source,
            "token": item.token,
            "terminal": item.terminal,
            "left": left,
            "leases": item.leases,
            "left_by": len(item.left_by),
            "rank": item.rank,
            "severity": item.severity,
            "waited": self.now - item.first,
            "evidence": self.evidence(item),
        }
        return Told("lease", facts)

    def mine(self, person: int) -> Told:
        """What a person is shown who asks what he holds."""
        item = self.owned(person)
        return Told("nothing", {}) if item is None else self.lease_of(item)

    def figures(self, person: int, queue: str) -> dict[str, Any]:
        """How much of a queue is free, held, parked, and not for this person."""
        there = self.open_items(queue)
        alive = [i for i in there if self.alive(i)]
        leaving = [i for i in there if self.leaving(i)]
        back = [i for i in there if (self.run_out(i) or self.due(i)) and not self.leaving(i)]
        free = [*self.offered(queue), *back]
        ends = [item.expires - self.now for item in alive if item.expires is not None]
        ages = [self.now - item.sla_from for item in there if item.state != "parked"]
        return {
            "queue": queue,
            "free": len(free),
            "held": len(alive) + len(leaving),
            "parked": sum(i.state == "parked" and not self.due(i) for i in there),
            "not_for_you": sum(self.shut_out(person, i) or self.ones_own(person, i) for i in free),
            "free_in": min(ends, default=None),
            "oldest": max(ages, default=None),
        }

    def health(self, queue: str) -> dict[str, Any]:
        """What a lead is shown of a queue."""
        there = self.open_items(queue)
        ages = [self.now - item.sla_from for item in there if item.state != "parked"]
        return {
            "waiting": len(self.offered(queue)) + sum(map(self.run_out, there)),
            "in_review": sum(map(self.alive, there)),
            "lapsed": sum(map(self.run_out, there)),
            "escalating": sum(item.state == "queued" and item.abandoned for item in there),
            "stuck": sum(item.stuck is not None for item in there),
            "oldest": max(ages, default=None),
            "leases": tuple(sum(min(item.leases, 5) == n for item in there) for n in range(6)),
        }


def _newest(item: Item) -> tuple[bool, int, int]:
    return (item.state == "leased", item.expires or 0, item.leased_at or 0)
