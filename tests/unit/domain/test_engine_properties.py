"""The engine against a plain reading of its rules, for any policy and any scores."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from backend.domain.engine import decide
from backend.domain.model import RuleHit
from backend.domain.policy import Policy
from shared.canonical import canonical_bytes
from shared.vocabulary import Actor, Band
from tests.unit.domain.build import category, hit, policy

NAMES = ("alpha", "beta", "delta", "gamma", "omega")
STRICT = {Band.ALLOW: 0, Band.REVIEW: 1, Band.HELD: 2, Band.BLOCK: 3}

decimals = st.one_of(
    st.sampled_from(["0", "0.2", "0.20", "0.5", "0.95", "1", "1.0", "0.19999", "0.95001"]),
    st.integers(0, 10**6).map(lambda n: str(Decimal(n).scaleb(-6))),
).map(Decimal)


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    names = draw(st.lists(st.sampled_from(NAMES), unique=True, min_size=1))
    categories = {}
    for name in names:
        low, high = sorted([draw(decimals), draw(decimals)])
        categories[name] = category(
            str(low),
            str(high),
            severity=draw(st.sampled_from([0, 5, 60, 60, 90])),
            fail_closed=draw(st.booleans()),
        )
    covered = draw(st.lists(st.sampled_from(names), unique=True))
    return policy(categories, covered)


labels = st.dictionaries(st.sampled_from([*NAMES, "unknown", "foreign"]), decimals)
hits = st.lists(st.sampled_from([*NAMES, "strange"]).map(hit), max_size=2)


class Row(NamedTuple):
    """One category as a plain reading of the rules has it."""

    band: Band
    severity: int
    score: Fraction | None
    name: str
    fail_closed: bool


def plain_rows(
    given_labels: dict[str, Decimal], fired: list[RuleHit], under: Policy, complete: bool
) -> Iterator[Row]:
    scored = {name: Fraction(score) for name, score in given_labels.items()}
    scored |= {rule.category: Fraction(1) for rule in fired}
    for name, score in scored.items():
        known = under.categories.get(name)
        if known is None:
            yield Row(Band.HELD, -1, score, name, False)
            continue
        band = Band.REVIEW
        if score < Fraction(known.low):
            band = Band.ALLOW
        if score > Fraction(known.high):
            band = Band.BLOCK
        yield Row(band, known.severity, score, name, known.fail_closed)
    expected = {name for scorer in under.scorers.values() for name in scorer.categories}
    for name, known in under.categories.items():
        if name in scored or not (name in expected or known.fail_closed):
            continue
        held = known.fail_closed or not complete
        yield Row(Band.HELD if held else Band.ALLOW, known.severity, None, name, known.fail_closed)


def plain_deciding(rows: list[Row]) -> Row | None:
    """Return the deciding row; a row without a score never decides an ALLOW that has scores."""
    if not rows:
        return None
    strictest = max(STRICT[row.band] for row in rows)
    among = [row for row in rows if STRICT[row.band] == strictest]
    if strictest == 0:
        among = [row for row in among if row.score is not None] or among
    severity = max(row.severity for row in among)
    among = [row for row in among if row.severity == severity]
    top = max(row.score if row.score is not None else Fraction(-1) for row in among)
    among = [row for row in among if (row.score if row.score is not None else -1) == top]
    return min(among, key=lambda row: row.name)


def plain_needs_person(rows: list[Row]) -> bool:
    blocked = any(row.band is Band.BLOCK for row in rows)
    unsure = [row for row in rows if row.band is Band.REVIEW]
    return any(row.fail_closed for row in unsure) if blocked else bool(unsure)


@settings(max_examples=600)
@given(policies(), labels, hits, st.booleans())
def test_the_engine_says_what_a_plain_reading_says(
    under: Policy, given_labels: dict[str, Decimal], fired: list[RuleHit], complete: bool
) -> None:
    banding = decide(given_labels, fired, under, complete=complete)
    rows = list(plain_rows(given_labels, fired, under, complete))
    deciding = plain_deciding(rows)

    assert banding.needs_person == plain_needs_person(rows)
    assert {(row.category, row.band) for row in banding.rows} == {
        (row.name, row.band) for row in rows
    }
    if deciding is None:
        assert (banding.band, banding.deciding) == (Band.ALLOW, None)
        return
    assert (banding.band, banding.deciding) == (deciding.band, deciding.name)
    assert banding.risk_score == deciding.score
    by_rule = deciding.name in {rule.category for rule in fired}
    assert banding.actor is (Actor.RULES if by_rule else Actor.MODEL)


@given(policies(), labels, hits, st.booleans())
def test_otherwise_is_what_decides_when_the_deciding_category_is_not_asked(
    under: Policy, given_labels: dict[str, Decimal], fired: list[RuleHit], complete: bool
) -> None:
    banding = decide(given_labels, fired, under, complete=complete)
    rows = list(plain_rows(given_labels, fired, under, complete))
    other = plain_deciding([row for row in rows if row.name != banding.deciding])
    told = banding.explanation["otherwise"]
    assert told == (None if other is None else {"band": other.band, "category": other.name})


@given(policies(), labels, hits)
def test_every_explanation_has_canonical_bytes(
    under: Policy, given_labels: dict[str, Decimal], fired: list[RuleHit]
) -> None:
    assert canonical_bytes(decide(given_labels, fired, under).explanation)


@given(policies(), labels, st.sampled_from(NAMES), decimals, decimals)
def test_a_higher_score_never_makes_the_band_milder(
    under: Policy, given_labels: dict[str, Decimal], name: str, one: Decimal, two: Decimal
) -> None:
    low, high = sorted([one, two])
    milder = decide({**given_labels, name: low}, (), under).band
    stricter = decide({**given_labels, name: high}, (), under).band
    assert STRICT[milder] <= STRICT[stricter]


@given(policies(), labels, hits)
def test_nothing_fail_closed_is_let_pass_without_a_score(
    under: Policy, given_labels: dict[str, Decimal], fired: list[RuleHit]
) -> None:
    banding = decide(given_labels, fired, under)
    scored = given_labels.keys() | {rule.category for rule in fired}
    unscored = [n for n, c in under.categories.items() if c.fail_closed and n not in scored]
    assert not unscored or banding.band in (Band.HELD, Band.BLOCK)


@given(policies(), labels, hits, st.randoms())
def test_the_order_of_labels_changes_nothing(
    under: Policy, given_labels: dict[str, Decimal], fired: list[RuleHit], chance: object
) -> None:
    names = list(given_labels)
    chance.shuffle(names)  # type: ignore[attr-defined]
    other = decide({name: given_labels[name] for name in names}, fired, under)
    assert other.explanation == decide(given_labels, fired, under).explanation
