"""The stored rank orders as the live priority does, and no input can break it."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.rank import (
    EPOCH,
    MAX_FOLLOWERS,
    Weights,
    base,
    minutes,
    rank,
)

SHIPPED = Weights()
severities = st.integers(0, 1000)
followers = st.one_of(st.integers(0, MAX_FOLLOWERS), st.integers(0, 10**8))
queued = st.floats(3e6, 1e7)  # minutes since 2020: from 2025 to 2039
waited = st.floats(0, 1e6)


def exact(severity: int, reach: int, enqueued: float, now: Fraction) -> Decimal:
    """The founding formula to fifty digits."""
    with localcontext() as context:
        context.prec = 50
        age = now - Fraction(enqueued)
        aged = Decimal(age.numerator) / Decimal(age.denominator)
        return severity * 10 + Decimal(1 + reach).log10() + aged / 2


def stored_rank(severity: int, reach: int, enqueued: float) -> float:
    return rank(base(severity, reach, SHIPPED), enqueued, SHIPPED)


items = st.tuples(severities, followers, queued)


@given(items, items, waited)
def test_the_stored_rank_orders_as_the_live_priority_does(
    one: tuple[int, int, float], two: tuple[int, int, float], later: float
) -> None:
    now = Fraction(max(one[2], two[2])) + Fraction(later)
    live = exact(*one, now) - exact(*two, now)
    stored = stored_rank(*one) - stored_rank(*two)
    if abs(live) > Decimal("1e-8"):  # beyond what a float8 of this size tells apart
        assert (live > 0) == (stored > 0)


def test_ten_million_followers_are_worth_twelve_minutes_over_ten() -> None:
    gain = base(60, 10**7, SHIPPED) - base(60, 10, SHIPPED)
    assert round(gain / SHIPPED.age_per_minute) == 12


def test_a_step_of_severity_is_worth_twenty_minutes() -> None:
    gain = base(61, 0, SHIPPED) - base(60, 0, SHIPPED)
    assert gain / SHIPPED.age_per_minute == 20


@pytest.mark.parametrize(
    ("reach", "exposure"),
    [(0, 0.0), (9, 1.0), (99, 2.0), (10**18 - 1, 18.0), (MAX_FOLLOWERS, math.log10(2.0**63))],
)
def test_exposure_is_the_logarithm_of_one_more_than_the_followers(
    reach: int, exposure: float
) -> None:
    assert base(0, reach, SHIPPED) == pytest.approx(exposure)


@pytest.mark.parametrize("reach", [-1, -(2**63), MAX_FOLLOWERS + 1, 10**400])
def test_followers_that_no_account_has_are_refused(reach: int) -> None:
    with pytest.raises(ValueError, match="followers"):
        base(0, reach, SHIPPED)


@given(severities, followers, st.integers(-(10**7), 10**8))
def test_a_rank_is_always_a_finite_number(severity: int, reach: int, at: int) -> None:
    assert math.isfinite(rank(base(severity, reach, SHIPPED), at, SHIPPED))


def test_weights_belong_to_the_policy() -> None:
    flat = Weights(severity=1, exposure=0, age_per_minute=2)
    assert rank(base(7, 10**6, flat), 3, flat) == 1.0


def test_minutes_count_from_the_epoch() -> None:
    assert minutes(EPOCH) == 0
    assert minutes(EPOCH + timedelta(seconds=90)) == 1.5
    assert minutes(datetime(2019, 12, 31, 23, 59, tzinfo=UTC)) == -1


def test_an_item_passes_an_older_one_only_within_twice_the_difference_in_base() -> None:
    old, new = base(5, 0, SHIPPED), base(100, 10**9, SHIPPED)
    bound = 2 * (new - old)
    assert rank(new, bound - 1, SHIPPED) > rank(old, 0, SHIPPED) > rank(new, bound + 1, SHIPPED)
    assert bound <= 32 * 60
