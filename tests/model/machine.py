"""People at a queue, in any order that can be thought of, against the model after each step."""

from __future__ import annotations

import sys
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

from shared.vocabulary import ParkReason, ReleaseReason
from tests.model.choices import CHANGED, HOW, OFFS, QUEUES, SPANS, WAITS, WRONG, picked
from tests.model.ground import REASONS, STAFF, Ground
from tests.model.play import Play
from tests.model.stage import saying
from tests.support.desk import new_key

PERSON = st.integers(0, len(STAFF) - 1)
QUEUE = st.sampled_from(QUEUES)
TERMINAL = st.sampled_from([None, "left", "right"])
VERDICTS = st.sampled_from(sorted(REASONS))
PICK = st.integers(0, 6)
"""Which of the things of before: 0 is the newest."""
OFF = st.sampled_from(OFFS)
WHY = st.sampled_from([reason.value for reason in ReleaseReason])
ASIDE = st.sampled_from([reason.value for reason in ParkReason])

has_leases = precondition(lambda machine: machine.play.leases)


class QueueMachine(RuleBasedStateMachine):
    """A desk with five people, and the model beside it: what reviewers do."""

    ground: ClassVar[Ground]

    def __init__(self) -> None:
        super().__init__()
        self.play = Play(self.ground)

    @initialize(ranks=st.lists(st.tuples(QUEUE, st.integers(0, 12)), min_size=3, max_size=7))
    def begin_with_work(self, ranks: list[tuple[str, int]]) -> None:
        self.play.enqueue(ranks)

    @rule(seconds=st.sampled_from(SPANS))
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

    @rule(queue=QUEUE, reason=WHY)
    def leave_one_after_another(self, queue: str, reason: str) -> None:
        self.play.leave_one_after_another(queue, reason)

    @rule(first=VERDICTS, second=VERDICTS)
    def think_twice(self, first: str, second: str) -> None:
        self.play.think_twice(first, second)

    @rule(pick=PICK, verdict=VERDICTS, off=OFF)
    def decide_and_apply(self, pick: int, verdict: str, off: int) -> None:
        self.play.decide_and_apply(pick, verdict, off)

    @rule(pick=PICK)
    def take_another_item(self, pick: int) -> None:
        self.play.take_another(pick)

    @rule(queue=QUEUE, rank=st.integers(0, 12), twins=st.booleans())
    def enqueue(self, queue: str, rank: int, twins: bool) -> None:
        self.play.enqueue([(queue, rank)] * (2 if twins else 1))

    @rule(who=PERSON, queue=QUEUE, terminal=TERMINAL)
    def claim(self, who: int, queue: str, terminal: str | None) -> None:
        self.play.claim(who, queue, terminal=terminal)

    @rule(who=PERSON)
    def claim_where_work_is(self, who: int) -> None:
        self.play.claim_something(who)

    @rule(who=PERSON, queues=st.none() | st.permutations(QUEUES), terminal=TERMINAL)
    def claim_anywhere(self, who: int, queues: list[str] | None, terminal: str | None) -> None:
        asked = None if queues is None else tuple(queues[: 1 + who % 3])
        self.play.claim_any(who, asked, new_key(), terminal)

    @precondition(lambda self: self.play.keys)
    @rule(pick=PICK, who=st.none() | PERSON, queue=st.none() | QUEUE, anywhere=st.booleans())
    def claim_with_an_old_key(
        self, pick: int, who: int | None, queue: str | None, anywhere: bool
    ) -> None:
        by, where, key = picked(self.play.keys, pick)
        by = by if who is None else who
        if anywhere:
            self.play.claim_any(by, None, key, None)
        else:
            self.play.claim(by, queue or where, key)

    @rule(who=PERSON, again=st.none() | PICK, terminal=TERMINAL)
    def take_over(self, who: int, again: int | None, terminal: str | None) -> None:
        """Another terminal takes what somebody holds; or says once more that it did."""
        holders = [by for by in range(len(STAFF)) if self.play.world.owned(self.play.pk(by))]
        who = holders[who] if who < len(holders) else who
        keys = [key for by, _, key in self.play.keys if by == who]
        key = picked(keys, again) if keys and again is not None else new_key()
        self.play.take_over(who, key, terminal)

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
    @rule(pick=PICK, who=st.none() | PERSON, reason=ASIDE, wait=st.sampled_from(WAITS))
    def park(self, pick: int, who: int | None, reason: str, wait: int | None) -> None:
        lease = self.play.shown(pick)
        self.play.park(lease, lease["who"] if who is None else who, reason, wait)

    @has_leases
    @rule(pick=PICK, how=st.sampled_from(HOW))
    def show_a_dead_token(self, pick: int, how: str) -> None:
        self.play.show_a_dead_token(pick, how)

    @has_leases
    @rule(pick=PICK, verdict=VERDICTS, then=st.booleans())
    def decide(self, pick: int, verdict: str, then: bool) -> None:
        """Whoever was given a lease decides on it, however long ago that was."""
        lease = self.play.shown(pick)
        self.play.say(lease["who"], saying(lease, verdict), claim_next=then)

    @has_leases
    @rule(pick=PICK, who=PERSON, verdict=VERDICTS, wrong=st.sampled_from(WRONG))
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
    @rule(pick=PICK, changed=st.sampled_from(CHANGED), by_another=st.booleans(), then=st.booleans())
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

    @rule(who=PERSON, queue=QUEUE)
    def look(self, who: int, queue: str) -> None:
        self.play.look(who)
        self.play.look_at_figures(who, queue)
        self.play.look_at_health(who)

    @invariant()
    def rows_are_what_the_model_says(self) -> None:
        self.play.agree()

    def teardown(self) -> None:
        try:
            if sys.exc_info()[0] is None:
                self.play.end()
        finally:
            self.play.close()
