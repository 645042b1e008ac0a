"""The deeds of reviewers, each done at the real queue and in the model, and compared."""

from __future__ import annotations

from typing import Any

from tests.model.reference import claims, leases, verdicts
from tests.model.reference.records import Parking, Saying, Told
from tests.model.stage import Stage
from tests.support.desk import new_key


class People(Stage):
    """What reviewers do. Each deed raises AssertionError where the answer is not the model's."""

    def claim(
        self, who: int, queue: str, key: str | None = None, terminal: str | None = None
    ) -> Told:
        self.turn(1)
        key = key or new_key()
        told = self.run(self.real.claim(self.people[who], queue, key, terminal))
        self._claimed(who, queue, key, told, terminal)
        return told

    def _claimed(
        self, who: int, queue: str, key: str, told: Told, terminal: str | None = None
    ) -> None:
        self.keys.append((who, queue, key))
        new = self._new_token(told)
        self.same(told, claims.claim(self.world, self.pk(who), queue, key, new, terminal))
        self._keep(who, told)

    def _new_token(self, told: Told) -> str | None:
        token: str | None = told.facts.get("token")
        return token if token not in self.world.grants else None

    def _keep(self, who: int, told: Told) -> None:
        if told.word == "lease":
            self.leases.append({"who": who, **told.facts})

    def claim_any(
        self, who: int, queues: tuple[str, ...] | None, key: str, terminal: str | None
    ) -> Told:
        """Somebody asks at several queues, or wherever he may work."""
        self.turn(1)
        person = self.pk(who)
        told = self.run(self.real.claim_any(self.people[who], queues, key, terminal))
        asked = queues or tuple(q for q in self.desk.policy.queues if q in self.world.rooms[person])
        self.keys.append((who, asked[0], key))
        new = self._new_token(told)
        self.same(told, claims.claim_any(self.world, person, asked, key, new, terminal))
        self._keep(who, told)
        return told

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
            self.enqueue([("posts", who)])

    def enqueue(self, rows: list[tuple[str, int]]) -> None:
        raise NotImplementedError

    def take_over(self, who: int, key: str, terminal: str | None) -> None:
        """Somebody goes on in another terminal."""
        self.turn(1)
        told = self.run(self.real.take_over(self.people[who], key, terminal))
        new = self._new_token(told)
        self.same(told, leases.take_over(self.world, self.pk(who), key, new, terminal))
        if new is not None:
            self.keys.append((who, told.facts["queue"], key))
            self._keep(who, told)

    def look(self, who: int) -> None:
        """Somebody asks what he holds; what he is shown now he may decide on."""
        told = self.run(self.real.mine(self.people[who]))
        self.same(told, self.world.mine(self.pk(who)))
        self._keep(who, told)

    def look_at_figures(self, who: int, queue: str) -> None:
        told = self.run(self.real.figures(self.people[who], queue))
        person = self.pk(who)
        if queue not in self.world.rooms[person]:
            assert told.word == "forbidden"
        else:
            self.same(told, Told("nothing", self.world.figures(person, queue)))

    def renew(self, lease: dict[str, Any], who: int) -> None:
        self.turn(1)
        item, token = lease["item"], lease["token"]
        told = self.run(self.real.renew(self.people[who], item, token))
        self.same(told, leases.renew(self.world, self.pk(who), item, token))

    def release(self, lease: dict[str, Any], who: int, reason: str) -> None:
        self.turn(1)
        item, token = lease["item"], lease["token"]
        told = self.run(self.real.release(self.people[who], item, token, reason))
        self.same(told, leases.release(self.world, self.pk(who), item, token, reason))

    def park(self, lease: dict[str, Any], who: int, reason: str, wait: int | None) -> None:
        """Set aside for `wait` seconds from now, or for as long as may be."""
        self.turn(1)
        item, token = lease["item"], lease["token"]
        until = None if wait is None else self.world.now + wait
        asked = Parking(reason, until, None if wait is None else f"until {wait}?")
        told = self.run(self.real.park(self.people[who], item, token, asked))
        self.same(told, leases.park(self.world, self.pk(who), item, token, asked))

    def say(self, who: int, said: Saying, *, claim_next: bool = False) -> None:
        self.turn(1)
        key = new_key() if claim_next else None
        self.sent.append((who, said))
        told, following = self.run(self.real.verdict(self.people[who], said, key))
        made = told.facts.get("decision")
        new = made if made not in self.world.decisions else None
        self.same(told, verdicts.verdict(self.world, self.pk(who), said, new))
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
            claims.claim(self.world, self.pk(who), queue, key, None)
            self.same(following, self.world.lease_of(held))
