"""One desk, played twice: each deed is done at the real queue and in the model, and compared."""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections.abc import Callable, Coroutine
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any, NamedTuple, TypeVar

from tests.model import moves
from tests.model.compare import agree
from tests.model.ground import REASONS, STAFF, Ground
from tests.model.players import Players
from tests.model.reference import TERMS, Item, Saying, Told, World
from tests.support.desk import Desk, new_key

T = TypeVar("T")

SHOWN = """
SELECT encode(e.hash, 'hex') FROM evidence e JOIN item i ON i.content_id = e.content_id
WHERE i.id = $1
"""
ROUNDS = """
SELECT i.id, n.content_id, i.round FROM item i JOIN content n ON n.id = i.content_id
"""


class Moment(NamedTuple):
    """A second at which something ends, and the deed to be tried on it."""

    at: int
    deed: Callable[[], object]


class Play:
    """A database of its own, a loop of its own, the model, and what was seen so far.

    People are known by their place on the staff. Every deed takes a second.
    """

    def __init__(self, ground: Ground) -> None:
        self.people = ground.people
        self.runner = asyncio.Runner()
        self.life = contextlib.AsyncExitStack()
        self.desk: Desk = self.run(self.life.enter_async_context(ground.desk()))
        self.real = Players(self.desk)
        self.world = World(
            names={who.principal_id: who.name for who in self.people},
            rooms={who.principal_id: set(STAFF[who.name]) for who in self.people},
            reasons=REASONS,
        )
        self.leases: list[dict[str, Any]] = []
        self.keys: list[tuple[int, str, str]] = []
        self.sent: list[tuple[int, Saying]] = []

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    def close(self) -> None:
        try:
            self.run(self.life.aclose())
        finally:
            self.runner.close()

    def pk(self, who: int) -> int:
        return self.people[who].principal_id

    def place(self, person: int) -> int:
        """Return the place on the staff of a principal."""
        return next(who for who in range(len(self.people)) if self.pk(who) == person)

    # --- Time -----------------------------------------------------------------------------------

    def turn(self, seconds: int) -> None:
        """Count on; whole seconds, so that what ends now ends exactly now."""
        self.world.now += seconds
        shift = timedelta(seconds=self.world.now)
        self.run(self.desk.admin.execute("UPDATE test_clock SET shift = $1", shift))

    def moments(self) -> list[Moment]:
        """Return what ends or falls due, the next first, and who had better be there then."""
        found: list[Moment] = []
        for pk, person, until, _ in self.world.kept_away:
            item, who = self.world.items[pk], self.place(person)
            if item.state != "resolved":
                found.append(Moment(until, partial(self.claim, who, item.queue)))
        found += [Moment(self.world.decisions[pk].due, self.apply) for pk in self.world.waiting]
        for lease in self.leases:
            item = self.world.items[lease["item"]]
            if item.token == lease["token"]:
                found += self._moments_of(item, lease)
        return sorted((m for m in found if m.at > self.world.now), key=lambda moment: moment.at)

    def _moments_of(self, item: Item, lease: dict[str, Any]) -> list[Moment]:
        """When this lease ends, can be stretched no further, and is too old to decide on."""
        assert item.ended is not None
        assert item.leased_at is not None
        who, terms = lease["who"], TERMS[item.queue]
        another = (who + 1) % len(self.people)
        return [
            Moment(item.ended, self.redrive),
            Moment(item.ended, partial(self.claim, another, item.queue)),
            Moment(item.ended, partial(self.claim, who, item.queue)),
            Moment(item.leased_at + terms.hold, partial(self.renew, lease, who)),
            Moment(item.ended + terms.late_cap, lambda: self.say(who, saying(lease, "approve"))),
        ]

    def come_back(self, pick: int) -> None:
        """Whoever left an item asks for it too early, when the next who took it let it lapse."""
        left = [
            (self.world.items[pk], self.place(person))
            for pk, person, until, _ in self.world.kept_away
            if until > self.world.now and self.world.items[pk].state != "resolved"
        ]
        if not left:
            return
        item, who = left[-1 - pick % len(left)]
        others = [another for another in self.idle() if another != who]
        if item.state == "queued" and others:
            self.claim(others[pick % len(others)], item.queue)
        if item.expires is not None and not self.world.run_out(item):
            self.turn(item.expires - self.world.now)
        self.claim(who, item.queue)

    def decide_and_apply(self, pick: int, verdict: str, off: int) -> None:
        """A verdict takes effect on the very second at which its undo window ends."""
        if not self.leases:
            return
        lease = self.shown(pick)
        self.say(lease["who"], saying(lease, verdict))
        due = [self.world.decisions[pk].due for pk in self.world.waiting]
        if due:
            self.turn(max(0, due[-1] + off - 1 - self.world.now))
            self.apply()

    def take_another(self, pick: int) -> None:
        """Somebody's time runs out, he takes another item, and wants more time for the first."""
        if not self.leases:
            return
        lease = self.shown(pick)
        who, item = lease["who"], self.world.items[lease["item"]]
        if item.expires is not None and not self.world.run_out(item):
            self.turn(item.expires - self.world.now)
        key = item.key if pick % 3 == 0 else None  # or he means the first, and asks once more
        self.claim(who, "posts" if pick % 2 else item.queue, key)
        self.renew(lease, who)

    # --- What was seen --------------------------------------------------------------------------

    def shown(self, pick: int) -> dict[str, Any]:
        """Return a lease of now or of before: first those whose token still counts."""
        good = {item.token for item in self.world.open_items()}
        newest = self.leases[::-1]
        ordered = sorted(newest, key=lambda lease: lease["token"] not in good)
        return ordered[pick % len(ordered)]

    def idle(self) -> list[int]:
        """Return who holds nothing."""
        return [who for who in range(len(self.people)) if self.world.live(self.pk(who)) is None]

    # --- What people do -------------------------------------------------------------------------

    def enqueue(self, queue: str, rank: int) -> None:
        self.turn(1)
        name = f"c-{len(self.world.items)}"
        pk = self.run(self.desk.item(name, rank=rank, queue=queue))
        evidence = self.run(self.desk.value(SHOWN, pk))
        item = Item(pk, name, queue, 1, float(rank), self.world.now)
        moves.enqueue(self.world, item, evidence)

    def claim(self, who: int, queue: str, key: str | None = None) -> Told:
        self.turn(1)
        key = key or new_key()
        told = self.run(self.real.claim(self.people[who], queue, key))
        self._claimed(who, queue, key, told)
        return told

    def _claimed(self, who: int, queue: str, key: str, told: Told) -> None:
        self.keys.append((who, queue, key))
        token = told.facts.get("token")
        new = token if token not in self.world.grants else None
        assert told == moves.claim(self.world, self.pk(who), queue, key, new)
        if told.word == "lease":
            self.leases.append({"who": who, **told.facts})

    def claim_something(self, who: int) -> None:
        """Somebody who is idle asks where there is work; where there is none, some comes."""
        idle = self.idle()
        if not idle:
            self.turn(20)
            return
        who = idle[who % len(idle)]
        rooms = self.world.rooms[self.pk(who)]
        waiting = [queue for queue in rooms if self.world.figures(self.pk(who), queue)["free"]]
        if waiting:
            self.claim(who, min(waiting))
        else:
            self.enqueue("posts", who)

    def renew(self, lease: dict[str, Any], who: int) -> None:
        self.turn(1)
        item, token = lease["item"], lease["token"]
        told = self.run(self.real.renew(self.people[who], item, token))
        assert told == moves.renew(self.world, self.pk(who), item, token)

    def release(self, lease: dict[str, Any], who: int, reason: str) -> None:
        self.turn(1)
        item, token = lease["item"], lease["token"]
        told = self.run(self.real.release(self.people[who], item, token, reason))
        assert told == moves.release(self.world, self.pk(who), item, token, reason)

    def say(self, who: int, said: Saying, *, claim_next: bool = False) -> None:
        self.turn(1)
        key = new_key() if claim_next else None
        self.sent.append((who, said))
        told, following = self.run(self.real.verdict(self.people[who], said, key))
        made = told.facts.get("decision")
        new = made if made not in self.world.decisions else None
        assert told == moves.verdict(self.world, self.pk(who), said, new)
        if key is not None and told.word == "decided":
            self._next(who, self.world.items[said.item].queue, key, following)

    def resend(self, pick: int) -> None:
        """The same verdict comes once more, word for word, from whoever sent it."""
        if self.sent:
            self.say(*self.sent[-1 - pick % len(self.sent)])

    def _next(self, who: int, queue: str, key: str, following: Told | None) -> None:
        """What comes after a verdict: what he holds, else the next, else why there is none."""
        held = self.world.live(self.pk(who))
        if queue not in self.world.rooms[self.pk(who)]:
            assert following is None
        elif held is None:
            assert following is not None
            self._claimed(who, queue, key, following)
        else:
            moves.claim(self.world, self.pk(who), queue, key, None)
            assert following == self.world.lease_of(held)

    def look(self, who: int) -> None:
        told = self.run(self.real.mine(self.people[who]))
        assert told == self.world.mine(self.pk(who))

    # --- What the house does --------------------------------------------------------------------

    def redrive(self) -> None:
        self.turn(1)
        assert self.run(self.real.redrive()) == moves.redrive(self.world)

    def apply(self) -> Told:
        self.turn(1)
        told = self.run(self.real.apply())
        rounds = self.run(self.desk.admin.fetch(ROUNDS))
        known = {(row["content_id"], row["round"]): row["id"] for row in rounds}
        assert told == moves.apply_due(self.world, lambda name, number: known[name, number])
        return told

    # --- What holds -----------------------------------------------------------------------------

    def agree(self) -> None:
        self.run(agree(self.desk.admin, self.world))

    def end(self) -> None:
        """Nothing is lost: when people just go on working, all of it is decided and applied."""
        for _ in range(6):
            self.agree()
            if not self.world.open_items() and not self.world.waiting:
                break
            self.turn(400)
            self.redrive()
            for who in range(len(self.people)):
                for queue in sorted(self.world.rooms[self.pk(who)]):
                    self._work_off(who, queue)
            self.turn(60)
            while self.apply().facts["count"]:
                pass
        assert not self.world.open_items()
        assert not self.world.waiting
        assert all(content.state != "pending" for content in self.world.contents.values())

    def _work_off(self, who: int, queue: str) -> None:
        while self.claim(who, queue).word == "lease":
            self.say(who, saying(self.leases[-1], "approve"))


def saying(lease: dict[str, Any], verdict: str, **changed: str) -> Saying:
    """Return a verdict on a lease with which nothing is wrong but what is `changed`."""
    said = Saying(
        item=lease["item"],
        lease_token=lease["token"],
        verdict_token=str(uuid.uuid4()),
        evidence=lease["evidence"],
        verdict=verdict,
        reason=min(REASONS[verdict]),
    )
    return replace(said, **changed)  # type: ignore[arg-type] # the texts among its fields
