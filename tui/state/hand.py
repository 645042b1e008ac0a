"""The hand over the keyboard: which keys become a verdict, and which are an accident.

A verdict is a letter and then a digit. Two guards stand before it: for 400 ms after a new item
is painted no letter counts, so that typing ahead never decides an item nobody has seen; and in the
picker a key counts only if 50 ms have passed since it opened and since the key before it, so that
a paste decides nothing. A verdict that contradicts the evidence wants enter as well.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from shared.vocabulary import ReleaseReason, Verdict

ARM_SECONDS = 0.4
BURST_SECONDS = 0.05
SKIP = "skip"
"""The subject of the picker that gives an item back."""
_TOO_FAST = "Came too fast: press the digit again."


@dataclass(frozen=True, slots=True)
class Choice:
    """One reason in the picker; `marked` if it speaks of the category that decided."""

    code: str
    title: str
    marked: bool = False


@dataclass(frozen=True, slots=True)
class Offer:
    """One letter of the verdict bar: what it means, and the reasons it admits.

    `conflict` names what the verdict would contradict, or is empty.
    """

    letter: str
    subject: Verdict | str
    choices: tuple[Choice, ...]
    conflict: str = ""


@dataclass(frozen=True, slots=True)
class Picker:
    """The open list of reasons."""

    offer: Offer
    opened_at: float
    highlight: int | None = None
    chosen: int | None = None
    """The reason that waits for enter, when the verdict contradicts the evidence."""


@dataclass(frozen=True, slots=True)
class Send:
    """A verdict was meant."""

    verdict: Verdict
    reason: str


@dataclass(frozen=True, slots=True)
class Skip:
    """Giving the item back was meant."""

    reason: ReleaseReason


@dataclass(frozen=True, slots=True)
class Hand:
    """What the keys mean at the moment; times in seconds of the clock that stamps the keys."""

    offers: tuple[Offer, ...]
    armed_at: float
    last_key_at: float = float("-inf")
    picker: Picker | None = None
    missed: str = ""
    """What to say of the last key, if it meant something and did not count."""

    def armed(self, now: float) -> bool:
        """Tell whether verdict letters count yet."""
        return now >= self.armed_at

    def offer(self, letter: str) -> Offer | None:
        """Return what `letter` offers here, if anything."""
        return next((offer for offer in self.offers if offer.letter == letter), None)


def painted(offers: tuple[Offer, ...], now: float) -> Hand:
    """Return the hand for an item that has just been painted."""
    return Hand(offers=offers, armed_at=now + ARM_SECONDS)


def press(hand: Hand, key: str, now: float) -> tuple[Hand, Send | Skip | None]:
    """Return the hand after `key`, and the verdict or skip that it completed, if it did."""
    before, hand = hand.last_key_at, replace(hand, last_key_at=now, missed="")
    if hand.picker is None:
        return _open(hand, key, now), None
    if now - hand.picker.opened_at < BURST_SECONDS or now - before < BURST_SECONDS:
        return replace(hand, missed=_TOO_FAST if key.isdigit() else ""), None
    return _pick(hand, hand.picker, key, now)


def _open(hand: Hand, key: str, now: float) -> Hand:
    offer = hand.offer(key)
    if offer is None:
        return hand
    if not hand.armed(now):
        return replace(hand, missed=f"Too soon after the item came: press {key} again.")
    return replace(hand, picker=Picker(offer, opened_at=now))


def _pick(hand: Hand, picker: Picker, key: str, now: float) -> tuple[Hand, Send | Skip | None]:
    if key in ("escape", "q"):
        return replace(hand, picker=None), None
    if hand.offer(key) is not None:
        return _open(hand, key, now), None
    if key == "enter":
        return _confirm(hand, picker)
    if key in ("up", "down", "j", "k"):
        step = 1 if key in ("down", "j") else -1
        return replace(hand, picker=_moved(picker, step)), None
    if key.isdigit() and 1 <= int(key) <= min(9, len(picker.offer.choices)):
        return _choose(hand, picker, int(key) - 1)
    return hand, None


def _moved(picker: Picker, step: int) -> Picker:
    last = len(picker.offer.choices) - 1
    if last < 0:
        return picker
    start = -1 if step > 0 else last + 1
    at = start if picker.highlight is None else picker.highlight
    return replace(picker, highlight=min(max(at + step, 0), last), chosen=None)


def _choose(hand: Hand, picker: Picker, place: int) -> tuple[Hand, Send | Skip | None]:
    if picker.offer.conflict:
        return replace(hand, picker=replace(picker, chosen=place, highlight=None)), None
    return replace(hand, picker=None), _act(picker.offer, place)


def _confirm(hand: Hand, picker: Picker) -> tuple[Hand, Send | Skip | None]:
    """Enter sends what was chosen, or what the highlight was moved to; never anything else."""
    place = picker.chosen if picker.chosen is not None else picker.highlight
    if place is None:
        return hand, None
    return replace(hand, picker=None), _act(picker.offer, place)


def _act(offer: Offer, place: int) -> Send | Skip:
    code = offer.choices[place].code
    if isinstance(offer.subject, Verdict):
        return Send(offer.subject, code)
    return Skip(ReleaseReason(code))
