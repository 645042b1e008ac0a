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
from itertools import pairwise
from math import inf

from tests.model.register import Op, Register, steps


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
        if op.kind in _HOLDING and op.outcome == "ok" and op.lasts > 0:
            until = min(op.invoked + op.lasts, _given_up(history, op))
            if until > op.returned:
                held[op.person].append((op.returned, until, op.token))
    return [person for person, spans in held.items() if _overlap(sorted(spans))]


def _given_up(history: list[Op], held: Op) -> float:
    """Return the earliest time at which this lease may have ended by somebody's deed."""
    ending = [
        op.invoked
        for op in history
        if (op.token == held.token and op.kind in _ENDING)
        or (op.item == held.item and op.kind in _ENDING_ANY and op.token != held.token)
    ]
    return min(ending, default=inf)


_HOLDING = ("claim", "take_over", "renew")
_ENDING = ("verdict", "release", "park", "take_back")
_ENDING_ANY = ("take_over", "move", "withdraw")
"""What ends a lease without naming its token."""


def _overlap(spans: list[tuple[float, float, str]]) -> bool:
    return any(one[1] > other[0] and one[2] != other[2] for one, other in pairwise(spans))
