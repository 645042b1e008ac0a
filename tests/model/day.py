"""A long day at one queue: hundreds of deeds in the proportions of a busy team.

What a search for short programs seldom comes to is here by mere length: items that were left by
several people, moved up, stuck, decided late, sent again long after.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from shared.vocabulary import ParkReason, ReleaseReason, TakeBackReason
from tests.model.choices import BODIES, CHANGED, FIRST, HOW, OFFS, QUEUES, WAITS, WRONG
from tests.model.ground import REASONS, STAFF

if TYPE_CHECKING:
    from tests.model.desk_machine import DeskMachine

Arguments: TypeAlias = Callable[[random.Random], dict[str, Any]]


def _who(chance: random.Random) -> int:
    return chance.randrange(len(STAFF))


def _lead(chance: random.Random) -> int:
    """Return a lead, or, seldom, somebody."""
    return _who(chance) if chance.random() < 0.1 else chance.choice([3, 3, 4])


def _anybody(chance: random.Random) -> int | None:
    """Return nobody in particular: the one whose lease it is; or, seldom, somebody."""
    return _who(chance) if chance.random() < 0.2 else None


def _pick(chance: random.Random) -> int:
    """Return how far back to reach: mostly to what is newest."""
    return min(chance.randrange(7), chance.randrange(7))


def _some(chance: random.Random) -> list[int]:
    return [_pick(chance) for _ in range(chance.randrange(1, 4))]


def _verdict(chance: random.Random) -> str:
    return chance.choice(sorted(REASONS))


def _queue(chance: random.Random) -> str:
    return chance.choice(QUEUES)


def _terminal(chance: random.Random) -> str | None:
    return chance.choice([None, "left", "right"])


def _places(chance: random.Random) -> list[str] | None:
    return None if chance.random() < 0.5 else chance.sample(QUEUES, len(QUEUES))


def _often(chance: random.Random, share: float) -> bool:
    return chance.random() < share


WORK: Mapping[str, tuple[int, Arguments]] = {
    "claim_where_work_is": (26, lambda by: {"who": _who(by)}),
    "claim": (4, lambda by: {"who": _who(by), "queue": _queue(by), "terminal": _terminal(by)}),
    "claim_anywhere": (
        7, lambda by: {"who": _who(by), "queues": _places(by), "terminal": _terminal(by)}),
    "take_over": (4, lambda by: {
        "who": _who(by), "again": by.choice([None, None, _pick(by)]), "terminal": _terminal(by)}),
    "enqueue": (4, lambda by: {
        "queue": _queue(by), "rank": by.randrange(13), "twins": _often(by, 0.3)}),
    "pass_time": (4, lambda by: {"seconds": by.choice([1, 9, 30, 59, 199])}),
    "be_there_on_the_second": (16, lambda by: {"which": _pick(by), "off": by.choice(OFFS)}),
    "come_back_too_early": (7, lambda by: {"pick": _pick(by)}),
    "redrive": (5, lambda _: {}),
    "apply": (5, lambda _: {}),
    "look": (4, lambda by: {"who": _who(by), "queue": _queue(by)}),
    "take_back": (3, lambda by: {
        "lead": _lead(by), "pick": _pick(by), "reason": by.choice(list(TakeBackReason)).value,
        "before": min(by.randrange(3), by.randrange(3))}),
    "move": (3, lambda by: {
        "lead": _lead(by), "picks": _some(by), "stranger": _often(by, 0.1),
        "to": by.choice([*QUEUES * 3, "attic", "nowhere"])}),
    "withdraw_items": (1, lambda by: {
        "lead": _lead(by), "picks": _some(by), "stranger": _often(by, 0.1)}),
    "reopen": (5, lambda by: {
        "lead": _lead(by), "pick": _pick(by), "queue": by.choice([None] * 4 + [*QUEUES, "attic"])}),
    "think_twice": (2, lambda by: {"first": _verdict(by), "second": _verdict(by)}),
    "leave_one_after_another": (3, lambda by: {
        "queue": _queue(by), "reason": by.choice(["need_time", "sign_off", "tech"])}),
    "revise": (6, lambda by: {
        "pick": _pick(by), "first": by.choice(FIRST), "body": by.choice(BODIES)}),
    "withdraw": (2, lambda by: {"pick": _pick(by), "first": by.choice(FIRST)}),
}  # fmt: skip
WITH_LEASES: Mapping[str, tuple[int, Arguments]] = {
    "claim_with_an_old_key": (4, lambda by: {
        "pick": _pick(by), "who": _anybody(by), "queue": by.choice([None, _queue(by)]),
        "anywhere": _often(by, 0.3)}),
    "renew": (6, lambda by: {"pick": _pick(by), "who": _anybody(by)}),
    "release": (8, lambda by: {
        "pick": _pick(by), "who": _anybody(by), "reason": by.choice(list(ReleaseReason)).value}),
    "park": (6, lambda by: {
        "pick": _pick(by), "who": _anybody(by), "reason": by.choice(list(ParkReason)).value,
        "wait": by.choice(WAITS)}),
    "decide": (10, lambda by: {
        "pick": _pick(by), "verdict": _verdict(by), "then": _often(by, 0.4)}),
    "decide_and_apply": (4, lambda by: {
        "pick": _pick(by), "verdict": _verdict(by), "off": by.choice(OFFS)}),
    "misuse": (5, lambda by: {
        "pick": _pick(by), "who": _who(by), "verdict": _verdict(by), "wrong": by.choice(WRONG)}),
    "take_another_item": (5, lambda by: {"pick": _pick(by)}),
    "show_a_dead_token": (6, lambda by: {"pick": _pick(by), "how": by.choice(HOW)}),
}  # fmt: skip
WITH_VERDICTS: Mapping[str, tuple[int, Arguments]] = {
    "send_again": (6, lambda by: {
        "pick": _pick(by), "changed": by.choice(CHANGED), "by_another": _often(by, 0.2),
        "then": _often(by, 0.3)}),
}  # fmt: skip


def deed_of_a_day(machine: DeskMachine, chance: random.Random) -> str:
    """Do one deed, as likely as it is on a day; return what it was."""
    open_to = dict(WORK)
    open_to |= WITH_LEASES if machine.play.leases else {}
    open_to |= WITH_VERDICTS if machine.play.sent else {}
    (name,) = chance.choices(list(open_to), [weight for weight, _ in open_to.values()])
    arguments = open_to[name][1](chance)
    getattr(machine, name)(**arguments)
    return f"{name} {arguments}"


def long_day(machine: DeskMachine, seed: int, deeds: int) -> None:
    """Do that many deeds, compare after each, and let everything come to its end."""
    chance = random.Random(seed)
    machine.begin_with_work(ranks=[(_queue(chance), chance.randrange(13)) for _ in range(8)])
    for _ in range(deeds):
        deed_of_a_day(machine, chance)
        machine.play.agree()
    machine.play.end()
