"""Whether a history of concurrent calls can be explained, item by item.

A history is what clients saw: when each call began and when its answer came, by the database's
clock, and what the answer was; of a call that was cut off nobody knows whether it had an effect. It
is explained if the calls can be put in one order, none before it began or after it was answered, in
which an item is a register that holds one lease at a time and one decision for ever. The search
tries every such order.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf


@dataclass(frozen=True, kw_only=True)
class Op:
    """One call about one item; times are seconds of the database's clock.

    `lasts` is how long the lease is still good, as the answer to a claim or a renewal said. An
    `unknown` call may have had its effect at any time after it began, or none. `end` is what the
    database says when all is over: `decision` is None where nobody decided.
    """

    kind: str
    person: int
    item: int
    token: str
    invoked: float
    returned: float = inf
    outcome: str = "ok"
    lasts: float = 0.0
    verdict_token: str = ""
    body: str = ""
    decision: int | None = None

    @property
    def must_be(self) -> bool:
        """Whether it certainly happened, or was certainly refused."""
        return self.outcome != "unknown"


@dataclass(frozen=True)
class Said:
    """A decision; its id is None as long as no answer told it."""

    person: int
    verdict_token: str
    body: str
    decision: int | None

    def fits(self, op: Op) -> bool:
        same = (self.person, self.verdict_token, self.body) == (
            op.person,
            op.verdict_token,
            op.body,
        )
        return same and (self.decision is None or self.decision == op.decision)


@dataclass(frozen=True)
class Register:
    """What is true of one item: its fence, who holds it until when, and what was said."""

    token: str | None = None
    person: int | None = None
    until: float = -inf
    said: Said | None = None
    given: frozenset[str] = frozenset()

    def held_with(self, op: Op) -> bool:
        return self.said is None and (self.token, self.person) == (op.token, op.person)


Step = tuple[Register, float]
"""What is true after a call, and the earliest time at which that can be."""


def steps(now: Register, op: Op, at: float) -> Iterator[Step]:
    """Yield what `op` may lead to when it takes effect at `at`, or at the earliest time after."""
    match op.kind:
        case "claim":
            yield from _claim(now, op, at)
        case "verdict":
            yield from _verdict(now, op, at)
        case "end":
            yield from _end(now, op, at)
        case "release" | "renew":
            yield from _change(now, op, at)
        case _:
            raise ValueError(op.kind)


def _claim(now: Register, op: Op, at: float) -> Iterator[Step]:
    if now.held_with(op):
        yield now, at  # the answer of before, once more
    elif now.said is None and op.token not in now.given:
        free = at if now.token is None else max(at, now.until)
        given = now.given | {op.token}
        yield Register(op.token, op.person, free + op.lasts, None, given), free


def _verdict(now: Register, op: Op, at: float) -> Iterator[Step]:
    own = now.said is not None and now.said.verdict_token == op.verdict_token
    own = own and now.said is not None and now.said.person == op.person
    if op.outcome == "refused":
        if not own:
            yield from _refused(now, op, at)
    elif op.outcome == "conflict":
        if own and now.said is not None and now.said.body != op.body:
            yield now, at
    elif now.said is not None:
        if own and op.must_be and now.said.fits(op):
            yield replace(now, said=replace(now.said, decision=op.decision)), at
    elif now.held_with(op):
        said = Said(op.person, op.verdict_token, op.body, op.decision)
        yield replace(now, token=None, person=None, said=said), at


def _change(now: Register, op: Op, at: float) -> Iterator[Step]:
    if op.outcome == "refused":
        yield from _refused(now, op, at)
    elif not now.held_with(op):
        return
    elif op.kind == "release":
        yield replace(now, token=None, person=None), at
    elif op.lasts > 0:
        yield replace(now, until=at + op.lasts), at
    else:
        yield now, at


def _refused(now: Register, op: Op, at: float) -> Iterator[Step]:
    """Nobody is refused while he holds the item; once his time is over it may have moved up."""
    if not now.held_with(op):
        yield now, at
    else:
        yield now, max(at, now.until)


def _end(now: Register, op: Op, at: float) -> Iterator[Step]:
    undecided = now.said is None and op.decision is None
    if undecided or (now.said is not None and now.said.fits(op)):
        yield now, at


def explained(ops: Iterable[Op]) -> bool:
    """Tell whether the calls about one item have an order that explains every answer."""
    todo = tuple(sorted(ops, key=lambda op: (op.returned, op.invoked)))
    failed: set[tuple[tuple[Op, ...], Register, float]] = set()
    stack = [(todo, Register(), -inf)]
    while stack:
        where = stack.pop()
        left, now, at = where
        if not any(op.must_be for op in left):
            return True
        if where not in failed:
            failed.add(where)
            stack += reversed(list(_following(left, now, at)))
    return False


def _following(
    left: tuple[Op, ...], now: Register, at: float
) -> Iterator[tuple[tuple[Op, ...], Register, float]]:
    first_answer = min(op.returned for op in left if op.must_be)
    found = []
    for place, op in enumerate(left):
        if op.invoked > first_answer:
            continue  # it began only after the answer to a call that has no place yet
        rest = left[:place] + left[place + 1 :]
        for then, when in steps(now, op, max(at, op.invoked)):
            if when > op.returned:
                continue
            if op.must_be and (then, when) == (now, at):
                yield rest, then, when  # it changes nothing: never better later than now
                return
            found.append((rest, then, when))
    yield from found


def faults(history: list[Op]) -> list[str]:
    """Return what no order of the calls explains."""
    of_item: dict[int, list[Op]] = defaultdict(list)
    for op in history:
        of_item[op.item].append(op)
    found = [f"item {item}" for item, ops in sorted(of_item.items()) if not explained(ops)]
    return found + [f"person {person}" for person in _with_two_leases(history)]


def _with_two_leases(history: list[Op]) -> list[int]:
    """Return who certainly held two items at one moment."""
    held: dict[int, list[tuple[float, float, str]]] = defaultdict(list)
    for op in history:
        if op.kind in ("claim", "renew") and op.outcome == "ok" and op.lasts > 0:
            until = min(op.invoked + op.lasts, _given_up(history, op.token))
            if until > op.returned:
                held[op.person].append((op.returned, until, op.token))
    return [person for person, spans in held.items() if _overlap(sorted(spans))]


def _given_up(history: list[Op], token: str) -> float:
    ending = [op.invoked for op in history if op.token == token and op.kind in _ENDING]
    return min(ending, default=inf)


_ENDING = ("verdict", "release")


def _overlap(spans: list[tuple[float, float, str]]) -> bool:
    return any(one[1] > other[0] and one[2] != other[2] for one, other in pairwise(spans))
