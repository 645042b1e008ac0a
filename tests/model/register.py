"""One item as a register: what each call about it may make of it, and which answers fit.

A lease at a time, one decision for ever; a token that was given once is never given again. A parked
item is nobody's until it wakes, and what a lead or the producer does needs no token.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import inf


@dataclass(frozen=True, kw_only=True)
class Op:
    """One call about one item; times are seconds of the database's clock.

    `lasts` is how long the lease is still good, as the answer to a claim, a take-over or a renewal
    said, or how long a parked item sleeps. `revision` is the evidence that a claim was shown, that
    a verdict speaks of, or that a revision made; 0 where nobody knows. An `unknown` call may have
    had its effect at any time after it began, or none. `end` is what the database says when all is
    over: `decision` is None where nobody decided.
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
    revision: int = 0
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
    """What is true of one item: its fence, who holds it until when, and what was said.

    `sleeps` is when a parked item wakes; `revision` the newest evidence (0: unknown); `taken` are
    the tokens that a lead took back.
    """

    token: str | None = None
    person: int | None = None
    until: float = -inf
    said: Said | None = None
    given: frozenset[str] = frozenset()
    taken: frozenset[str] = frozenset()
    sleeps: float = -inf
    revision: int = 0
    withdrawn: bool = False

    @property
    def over(self) -> bool:
        return self.said is not None or self.withdrawn

    def held_with(self, op: Op) -> bool:
        return not self.over and (self.token, self.person) == (op.token, op.person)

    def shows(self, op: Op) -> bool:
        return 0 in (self.revision, op.revision) or self.revision == op.revision

    def let_go(self) -> Register:
        return replace(self, token=None, person=None, until=-inf)


Step = tuple[Register, float]
"""What is true after a call, and the earliest time at which that can be."""


def steps(now: Register, op: Op, at: float) -> Iterator[Step]:
    """Yield what `op` may lead to when it takes effect at `at`, or at the earliest time after."""
    yield from _STEPS[op.kind](now, op, at)


def _claim(now: Register, op: Op, at: float) -> Iterator[Step]:
    if not now.shows(op):
        return
    if now.held_with(op):
        yield replace(now, revision=now.revision or op.revision), at  # the answer of before
    elif not now.over and op.token not in now.given:
        free = max(at, now.sleeps, -inf if now.token is None else now.until)
        yield _granted(now, op, free), free


def _granted(now: Register, op: Op, at: float) -> Register:
    return replace(
        now,
        token=op.token,
        person=op.person,
        until=at + op.lasts,
        given=now.given | {op.token},
        sleeps=-inf,
        revision=now.revision or op.revision,
    )


def _take_over(now: Register, op: Op, at: float) -> Iterator[Step]:
    """A person's other terminal takes what he holds, also when its time is over."""
    if not now.shows(op):
        return
    if now.held_with(op):
        yield now, at
    elif not now.over and now.person == op.person and op.token not in now.given:
        yield _granted(now, op, at), at


def _verdict(now: Register, op: Op, at: float) -> Iterator[Step]:
    own = now.said is not None and now.said.person == op.person
    own = own and now.said is not None and now.said.verdict_token == op.verdict_token
    if op.outcome in _NOT_RECORDED:
        yield from _NOT_RECORDED[op.outcome](now, op, at, own)
    elif now.said is not None:
        if own and op.must_be and now.said.fits(op):
            yield replace(now, said=replace(now.said, decision=op.decision)), at
    elif now.held_with(op) and now.shows(op):
        said = Said(op.person, op.verdict_token, op.body, op.decision)
        yield replace(now.let_go(), said=said), at


def _not_his(now: Register, op: Op, at: float, own: bool) -> Iterator[Step]:
    """Nobody whose verdict stands is told that it does not."""
    if not own:
        yield from _refused(now, op, at)


def _changed(now: Register, op: Op, at: float, own: bool) -> Iterator[Step]:
    if not own and now.held_with(op) and (not now.revision or op.revision != now.revision):
        yield now, at


def _conflict(now: Register, op: Op, at: float, own: bool) -> Iterator[Step]:
    if own and now.said is not None and now.said.body != op.body:
        yield now, at


_NOT_RECORDED = {"refused": _not_his, "changed": _changed, "conflict": _conflict}


def _change(now: Register, op: Op, at: float) -> Iterator[Step]:
    if op.outcome == "refused":
        yield from _refused(now, op, at)
    elif not now.held_with(op):
        return
    elif op.kind == "release":
        yield now.let_go(), at
    elif op.kind == "park":
        yield replace(now.let_go(), sleeps=at + op.lasts), at
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


def _take_back(now: Register, op: Op, at: float) -> Iterator[Step]:
    """A lead ends the very lease that he means; once more changes nothing."""
    if op.outcome == "refused":  # as in _refused: what has run out may have moved up
        yield now, at if now.token != op.token else max(at, now.until)
    elif op.token in now.taken:
        yield now, at
    elif now.token == op.token and not now.over:
        yield replace(now.let_go(), taken=now.taken | {op.token}), at


def _move(now: Register, op: Op, at: float) -> Iterator[Step]:
    if op.outcome == "refused":
        if now.over:
            yield now, at
    elif not now.over:
        yield now.let_go(), at


def _withdraw(now: Register, op: Op, at: float) -> Iterator[Step]:
    if op.outcome == "refused":
        if now.over:
            yield now, at
    elif now.said is None:
        yield replace(now.let_go(), withdrawn=True), at


def _revise(now: Register, op: Op, at: float) -> Iterator[Step]:
    """New evidence changes no hands; it wakes what is parked."""
    if op.revision == now.revision:
        yield now, at  # the same once more
    elif not now.revision or op.revision == now.revision + 1:
        yield replace(now, revision=op.revision, sleeps=-inf), at


def _end(now: Register, op: Op, at: float) -> Iterator[Step]:
    if now.said is not None:
        told = now.said.fits(op)
    else:
        told = op.decision is None and now.withdrawn is (op.body == "withdrawn")
    if told:
        yield now, at


_STEPS = {
    "claim": _claim,
    "take_over": _take_over,
    "verdict": _verdict,
    "release": _change,
    "renew": _change,
    "park": _change,
    "take_back": _take_back,
    "move": _move,
    "withdraw": _withdraw,
    "revise": _revise,
    "end": _end,
}
