"""People at a queue, in any order that can be thought of, against the model after each step."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from shared.vocabulary import ReleaseReason
from tests.model.ground import REASONS, STAFF, Ground
from tests.model.play import Play, saying
from tests.model.reference import TERMS
from tests.support.desk import new_key

PERSON = st.integers(0, len(STAFF) - 1)
QUEUES = st.sampled_from(sorted(TERMS))
VERDICTS = st.sampled_from(sorted(REASONS))
PICK = st.integers(0, 6)
"""Which of the things of before: 0 is the newest."""
OFF = st.sampled_from([-1, 0, 0, 0, 1])
WHY = st.sampled_from([reason.value for reason in ReleaseReason])
WRONG = ("nobody", "evidence", "reason", "token", "item")
CHANGED = ("nothing", "nothing", "verdict", "note", "evidence", "lease", "item")
OFTEN = st.sampled_from(
    ["claim"] * 6 + ["wait"] * 4 + ["decide", "release", "renew", "redrive", "apply"] * 2
    + ["enqueue", "resend", "look", "come back", "two", "to the end"]
)  # fmt: skip

has_leases = precondition(lambda machine: machine.play.leases)


class QueueMachine(RuleBasedStateMachine):
    """A desk with four people, and the model beside it."""

    ground: ClassVar[Ground]

    def __init__(self) -> None:
        super().__init__()
        self.play = Play(self.ground)

    @initialize(ranks=st.lists(st.tuples(QUEUES, st.integers(0, 12)), min_size=3, max_size=7))
    def begin_with_work(self, ranks: list[tuple[str, int]]) -> None:
        for queue, rank in ranks:
            self.play.enqueue(queue, rank)

    @rule(seconds=st.sampled_from([1, 9, 30, 59, 120, 199, 301, 700]))
    def pass_time(self, seconds: int) -> None:
        self.play.turn(seconds)

    @rule(which=PICK, off=OFF)
    def be_there_on_the_second(self, which: int, off: int) -> None:
        """Something ends: just then, or right beside it, somebody does what depends on it."""
        moments = self.play.moments()
        if moments:
            moment = moments[which % len(moments)]
            # The deed itself takes the second that is missing.
            self.play.turn(max(0, moment.at + off - 1 - self.play.world.now))
            moment.deed()

    @rule(pick=PICK)
    def come_back_too_early(self, pick: int) -> None:
        self.play.come_back(pick)

    @rule(pick=PICK, verdict=VERDICTS, off=OFF)
    def decide_and_apply(self, pick: int, verdict: str, off: int) -> None:
        self.play.decide_and_apply(pick, verdict, off)

    @rule(pick=PICK)
    def take_another_item(self, pick: int) -> None:
        self.play.take_another(pick)

    @rule(queue=QUEUES, rank=st.integers(0, 12))
    def enqueue(self, queue: str, rank: int) -> None:
        self.play.enqueue(queue, rank)

    @rule(who=PERSON, queue=QUEUES)
    def claim(self, who: int, queue: str) -> None:
        self.play.claim(who, queue)

    @rule(who=PERSON)
    def claim_where_work_is(self, who: int) -> None:
        self.play.claim_something(who)

    @precondition(lambda self: self.play.keys)
    @rule(pick=PICK, who=st.none() | PERSON, queue=st.none() | QUEUES)
    def claim_with_an_old_key(self, pick: int, who: int | None, queue: str | None) -> None:
        by, where, key = picked(self.play.keys, pick)
        self.play.claim(by if who is None else who, queue or where, key)

    @has_leases
    @rule(pick=PICK, who=st.none() | PERSON)
    def renew(self, pick: int, who: int | None) -> None:
        lease = self.play.shown(pick)
        self.play.renew(lease, lease["who"] if who is None else who)

    @has_leases
    @rule(pick=PICK, who=st.none() | PERSON, reason=WHY)
    def release(self, pick: int, who: int | None, reason: str) -> None:
        lease = self.play.shown(pick)
        self.play.release(lease, lease["who"] if who is None else who, reason)

    @has_leases
    @rule(pick=PICK, verdict=VERDICTS, then=st.booleans())
    def decide(self, pick: int, verdict: str, then: bool) -> None:
        """Whoever was given a lease decides on it, however long ago that was."""
        lease = self.play.shown(pick)
        self.play.say(lease["who"], saying(lease, verdict), claim_next=then)

    @has_leases
    @rule(
        pick=PICK,
        who=PERSON,
        verdict=VERDICTS,
        wrong=st.sampled_from(WRONG),
    )
    def misuse(self, pick: int, who: int, verdict: str, wrong: str) -> None:
        """Anybody shows any old token, and gets one thing or another wrong."""
        other: dict[str, Any] = {
            "evidence": {"evidence": "0" * 64},
            "reason": {"reason": "none_such"},
            "token": {"lease_token": new_key()},
            "item": {"item": min(self.play.world.items)},
        }
        said = saying(self.play.shown(pick), verdict)
        self.play.say(who, replace(said, **other.get(wrong, {})))

    @precondition(lambda self: self.play.sent)
    @rule(
        pick=PICK,
        changed=st.sampled_from(CHANGED),
        by_another=st.booleans(),
        then=st.booleans(),
    )
    def send_again(self, pick: int, changed: str, by_another: bool, then: bool) -> None:
        """The same verdict token comes again: with the same body, or with another."""
        who, said = picked(self.play.sent, pick)
        newest = self.play.leases[-1]
        other: dict[str, Any] = {
            "verdict": {"verdict": "limit", "reason": "mild"},
            "note": {"note": "on second thoughts"},
            "evidence": {"evidence": "1" * 64},
            "lease": {"lease_token": newest["token"]},
            "item": {"lease_token": newest["token"], "item": newest["item"]},
        }
        by = (who + 1) % len(self.play.people) if by_another else who
        self.play.say(by, replace(said, **other.get(changed, {})), claim_next=then)

    @precondition(lambda self: any(map(self.play.world.run_out, self.play.world.items.values())))
    @rule()
    def redrive(self) -> None:
        self.play.redrive()

    @precondition(lambda self: self.play.world.waiting)
    @rule()
    def apply(self) -> None:
        self.play.apply()

    @has_leases
    @rule(who=PERSON)
    def look(self, who: int) -> None:
        self.play.look(who)

    @rule(deeds=st.lists(st.tuples(OFTEN, PERSON, PICK, VERDICTS), min_size=4, max_size=15))
    def an_hour_of_work(self, deeds: list[tuple[str, int, int, str]]) -> None:
        """Many steps in the proportions of every day, which lead deeper than single ones do."""
        for deed, who, pick, verdict in deeds:
            self._deeds(who, pick, verdict)[deed]()
            self.play.agree()

    def _deeds(self, who: int, pick: int, verdict: str) -> dict[str, Callable[[], object]]:
        reason = ("need_time", "tech", "policy_unclear", "sign_off")[who]
        with_leases: dict[str, Callable[[], object]] = {
            "decide": lambda: self.decide(pick=pick, verdict=verdict, then=who == 0),
            "release": lambda: self.release(pick=pick, who=None, reason=reason),
            "renew": lambda: self.renew(pick=pick, who=None),
            "look": lambda: self.play.look(who),
        }
        if not self.play.leases:
            with_leases = dict.fromkeys(with_leases, lambda: self.play.claim_something(who))
        return {
            "claim": lambda: self.play.claim_something(who),
            "wait": lambda: self.be_there_on_the_second(which=pick, off=(-1, 0, 0, 1)[who]),
            "come back": lambda: self.play.come_back(pick),
            "two": lambda: self.play.take_another(pick),
            "to the end": lambda: self.play.decide_and_apply(pick, verdict, (-1, 0, 0, 1)[who]),
            "redrive": self.play.redrive,
            "apply": self.play.apply,
            "enqueue": lambda: self.play.enqueue(sorted(TERMS)[pick % 2], who),
            "resend": lambda: self.play.resend(pick),
            **with_leases,
        }

    @invariant()
    def rows_are_what_the_model_says(self) -> None:
        self.play.agree()

    def teardown(self) -> None:
        try:
            if sys.exc_info()[0] is None:
                self.play.end()
        finally:
            self.play.close()


def machine_on(ground: Ground) -> type[QueueMachine]:
    """Return the machine that gets its databases from there."""
    return type("QueueMachineHere", (QueueMachine,), {"ground": ground})


def picked(things: list[Any], pick: int) -> Any:
    """Return one of the things of before, the newest for 0."""
    return things[-1 - pick % len(things)]
