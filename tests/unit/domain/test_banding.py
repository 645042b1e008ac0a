"""The engine's account of itself: rows to show, and an explanation to store."""

from __future__ import annotations

from decimal import Decimal

import pytest

from backend.domain.engine import decide
from tests.unit.domain.build import category, policy, scores

ONE = policy({"hate": category("0.20", "0.95", severity=60)})
MIXED = policy(
    {
        "child_safety": category(severity=100, fail_closed=True),
        "terror": category(severity=90, fail_closed=True),
        "violence": category(severity=60),
        "hate": category(severity=60),
        "spam": category(severity=5),
    }
)
SAFE = {"child_safety": "0.01", "terror": "0.01", "violence": "0.01", "hate": "0.01", "spam": "0"}


def test_the_explanation_names_threshold_side_and_what_would_have_decided() -> None:
    banding = decide(scores(**{**SAFE, "violence": "0.960", "hate": "0.3"}), (), MIXED)
    assert banding.explanation == {
        "v": 1,
        "policy": "test-1",
        "band": "BLOCK",
        "outcome": "remove",
        "actor": "model",
        "category": "violence",
        "score": "0.96",
        "side": "above",
        "low": "0.20",
        "high": "0.95",
        "severity": 60,
        "rules": [],
        "otherwise": {"band": "REVIEW", "category": "hate"},
        "missing": [],
        "rescore": [],
        "unknown": [],
    }


@pytest.mark.parametrize(
    ("labels", "side", "otherwise"),
    [
        ({"hate": "0.1"}, "below", None),
        ({"hate": "0.5"}, "between", None),
        ({}, "missing", None),
        ({"hate": "0.1", "x": "0.5"}, "unknown", {"band": "ALLOW", "category": "hate"}),
        ({"hate": "0.1", "x": "0.5", "y": "0.4"}, "unknown", {"band": "HELD", "category": "y"}),
    ],
)
def test_the_explanation_says_on_which_side_the_score_lies(
    labels: dict[str, str], side: str, otherwise: dict[str, str] | None
) -> None:
    told = decide(scores(**labels), (), ONE).explanation
    assert (told["side"], told["otherwise"]) == (side, otherwise)


def test_otherwise_breaks_ties_by_score_too() -> None:
    labels = {**SAFE, "terror": "0.99", "violence": "0.6", "hate": "0.5"}
    told = decide(scores(**labels), (), MIXED).explanation
    assert told["otherwise"] == {"band": "REVIEW", "category": "violence"}


def test_an_explanation_names_at_most_twenty_unknown_categories() -> None:
    many = {f"x{n}": Decimal("0.5") for n in range(500)}
    told = decide(many, (), ONE).explanation
    assert len(told["unknown"]) == 20


def test_rows_stand_in_order_of_severity_and_then_name() -> None:
    rows = decide(scores(**SAFE), (), MIXED).rows
    assert [row.category for row in rows] == ["child_safety", "terror", "hate", "violence", "spam"]
    assert (rows[0].low, rows[0].high, rows[0].score) == ("0.20", "0.95", "0.01")
