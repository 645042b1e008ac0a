"""Every problem code has one refusal, with a status and a title of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from backend.domain import refusals
from backend.domain.refusals import Refusal, StaleLease
from shared.problems import ProblemCode


def heirs(of: type[Refusal]) -> Iterator[type[Refusal]]:
    for heir in of.__subclasses__():
        yield heir
        yield from heirs(heir)


ALL = [kind for kind in heirs(Refusal) if kind.__module__ == refusals.__name__]


def test_each_code_has_exactly_one_refusal() -> None:
    codes = [kind.code for kind in ALL]
    assert sorted(codes) == sorted(ProblemCode)


@pytest.mark.parametrize("kind", ALL)
def test_a_status_fits_its_code_and_a_title_is_one_sentence(kind: type[Refusal]) -> None:
    assert 400 <= kind.status < 600
    assert kind.title.endswith(".")
    assert "\n" not in kind.title


def test_a_refusal_crosses_the_wire_whole() -> None:
    refusal = StaleLease("claim again", field="lease_token", now="leased", can_reclaim=False)
    problem = refusal.problem("r-1")
    assert (problem.code, problem.status) == (ProblemCode.STALE_LEASE, 409)
    assert (problem.detail, problem.field, problem.request_id) == (
        "claim again",
        "lease_token",
        "r-1",
    )
    assert problem.extra == {"now": "leased", "can_reclaim": False}
    assert problem.type == "urn:fencepost:problem:stale_lease"


def test_a_refusal_is_told_by_its_detail_or_else_its_title() -> None:
    assert str(StaleLease("claim again")) == "claim again"
    assert str(StaleLease()) == StaleLease.title
