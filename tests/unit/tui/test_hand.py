"""Letter and digit decide; bursts, pastes and typing ahead do not."""

from __future__ import annotations

import random

import pytest

from shared.vocabulary import ReleaseReason, Verdict
from tui.state.hand import Choice, Hand, Offer, Send, Skip, painted, press
from tui.state.offers import SKIP_CHOICES

REASONS = tuple(Choice(f"reason_{n}", f"Reason {n}") for n in range(1, 12))
OFFERS = (
    Offer("a", Verdict.APPROVE, REASONS[:3]),
    Offer("r", Verdict.REJECT, REASONS),
    Offer("e", Verdict.ESCALATE, REASONS[:2]),
    Offer("s", "skip", SKIP_CHOICES),
)
AGAINST = (Offer("a", Verdict.APPROVE, REASONS[:3], conflict="the rule kw fired"),)


def typed(hand: Hand, keys: str, start: float, gap: float) -> tuple[Hand, list[Send | Skip]]:
    acts: list[Send | Skip] = []
    for place, key in enumerate(keys):
        name = {"\n": "enter", "v": "down", "~": "escape"}.get(key, key)
        hand, act = press(hand, name, start + place * gap)
        if act is not None:
            acts.append(act)
    return hand, acts


def test_a_letter_and_a_digit_are_a_verdict() -> None:
    _, acts = typed(painted(OFFERS, 0), "r2", 1.0, 0.06)
    assert acts == [Send(Verdict.REJECT, "reason_2")]


def test_skip_gives_back_with_its_reason() -> None:
    _, acts = typed(painted(OFFERS, 0), "s6", 1.0, 0.1)
    assert acts == [Skip(ReleaseReason.DISTRESS)]


def test_no_letter_counts_for_400_ms_after_an_item_is_painted() -> None:
    _, acts = typed(painted(OFFERS, 10.0), "r", 10.39, 1)
    assert not acts
    assert typed(painted(OFFERS, 10.0), "r", 10.39, 1)[0].picker is None
    assert typed(painted(OFFERS, 10.0), "r", 10.41, 1)[0].picker is not None


def test_keys_typed_before_the_item_was_painted_decide_nothing() -> None:
    _, acts = typed(painted(OFFERS, 10.0), "r1r1a1", 9.0, 0.2)
    assert not acts


@pytest.mark.parametrize(("gap", "count"), [(0.020, 0), (0.049, 0), (0.060, 1)])
def test_a_digit_within_50_ms_of_the_key_before_it_is_dropped(gap: float, count: int) -> None:
    _, acts = typed(painted(OFFERS, 0), "r1", 1.0, gap)
    assert len(acts) == count


def test_a_paste_decides_nothing() -> None:
    _, acts = typed(painted(OFFERS, 0), "great r1 a1 ", 1.0, 0.001)
    assert not acts


def test_ten_thousand_random_keys_at_burst_speed_decide_nothing() -> None:
    dice = random.Random(7)
    hand, now, opened = painted(OFFERS, 0), 1.0, 0
    for _ in range(10_000):
        now += dice.uniform(0, 0.030)
        hand, act = press(hand, dice.choice("arlesq123456789\n"), now)
        opened += hand.picker is not None
        assert act is None
    assert opened > 1000


def test_the_same_keys_at_a_human_pace_do_decide() -> None:
    dice = random.Random(7)
    hand, now, acts = painted(OFFERS, 0), 1.0, 0
    for _ in range(1000):
        now += dice.uniform(0.06, 0.3)
        hand, act = press(hand, dice.choice("arles123456789"), now)
        acts += act is not None
    assert acts > 100


def test_digits_mean_nothing_outside_the_picker() -> None:
    hand, acts = typed(painted(OFFERS, 0), "1234", 1.0, 0.2)
    assert not acts
    assert hand.picker is None


def test_a_held_letter_is_harmless() -> None:
    hand, acts = typed(painted(OFFERS, 0), "rrrrrrrr", 1.0, 0.06)
    assert not acts
    assert hand.picker is not None


def test_another_letter_in_the_picker_changes_the_verdict() -> None:
    _, acts = typed(painted(OFFERS, 0), "re1", 1.0, 0.1)
    assert acts == [Send(Verdict.ESCALATE, "reason_1")]


def test_enter_sends_nothing_until_the_highlight_was_moved() -> None:
    assert typed(painted(OFFERS, 0), "r\n", 1.0, 0.1)[1] == []
    assert typed(painted(OFFERS, 0), "rvv\n", 1.0, 0.1)[1] == [Send(Verdict.REJECT, "reason_2")]


def test_reasons_beyond_nine_are_reached_by_moving() -> None:
    keys = "r" + "v" * 11 + "\n"
    assert typed(painted(OFFERS, 0), keys, 1.0, 0.1)[1] == [Send(Verdict.REJECT, "reason_11")]


def test_a_digit_beyond_the_list_is_ignored() -> None:
    hand, acts = typed(painted(OFFERS, 0), "e9", 1.0, 0.1)
    assert not acts
    assert hand.picker is not None


def test_a_contradiction_wants_enter_after_the_digit() -> None:
    hand, acts = typed(painted(AGAINST, 0), "a1", 1.0, 0.1)
    assert not acts
    assert hand.picker is not None
    assert hand.picker.chosen == 0
    assert typed(painted(AGAINST, 0), "a1\n", 1.0, 0.1)[1] == [Send(Verdict.APPROVE, "reason_1")]
    assert typed(painted(AGAINST, 0), "a1~", 1.0, 0.1)[0].picker is None


def test_escape_closes_the_picker() -> None:
    hand, acts = typed(painted(OFFERS, 0), "r~1", 1.0, 0.1)
    assert not acts
    assert hand.picker is None


def test_a_letter_or_a_digit_that_did_not_count_is_said_and_nothing_else_is() -> None:
    hand, _ = press(painted(OFFERS, 0.0), "r", 0.2)
    assert hand.missed == "Too soon after the item came: press r again."
    assert hand.picker is None
    hand, _ = press(hand, "r", 0.5)
    assert not hand.missed
    hand, act = press(hand, "1", 0.52)
    assert (hand.missed, act) == ("Came too fast: press the digit again.", None)
    hand, _ = press(hand, "j", 0.54)
    assert not hand.missed
    hand, act = press(hand, "1", 0.7)
    assert (hand.missed, act) == ("", Send(Verdict.REJECT, "reason_1"))


def test_a_key_that_means_nothing_is_never_said_to_have_come_too_soon() -> None:
    hand, _ = press(painted(OFFERS, 0.0), "j", 0.1)
    assert not hand.missed
