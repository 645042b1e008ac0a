"""The countdown counts elapsed time from the server's own figure, and lapses without being lost."""

from __future__ import annotations

import pytest

from tui.state.countdown import Countdown, Renewal, Stage, clock_words, from_answer


@pytest.mark.parametrize(
    ("left", "stage"),
    [(180, Stage.CALM), (91, Stage.CALM), (90, Stage.SOON), (36, Stage.SOON), (35, Stage.URGENT),
     (1, Stage.URGENT), (0, Stage.LAPSED), (-41, Stage.LAPSED)],
)  # fmt: skip
def test_the_stage_follows_the_share_that_is_left(left: int, stage: Stage) -> None:
    assert Countdown(deadline=1000, ttl=180).stage(1000 - left) is stage


def test_half_of_the_round_trip_has_passed_when_the_answer_arrives() -> None:
    countdown = from_answer(expires_in_ms=10_000, ttl_ms=180_000, sent=50.0, received=52.0)
    assert countdown.left(52.0) == 9.0


def test_a_lapsed_lease_still_counts_upwards() -> None:
    countdown = from_answer(expires_in_ms=-41_000, ttl_ms=180_000, sent=5, received=5)
    assert countdown.stage(5) is Stage.LAPSED
    assert clock_words(countdown.left(5)) == "+0:41"
    assert countdown.share(5) == 0.0


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(134, "2:14"), (9.9, "0:09"), (0, "0:00"), (-41, "+0:41"), (3723, "1:02:03")],
)
def test_time_reads_as_a_clock(seconds: float, words: str) -> None:
    assert clock_words(seconds) == words


LEASE = Countdown(deadline=180, ttl=180)


def test_a_lease_is_renewed_only_after_real_input() -> None:
    untouched = Renewal(renewed_at=0)
    assert not untouched.due(LEASE, 120)
    assert untouched.touched(119).due(LEASE, 120)


def test_a_lease_is_not_renewed_while_more_than_half_is_left() -> None:
    assert not Renewal(renewed_at=0).touched(50).due(LEASE, 60)


def test_a_lease_is_renewed_at_most_once_in_a_quarter_of_its_time() -> None:
    fresh = Renewal(renewed_at=100).touched(110)
    assert not fresh.due(LEASE, 140)
    assert fresh.due(LEASE, 145)


def test_a_capped_or_lapsed_lease_is_not_renewed_by_itself() -> None:
    assert not Renewal(renewed_at=0, capped=True).touched(119).due(LEASE, 120)
    assert not Renewal(renewed_at=0).touched(190).due(LEASE, 200)


def test_old_input_does_not_renew_twice() -> None:
    assert not Renewal(renewed_at=0).touched(100).renewed(101, capped=False).due(LEASE, 170)
