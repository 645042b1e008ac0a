"""One desk, played twice: what happens at the very second at which something ends, and the end."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from tests.model.others import Others
from tests.model.reference.records import DECIDED, TERMS, Item
from tests.model.stage import saying


class Moment(NamedTuple):
    """A second at which something ends, and the deed to be tried on it."""

    at: int
    deed: Callable[[], object]


class Play(Others):
    """Deeds that are several: what people do who come at the right, or the wrong, second."""

    def moments(self) -> list[Moment]:
        """Return what ends or falls due, the next first, and who had better be there then."""
        found: list[Moment] = []
        for pk, person, until, _ in self.world.kept_away:
            item, who = self.world.items[pk], self.place(person)
            if item.state != "resolved":
                found.append(Moment(until, partial(self.come_for, who, item.queue)))
        found += [Moment(self.world.decisions[pk].due, self.apply) for pk in self.world.waiting]
        for item in self.world.open_items():
            found += self._wakings(item)
        for lease in self.leases:
            item = self.world.items[lease["item"]]
            if item.token == lease["token"]:
                found += self._moments_of(item, lease)
        return sorted((m for m in found if m.at > self.world.now), key=lambda moment: moment.at)

    def _wakings(self, item: Item) -> list[Moment]:
        """When a parked item comes back, to whoever looks first."""
        if item.wakes is None:
            return []
        deeds: list[Callable[[], object]] = [self.redrive]
        deeds += [partial(self.claim, who, item.queue) for who in self.idle()]
        return [Moment(item.wakes, deed) for deed in deeds]

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
            Moment(item.ended, partial(self.park, lease, who, "await_date", 60)),
            *(
                Moment(item.ended, partial(self.renew, dead, dead["who"]))
                for dead in self.dead(item)
            ),
            Moment(item.leased_at + terms.hold, partial(self.renew, lease, who)),
            Moment(item.ended + terms.late_cap, lambda: self.say(who, saying(lease, "approve"))),
        ]

    def come_for(self, who: int, queue: str) -> None:
        """Somebody sees what there is for him, and asks for it."""
        self.turn(1)
        self.look_at_figures(who, queue)
        self.claim(who, queue)

    def leave_one_after_another(self, queue: str, reason: str) -> None:
        """Whoever is idle takes the next and leaves it, until somebody has to decide it above."""
        for who in self.idle():
            if self.claim(who, queue).word == "lease":
                self.release(self.leases[-1], who, reason)
        self.redrive()

    def think_twice(self, first: str, second: str) -> None:
        """What was decided is looked at again, decided otherwise, and then left at that."""
        lead = len(self.people) - 2
        self.enqueue([("escalation", 12)])
        for verdict in (first, second):
            idle = [who for who in self.idle() if "escalation" in self.world.rooms[self.pk(who)]]
            if not idle or self.claim(idle[0], "escalation").word != "lease":
                return
            lease = self.leases[-1]
            self.say(idle[0], saying(lease, verdict))
            self.turn(TERMS["escalation"].undo)
            self.apply()
            self.reopen(lead, lease["content"], None)
        self.withdraw(self.leases[-1]["content"])

    def dead(self, item: Item) -> list[dict[str, Any]]:
        """Return the leases of an item whose tokens died, the newest first."""
        there = [lease for lease in self.leases if lease["item"] == item.pk]
        return [lease for lease in there[::-1] if lease["token"] != item.token]

    def show_a_dead_token(self, pick: int, how: str) -> None:
        """Somebody does with a token that died what he would have done with it."""
        dead = [lease for item in self.world.open_items() for lease in self.dead(item)]
        if not dead:
            return
        lease = dead[-1 - pick % len(dead)]
        deeds: dict[str, Callable[[], object]] = {
            "renew": lambda: self.renew(lease, lease["who"]),
            "release": lambda: self.release(lease, lease["who"], "tech"),
            "park": lambda: self.park(lease, lease["who"], "await_date", 90),
            "decide": lambda: self.say(lease["who"], saying(lease, "approve")),
        }
        deeds[how]()

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

    def end(self) -> None:
        """Nothing is lost: when people just go on working, all of it is decided and applied."""
        for _ in range(8):
            self.agree()
            if not self.world.open_items() and not self.world.waiting:
                break
            self.turn(600)
            self.redrive()
            for who in range(len(self.people)):
                for queue in sorted(self.world.rooms[self.pk(who)]):
                    self._work_off(who, queue)
            self.turn(60)
            while self.apply().facts["count"]:
                pass
        assert not self.world.open_items()
        assert not self.world.waiting
        for name, content in self.world.contents.items():
            gone = self.world.last_round(name).resolution == "withdrawn"
            assert content.state in DECIDED or (content.state == "pending" and gone), content

    def _work_off(self, who: int, queue: str) -> None:
        while self.claim(who, queue).word == "lease":
            self.say(who, saying(self.leases[-1], "approve"))
