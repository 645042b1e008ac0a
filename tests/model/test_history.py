"""The checker of histories explains what may have happened, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import pytest

from tests.model.history import explained, faults
from tests.model.register import Op

ANA, BEN = 1, 2
CLAIM = Op(
    kind="claim", person=ANA, item=1, token="t1", invoked=0, returned=1, lasts=60, revision=1
)
VERDICT = Op(
    kind="verdict", person=ANA, item=1, token="t1", invoked=10, returned=11,
    verdict_token="v1", body="approve", revision=1, decision=7,
)  # fmt: skip
AGAIN = replace(VERDICT, invoked=20, returned=21)
END = replace(VERDICT, kind="end", invoked=900, returned=900)
OPEN = Op(kind="end", person=0, item=1, token="", invoked=900, returned=900)
TO_BEN = replace(CLAIM, person=BEN, token="t2", invoked=5, returned=6)
BY_BEN = replace(VERDICT, person=BEN, token="t2", verdict_token="v2", decision=8)
RELEASE = Op(kind="release", person=ANA, item=1, token="t1", invoked=2, returned=3)
RENEW = replace(RELEASE, kind="renew", invoked=50, returned=51, lasts=60)
PARK = replace(RELEASE, kind="park", lasts=100)
OVER = replace(CLAIM, kind="take_over", token="t2", invoked=5, returned=6)
BACK = replace(RELEASE, kind="take_back", person=9, invoked=4, returned=5)
MOVE = replace(BACK, kind="move", token="")
GONE = replace(MOVE, kind="withdraw")
NEWS = replace(MOVE, kind="revise", revision=2)
WITHDRAWN = replace(OPEN, body="withdrawn")
LATER = replace(TO_BEN, invoked=200, returned=201)

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
    "set aside, then to another when it woke": [CLAIM, PARK, LATER, OPEN],
    "set aside, and woken by new evidence": [
        CLAIM, PARK, NEWS, replace(TO_BEN, revision=2), OPEN],
    "set aside, and repeated": [CLAIM, PARK, replace(PARK, outcome="unknown", returned=inf), OPEN],
    "taken over and decided there": [CLAIM, OVER, replace(VERDICT, token="t2"), END],
    "taken over, refused here": [CLAIM, OVER, replace(VERDICT, outcome="refused"), OPEN],
    "taken over again with one key": [CLAIM, OVER, replace(OVER, invoked=8, returned=9), OPEN],
    "taken back, then to another": [CLAIM, BACK, TO_BEN, OPEN],
    "taken back twice": [CLAIM, BACK, TO_BEN, replace(BACK, invoked=30, returned=31), OPEN],
    "a take-back of what another has by now": [
        CLAIM, RELEASE, TO_BEN, replace(BACK, invoked=7, returned=8, outcome="refused"), OPEN],
    "moved, then to another": [CLAIM, MOVE, TO_BEN, OPEN],
    "withdrawn": [CLAIM, GONE, replace(VERDICT, outcome="refused"), WITHDRAWN],
    "withdrawn too late": [
        CLAIM, VERDICT, replace(GONE, invoked=20, returned=21, outcome="refused"), END],
    "other evidence than was shown": [
        CLAIM, NEWS, replace(VERDICT, outcome="changed"), replace(AGAIN, revision=2), END],
    "decided before the evidence changed": [
        CLAIM, replace(VERDICT, invoked=3, returned=6), NEWS, END],
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
    "a claim of what sleeps": [CLAIM, PARK, TO_BEN, OPEN],
    "a verdict on what was set aside": [CLAIM, PARK, VERDICT, END],
    "a verdict by the terminal that lost it": [CLAIM, OVER, VERDICT, END],
    "a take-over of another's": [CLAIM, replace(OVER, person=BEN), OPEN],
    "a take-over of what was released": [CLAIM, RELEASE, OVER, OPEN],
    "a verdict on what was taken back": [CLAIM, BACK, VERDICT, END],
    "a take-back of another lease than was meant": [
        CLAIM, RELEASE, TO_BEN, replace(BACK, invoked=7, returned=8), OPEN],
    "a take-back that was refused for nothing": [CLAIM, replace(BACK, outcome="refused"), OPEN],
    "a verdict on what was moved": [CLAIM, MOVE, VERDICT, END],
    "a move of what is decided": [CLAIM, VERDICT, replace(MOVE, invoked=20, returned=21), END],
    "a verdict on what was withdrawn": [CLAIM, GONE, VERDICT, END],
    "a claim of what was withdrawn": [CLAIM, GONE, TO_BEN, WITHDRAWN],
    "a withdrawal that was lost": [CLAIM, GONE, OPEN],
    "a withdrawal that nobody asked for": [CLAIM, WITHDRAWN],
    "a verdict on other evidence": [CLAIM, NEWS, VERDICT, END],
    "a claim that was shown old evidence": [CLAIM, RELEASE, NEWS, LATER, OPEN],
    "evidence that changed for nothing": [CLAIM, replace(VERDICT, outcome="changed"), OPEN],
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
    needs_no_claim = ("move", "withdraw", "revise", "end")
    for name, history in GOOD.items():
        left = [op for op in history if op.kind != "claim"]
        nothing_done = all(
            op.outcome in ("unknown", "refused") or op.kind in needs_no_claim for op in left
        )
        nothing_done = nothing_done and END not in left
        assert explained(left) is nothing_done, name
