"""A long day at one queue: hundreds of deeds in the proportions of a busy team.

What a search for short programs seldom comes to is here by mere length: items that were left by
several people, moved up, stuck, decided late, sent again long after.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

from shared.vocabulary import ReleaseReason
from tests.model.ground import REASONS
from tests.model.machine import CHANGED, WRONG, QueueMachine
from tests.model.reference import TERMS

Deed = Callable[[QueueMachine, random.Random], object]


def _who(chance: random.Random) -> int:
    return chance.randrange(4)


def _anybody(chance: random.Random) -> int | None:
    """Return nobody in particular: the one whose lease it is; or, seldom, somebody."""
    return _who(chance) if chance.random() < 0.2 else None


def _pick(chance: random.Random) -> int:
    """Return how far back to reach: mostly to what is newest."""
    return min(chance.randrange(7), chance.randrange(7))


def _verdict(chance: random.Random) -> str:
    return chance.choice(sorted(REASONS))


def _queue(chance: random.Random) -> str:
    return chance.choice(sorted(TERMS))


OFF = (-1, 0, 0, 0, 1)
WORK: Mapping[Deed, int] = {
    lambda day, by: day.claim_where_work_is(who=_who(by)): 30,
    lambda day, by: day.claim(who=_who(by), queue=_queue(by)): 4,
    lambda day, by: day.enqueue(queue=_queue(by), rank=by.randrange(13)): 4,
    lambda day, by: day.pass_time(seconds=by.choice([1, 9, 30, 59, 199])): 5,
    lambda day, by: day.be_there_on_the_second(which=_pick(by), off=by.choice(OFF)): 14,
    lambda day, by: day.come_back_too_early(pick=_pick(by)): 4,
    lambda day, _: day.redrive(): 5,
    lambda day, _: day.apply(): 5,
}
WITH_LEASES: Mapping[Deed, int] = {
    lambda day, by: day.claim_with_an_old_key(
        pick=_pick(by), who=_anybody(by), queue=by.choice([None, _queue(by)])
    ): 4,
    lambda day, by: day.renew(pick=_pick(by), who=_anybody(by)): 6,
    lambda day, by: day.release(
        pick=_pick(by), who=_anybody(by), reason=by.choice(list(ReleaseReason)).value
    ): 9,
    lambda day, by: day.decide(pick=_pick(by), verdict=_verdict(by), then=by.random() < 0.4): 9,
    lambda day, by: day.decide_and_apply(
        pick=_pick(by), verdict=_verdict(by), off=by.choice(OFF)
    ): 3,
    lambda day, by: day.misuse(
        pick=_pick(by), who=_who(by), verdict=_verdict(by), wrong=by.choice(WRONG)
    ): 5,
    lambda day, by: day.take_another_item(pick=_pick(by)): 5,
    lambda day, by: day.look(who=_who(by)): 3,
}
WITH_VERDICTS: Mapping[Deed, int] = {
    lambda day, by: day.send_again(
        pick=_pick(by),
        changed=by.choice(CHANGED),
        by_another=by.random() < 0.2,
        then=by.random() < 0.3,
    ): 6,
}


def long_day(machine: QueueMachine, seed: int, deeds: int) -> None:
    """Do that many deeds, compare after each, and let everything come to its end."""
    chance = random.Random(seed)
    play = machine.play
    machine.begin_with_work(ranks=[(_queue(chance), chance.randrange(13)) for _ in range(8)])
    for _ in range(deeds):
        open_to = dict(WORK)
        open_to |= WITH_LEASES if play.leases else {}
        open_to |= WITH_VERDICTS if play.sent else {}
        (deed,) = chance.choices(list(open_to), list(open_to.values()))
        deed(machine, chance)
        play.agree()
    play.end()
