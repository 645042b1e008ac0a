"""The engine, case by case: thresholds, strictness, ties, fail direction, rules, people."""

from __future__ import annotations

from decimal import Decimal

import pytest

from backend.domain.engine import decide
from shared.vocabulary import Actor, Band, Outcome
from tests.unit.domain.build import category, hit, policy, scores, shipped

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


@pytest.mark.parametrize(
    ("score", "band"),
    [
        ("0", Band.ALLOW),
        ("0.1999999999999999999999999999999999999", Band.ALLOW),
        ("0.20", Band.REVIEW),
        ("0.2", Band.REVIEW),
        ("0.2000000000000000000000000000000000001", Band.REVIEW),
        ("0.5", Band.REVIEW),
        ("0.9499999999999999999999999999999999999", Band.REVIEW),
        ("0.95", Band.REVIEW),
        ("0.9500000", Band.REVIEW),
        ("0.9500000000000000000000000000000000001", Band.BLOCK),
        ("1", Band.BLOCK),
        ("1.000", Band.BLOCK),
    ],
)
def test_both_thresholds_belong_to_review(score: str, band: Band) -> None:
    assert decide(scores(hate=score), (), ONE).band is band


@pytest.mark.parametrize(
    ("low", "high", "score", "band"),
    [
        ("0", "0", "0", Band.REVIEW),
        ("0", "0", "0.001", Band.BLOCK),
        ("0", "1", "0", Band.REVIEW),
        ("0", "1", "1", Band.REVIEW),
        ("1", "1", "1", Band.REVIEW),
        ("1", "1", "0.999", Band.ALLOW),
        ("0.5", "0.5", "0.5", Band.REVIEW),
        ("0.5", "0.5", "0.49", Band.ALLOW),
        ("0.5", "0.5", "0.51", Band.BLOCK),
    ],
)
def test_thresholds_at_the_ends_and_on_one_another(
    low: str, high: str, score: str, band: Band
) -> None:
    narrow = policy({"hate": category(low, high)})
    assert decide(scores(hate=score), (), narrow).band is band


@pytest.mark.parametrize(
    ("labels", "band", "deciding"),
    [
        ({**SAFE, "violence": "0.96"}, Band.BLOCK, "violence"),
        ({**SAFE, "spam": "0.99", "terror": "0.5"}, Band.BLOCK, "spam"),
        ({**SAFE, "spam": "0.5", "violence": "0.4"}, Band.REVIEW, "violence"),
        ({**SAFE}, Band.ALLOW, "child_safety"),
    ],
)
def test_the_strictest_category_decides_and_not_an_average(
    labels: dict[str, str], band: Band, deciding: str
) -> None:
    banding = decide(scores(**labels), (), MIXED)
    assert (banding.band, banding.deciding) == (band, deciding)


@pytest.mark.parametrize(
    ("labels", "deciding"),
    [
        ({**SAFE, "violence": "0.5", "spam": "0.9"}, "violence"),  # severity before score
        ({**SAFE, "violence": "0.5", "hate": "0.6"}, "hate"),  # score before name
        ({**SAFE, "violence": "0.6", "hate": "0.5"}, "violence"),
        ({**SAFE, "violence": "0.5", "hate": "0.5"}, "hate"),  # name last
        ({**SAFE, "violence": "0.50", "hate": "0.5"}, "hate"),  # the same number, other digits
        ({**SAFE, "violence": "0.96", "hate": "0.97"}, "hate"),
    ],
)
def test_the_deciding_category_has_the_highest_severity_then_score_then_name(
    labels: dict[str, str], deciding: str
) -> None:
    banding = decide(scores(**labels), (), MIXED)
    assert banding.deciding == deciding
    assert banding.risk_score == Decimal(labels[deciding])


def test_scores_that_differ_in_the_fortieth_place_still_break_a_tie() -> None:
    nearly = "0.5000000000000000000000000000000000000001"
    banding = decide(scores(**{**SAFE, "violence": nearly, "hate": "0.5"}), (), MIXED)
    assert banding.deciding == "violence"


def test_a_missing_fail_closed_score_holds() -> None:
    banding = decide(scores(terror="0.01", violence="0", hate="0", spam="0"), (), MIXED)
    assert (banding.band, banding.outcome) == (Band.HELD, Outcome.HOLD)
    assert (banding.deciding, banding.risk_score) == ("child_safety", None)
    assert banding.missing == ("child_safety",)
    assert not banding.needs_person


def test_a_missing_fail_open_score_lets_pass_and_asks_for_a_rescore() -> None:
    banding = decide(scores(child_safety="0", terror="0", hate="0", spam="0"), (), MIXED)
    assert (banding.band, banding.outcome) == (Band.ALLOW, Outcome.ALLOW)
    assert banding.rescore == ("violence",)
    assert banding.deciding == "child_safety"
    assert "violence" in banding.warnings[0]


def test_a_score_that_no_scorer_should_give_is_not_missing() -> None:
    spare = policy({"hate": category(), "spam": category()}, covered=["hate"])
    banding = decide(scores(hate="0.1"), (), spare)
    assert (banding.band, banding.rescore) == (Band.ALLOW, ())
    assert [row.category for row in banding.rows] == ["hate"]


def test_a_fail_closed_category_holds_even_if_no_scorer_covers_it() -> None:
    hole = policy({"hate": category(), "terror": category(fail_closed=True)}, covered=["hate"])
    assert decide(scores(hate="0.1"), (), hole).band is Band.HELD


def test_while_scores_are_on_their_way_every_missing_one_holds() -> None:
    banding = decide({}, (), ONE, complete=False)
    assert (banding.band, banding.missing) == (Band.HELD, ("hate",))
    assert decide({}, (), ONE).band is Band.ALLOW


def test_an_unknown_category_holds_with_a_warning_that_does_not_repeat_it() -> None:
    banding = decide(scores(hate="0.1", made_up="0.2"), (), ONE)
    assert (banding.band, banding.deciding) == (Band.HELD, "made_up")
    assert banding.unknown == ("made_up",)
    assert banding.warnings == ("held: 1 categories unknown to test-1",)
    assert banding.rows[-1].band is Band.HELD


def test_among_unknown_categories_the_highest_score_then_the_name_decides() -> None:
    banding = decide(scores(hate="0.1", b="0.7", a="0.7", c="0.1"), (), ONE)
    assert banding.deciding == "a"


def test_a_missing_category_of_the_policy_decides_before_an_unknown_one() -> None:
    closed = policy({"terror": category(severity=0, fail_closed=True)})
    assert decide(scores(a="0.9"), (), closed).deciding == "terror"


def test_an_unknown_category_does_not_stop_a_block() -> None:
    banding = decide(scores(hate="0.99", made_up="0.2"), (), ONE)
    assert (banding.band, banding.unknown) == (Band.BLOCK, ("made_up",))


def test_a_rule_hit_is_a_score_of_one_by_rules() -> None:
    banding = decide(scores(hate="0.1"), (hit("hate", "slur_list"),), ONE)
    assert (banding.band, banding.actor) == (Band.BLOCK, Actor.RULES)
    assert banding.risk_score == 1
    assert banding.explanation["rules"] == ["slur_list"]


def test_a_rule_hit_elsewhere_leaves_the_model_the_actor() -> None:
    banding = decide(scores(**{**SAFE, "violence": "0.99"}), (hit("spam"),), MIXED)
    assert (banding.deciding, banding.actor) == ("violence", Actor.MODEL)


def test_a_rule_hit_stands_in_for_a_missing_score() -> None:
    banding = decide({}, (hit("terror"),), policy({"terror": category(fail_closed=True)}))
    assert (banding.band, banding.missing) == (Band.BLOCK, ())


def test_a_rule_hit_of_an_unknown_category_holds() -> None:
    assert decide(scores(hate="0.1"), (hit("made_up"),), ONE).band is Band.HELD


def test_a_rule_hit_where_nothing_may_be_blocked_goes_to_people() -> None:
    never = policy({"hate": category("0.2", "1")})
    assert decide({}, (hit("hate"),), never).band is Band.REVIEW


@pytest.mark.parametrize(
    ("labels", "band", "asks"),
    [
        ({**SAFE, "hate": "0.5"}, Band.REVIEW, True),
        ({"terror": "0", "hate": "0.5"}, Band.HELD, True),  # held, yet somebody looks
        ({"terror": "0", "hate": "0.1"}, Band.HELD, False),  # waits for its score alone
        ({**SAFE, "spam": "0.99", "hate": "0.5"}, Band.BLOCK, False),
        ({**SAFE, "spam": "0.99", "terror": "0.5"}, Band.BLOCK, True),  # fail-closed, triggered
        ({**SAFE, "spam": "0.99", "terror": "0.99"}, Band.BLOCK, False),
        ({"terror": "0", "spam": "0.99"}, Band.BLOCK, False),
        ({**SAFE}, Band.ALLOW, False),
    ],
)
def test_who_needs_a_person(labels: dict[str, str], band: Band, asks: bool) -> None:
    banding = decide(scores(**labels), (), MIXED)
    assert (banding.band, banding.needs_person) == (band, asks)


def test_an_item_ranks_by_the_deciding_category() -> None:
    assert decide(scores(**{**SAFE, "hate": "0.5", "spam": "0.9"}), (), MIXED).severity == 60


def test_a_blocked_content_ranks_by_the_fail_closed_category_that_asks() -> None:
    banding = decide(scores(**{**SAFE, "spam": "0.99", "terror": "0.5"}), (), MIXED)
    assert (banding.deciding, banding.severity) == ("spam", 90)


@pytest.mark.parametrize(
    ("band", "outcome"),
    [
        ("0.1", Outcome.ALLOW),
        ("0.5", Outcome.HOLD),
        ("0.99", Outcome.REMOVE),
    ],
)
def test_each_band_has_one_outcome(band: str, outcome: Outcome) -> None:
    assert decide(scores(hate=band), (), ONE).outcome is outcome


@pytest.mark.parametrize("score", ["NaN", "sNaN", "Infinity", "-Infinity", "1.0001", "-0.0001"])
@pytest.mark.parametrize("name", ["hate", "unknown"])
def test_what_is_no_score_never_gets_a_band(name: str, score: str) -> None:
    with pytest.raises(ValueError, match="score"):
        decide({name: Decimal(score)}, (), ONE)


def test_a_policy_without_scores_to_give_lets_pass_without_a_deciding_category() -> None:
    banding = decide({}, (), policy({"hate": category()}, covered=[]))
    assert (banding.band, banding.deciding, banding.rows) == (Band.ALLOW, None, ())
    assert banding.explanation["category"] is None
    assert banding.explanation["otherwise"] is None


def test_the_shipped_policy_holds_a_submission_without_fail_closed_scores() -> None:
    banding = decide(scores(violence="0.1", spam="0.99"), (), shipped("standard"))
    assert banding.band is Band.BLOCK
    banding = decide(scores(violence="0.1", spam="0.01"), (), shipped("standard"))
    assert (banding.band, banding.missing) == (Band.HELD, ("child_safety", "terror"))


def test_the_memory_of_findings_is_bounded_and_changes_no_answer() -> None:
    names = [f"c{n}" for n in range(14)]
    wide = policy({name: category() for name in names})
    for pattern in range(5_000):
        labels = {
            name: Decimal("0.5") if pattern >> place & 1 else Decimal(0)
            for place, name in enumerate(names)
        }
        banding = decide(labels, (), wide)
        assert banding.band is (Band.REVIEW if pattern else Band.ALLOW)
    assert len(wide.plan._findings) <= 4_096
