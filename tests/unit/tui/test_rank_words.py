"""The arithmetic on screen is that of the policy which ranked the item."""

from __future__ import annotations

from shared.wire.queue import RankWeights
from tests.tui import samples
from tui.widgets.evidence import rank_words


def test_the_priority_is_the_sum_of_what_is_shown() -> None:
    lease = samples.lease(samples.kyc(), severity=60, base=602.0, author_followers=99, waited_ms=0)
    assert rank_words(lease) == "priority 602.0 = 60×10 severity + 2.0 followers + 0.0 waiting"


def test_a_boost_is_shown_as_such() -> None:
    lease = samples.lease(samples.kyc(), severity=60, base=610.0, author_followers=0, waited_ms=0)
    assert rank_words(lease).endswith("+ 0.0 waiting + 10.0 escalation")


def test_the_weights_are_those_of_the_policy() -> None:
    weights = RankWeights(severity=2, exposure=3, age_per_minute=1)
    lease = samples.lease(
        samples.kyc(), severity=60, base=126.0, author_followers=99, waited_ms=60_000,
        weights=weights,
    )  # fmt: skip
    assert rank_words(lease) == "priority 127.0 = 60×2 severity + 6.0 followers + 1.0 waiting"
