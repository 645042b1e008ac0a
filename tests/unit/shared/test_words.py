"""Ids, reasons, problems and the vocabulary: the words both sides share."""

from __future__ import annotations

import enum
import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared import vocabulary
from shared.ids import CONTENT_ID_PATTERN, is_content_id
from shared.problems import Problem, ProblemCode, problem_type
from shared.reasons import Reason, admitted
from shared.vocabulary import COUNTED_RELEASES, ReleaseReason, Verdict

REASONS = (
    Reason(code="a", title="A", verdicts=(Verdict.APPROVE,)),
    Reason(code="b", title="B", verdicts=(Verdict.REJECT, Verdict.LIMIT), queues=("posts",)),
    Reason(code="c", title="C", verdicts=(Verdict.APPROVE, Verdict.REJECT), queues=("cases",)),
)


@pytest.mark.parametrize(
    ("verdict", "queue", "codes"),
    [
        (Verdict.APPROVE, "posts", ["a"]),
        (Verdict.APPROVE, "cases", ["a", "c"]),
        (Verdict.REJECT, "posts", ["b"]),
        (Verdict.REJECT, "cases", ["c"]),
        (Verdict.LIMIT, "cases", []),
        (Verdict.ESCALATE, "posts", []),
    ],
)
def test_a_verdict_admits_its_own_reasons_in_the_policys_order(
    verdict: Verdict, queue: str, codes: list[str]
) -> None:
    assert [reason.code for reason in admitted(REASONS, verdict, queue)] == codes


@given(st.text(max_size=70) | st.from_regex(CONTENT_ID_PATTERN))
def test_a_content_id_is_what_the_pattern_says_and_ends_where_it_ends(value: str) -> None:
    by_pattern = re.fullmatch(CONTENT_ID_PATTERN, value, re.ASCII) and not value.endswith("\n")
    assert is_content_id(value) == bool(by_pattern)


def test_every_list_of_words_is_closed_and_holds_no_word_twice() -> None:
    lists = [
        kind
        for kind in vars(vocabulary).values()
        if isinstance(kind, type) and issubclass(kind, enum.StrEnum) and kind is not enum.StrEnum
    ]
    assert len(lists) > 10
    for kind in lists:
        assert len(kind.__members__) == len(list(kind))


def test_releases_that_are_nobodys_doubt_count_for_nothing() -> None:
    excused = set(ReleaseReason) - COUNTED_RELEASES
    assert excused == {"tech", "distress", "conflict", "language"}


@pytest.mark.parametrize("code", ProblemCode)
def test_a_problem_crosses_the_wire_and_back(code: ProblemCode) -> None:
    problem = Problem(code=code, status=400, title="No.", type=problem_type(code), extra={"a": 1})
    assert msgspec.json.decode(msgspec.json.encode(problem), type=Problem) == problem
    assert problem.type == f"urn:fencepost:problem:{code.value}"
