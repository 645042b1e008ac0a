"""The checker of histories explains what may have happened, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import pytest

from tests.model.history import Op, explained, faults

ANA, BEN = 1, 2
CLAIM = Op(kind="claim", person=ANA, item=1, token="t1", invoked=0, returned=1, lasts=60)
VERDICT = Op(
    kind="verdict", person=ANA, item=1, token="t1", invoked=10, returned=11,
    verdict_token="v1", body="approve", decision=7,
)  # fmt: skip
AGAIN = replace(VERDICT, invoked=20, returned=21)
END = replace(VERDICT, kind="end", invoked=900, returned=900)
OPEN = Op(kind="end", person=0, item=1, token="", invoked=900, returned=900)
TO_BEN = replace(CLAIM, person=BEN, token="t2", invoked=5, returned=6)
BY_BEN = replace(VERDICT, person=BEN, token="t2", verdict_token="v2", decision=8)
RELEASE = Op(kind="release", person=ANA, item=1, token="t1", invoked=2, returned=3)
RENEW = replace(RELEASE, kind="renew", invoked=50, returned=51, lasts=60)

GOOD = {
    "claimed and decided": [CLAIM, VERDICT, END],
    "sent twice, answered twice": [CLAIM, VERDICT, AGAIN, END],
    "claimed twice with one key": [CLAIM, replace(CLAIM, invoked=3, returned=4, lasts=57), OPEN],
    "released, then to another": [CLAIM, RELEASE, TO_BEN, OPEN],
    "run out, then to another": [CLAIM, replace(TO_BEN, invoked=55, returned=65), OPEN],
    "late, and nobody else had it": [CLAIM, replace(VERDICT, invoked=99, returned=99), END],
    "answers crossed": [
        CLAIM, replace(RELEASE, invoked=5, returned=9), replace(TO_BEN, returned=7), OPEN],
    "cut off and never happened": [CLAIM, replace(RELEASE, outcome="unknown", returned=inf), OPEN],
    "cut off and yet it happened": [
        CLAIM, replace(VERDICT, outcome="unknown", returned=inf, decision=None), END],
    "cut off, and known by the retry": [
        CLAIM, replace(VERDICT, outcome="unknown", returned=inf, decision=None), AGAIN, END],
    "refused once another had it": [
        CLAIM, RELEASE, TO_BEN, replace(VERDICT, outcome="refused"), OPEN],
    "another verdict under its token": [
        CLAIM, VERDICT, replace(AGAIN, body="reject", outcome="conflict", decision=None), END],
    "renewed": [CLAIM, RENEW, replace(TO_BEN, invoked=109, returned=112), OPEN],
}  # fmt: skip
BAD = {
    "two holders": [CLAIM, TO_BEN, OPEN],
    "two holders after a renewal": [CLAIM, RENEW, replace(TO_BEN, invoked=70, returned=71), OPEN],
    "a verdict by an old token": [CLAIM, RELEASE, TO_BEN, VERDICT, END],
    "a verdict by somebody else": [CLAIM, replace(VERDICT, person=BEN), replace(END, person=BEN)],
    "a verdict before its claim": [CLAIM, replace(VERDICT, invoked=-2, returned=-1), END],
    "a lost acknowledgement": [CLAIM, VERDICT, OPEN],
    "another decision than was told": [CLAIM, VERDICT, replace(END, decision=9)],
    "another verdict than was said": [CLAIM, VERDICT, replace(END, body="reject")],
    "a decision that nobody made": [CLAIM, END],
    "a replay with another answer": [CLAIM, VERDICT, replace(AGAIN, decision=8), END],
    "a replay that was told stale": [CLAIM, VERDICT, replace(AGAIN, outcome="refused"), END],
    "two decisions": [CLAIM, VERDICT, replace(AGAIN, verdict_token="v2", decision=8), END],
    "a holder who was refused": [CLAIM, replace(VERDICT, outcome="refused"), OPEN],
    "a holder who could not release": [CLAIM, replace(RELEASE, outcome="refused"), OPEN],
    "a token that was given twice": [
        CLAIM, RELEASE, replace(CLAIM, person=BEN, invoked=5, returned=6), OPEN],
    "a claim of what is decided": [CLAIM, VERDICT, replace(TO_BEN, invoked=99, returned=99), END],
    "a renewal of what was released": [CLAIM, RELEASE, RENEW, OPEN],
    "a conflict that was none": [
        CLAIM, VERDICT, replace(AGAIN, outcome="conflict", decision=None), END],
}  # fmt: skip


@pytest.mark.parametrize("history", GOOD.values(), ids=GOOD.keys())
def test_what_may_happen_is_explained(history: list[Op]) -> None:
    assert explained(history)
    assert faults(history) == []


@pytest.mark.parametrize("history", BAD.values(), ids=BAD.keys())
def test_what_may_not_happen_is_found(history: list[Op]) -> None:
    assert faults(history) == ["item 1"]


def test_two_live_leases_of_one_person_are_found() -> None:
    other = replace(CLAIM, item=2, token="t2", invoked=5, returned=6)
    ends = [OPEN, replace(OPEN, item=2)]
    assert faults([CLAIM, other, *ends]) == ["person 1"]
    assert faults([CLAIM, RELEASE, other, *ends]) == []
    assert faults([CLAIM, replace(other, invoked=70, returned=71), *ends]) == []


def test_each_good_history_is_spoilt_by_leaving_out_its_claim() -> None:
    for name, history in GOOD.items():
        left = [op for op in history if op.kind != "claim"]
        nothing_done = all(op.outcome == "unknown" or op is OPEN for op in left)
        assert explained(left) is nothing_done, name
