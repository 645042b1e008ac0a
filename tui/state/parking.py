"""The form by which an item is set aside: why, until when, and what the producer is asked. Pure.

A digit for the reason, a digit for the time; a date and a question are typed. The same guard as in
the list of reasons stands before the digits, so that a paste parks nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum, unique

from shared.vocabulary import ParkReason
from tui.state.hand import BURST_SECONDS

REASONS = (
    (ParkReason.AWAIT_PRODUCER, "I have a question for the producer"),
    (ParkReason.AWAIT_EVIDENCE, "New evidence is on its way"),
    (ParkReason.AWAIT_DATE, "It can only be decided later"),
)
TIMES = (
    "in 1 hour",
    "tomorrow at 9:00",
    "in 3 days",
    "in a week",
    "until there is new evidence",
    "at a time that I type",
)
MORNING = 9
_NEW_EVIDENCE, _TYPED = 4, 5
_DAY = re.compile(
    r"(?:(?P<day>\d{4}-\d{1,2}-\d{1,2})(?:[ t]+|$))?(?:(?P<hour>\d{1,2}):(?P<minute>\d{2}))?"
)
_SPAN = re.compile(r"\+?\s*(\d{1,4})\s*([mhdw])")


@unique
class Step(StrEnum):
    """What is asked at the moment."""

    REASON = "reason"
    UNTIL = "until"
    DATE = "date"
    QUESTION = "question"


TYPED_STEPS = (Step.DATE, Step.QUESTION)


@dataclass(frozen=True, slots=True)
class Meant:
    """A parking that was asked for; `until` None: until there is new evidence."""

    reason: ParkReason
    until: datetime | None
    question: str | None = None


@dataclass(frozen=True, slots=True)
class Form:
    """How far the form is filled; `words` says what was wrong with the last answer."""

    opened_at: float
    step: Step = Step.REASON
    reason: ParkReason = ParkReason.AWAIT_DATE
    until: datetime | None = None
    until_words: str = ""
    words: str = ""
    last_key_at: float = float("-inf")


def press(form: Form, key: str, at: float, today: datetime) -> tuple[Form | None, Meant | None]:
    """Return the form after a key, None once it is left, and the parking that it completed."""
    before, form = form.last_key_at, replace(form, last_key_at=at)
    if at - form.opened_at < BURST_SECONDS or at - before < BURST_SECONDS:
        return form, None
    if key in ("escape", "q"):
        return back(form, at), None
    if not (key.isdigit() and key.isascii()):
        return form, None
    place = int(key) - 1
    if form.step is Step.REASON and 0 <= place < len(REASONS):
        return replace(form, step=Step.UNTIL, reason=REASONS[place][0], opened_at=at), None
    if form.step is Step.UNTIL and 0 <= place < len(TIMES):
        return _timed(form, place, at, today)
    return form, None


def back(form: Form, at: float) -> Form | None:
    """Return the form one step earlier, None before the first."""
    if form.step is Step.REASON:
        return None
    earlier = Step.REASON if form.step is Step.UNTIL else Step.UNTIL
    return replace(form, step=earlier, opened_at=at, words="")


def typed(form: Form, text: str, today: datetime, at: float) -> tuple[Form, Meant | None]:
    """Return the form after a typed answer, and the parking that it completed."""
    if form.step is Step.QUESTION:
        if not text:
            return replace(form, words="The producer needs a question to answer."), None
        return form, Meant(form.reason, form.until, text)
    until = read_time(text, today)
    if until is None:
        return replace(form, words="Not a time: 2026-12-24 14:00, 14:00, 3d, 2h"), None
    if until <= today:
        return replace(form, words="That time is over."), None
    return _onwards(replace(form, until=until, until_words="until the time you typed"), at)


def _timed(form: Form, place: int, at: float, today: datetime) -> tuple[Form, Meant | None]:
    if place == _TYPED:
        return replace(form, step=Step.DATE, opened_at=at, words=""), None
    until = None if place == _NEW_EVIDENCE else preset(place, today)
    return _onwards(replace(form, until=until, until_words=TIMES[place]), at)


def _onwards(form: Form, at: float) -> tuple[Form, Meant | None]:
    """Ask the producer, where that is the reason; else the form is complete."""
    if form.reason is ParkReason.AWAIT_PRODUCER:
        return replace(form, step=Step.QUESTION, opened_at=at, words=""), None
    return form, Meant(form.reason, form.until)


def preset(place: int, today: datetime) -> datetime:
    """Return the moment that one of `TIMES` stands for."""
    if place == 0:
        return today + timedelta(hours=1)
    if place == 1:
        return _on_the_wall(today, days=1, hour=MORNING)
    return _on_the_wall(today, days=3 if place == 2 else 7)  # noqa: PLR2004  (the place in TIMES)


def read_time(text: str, today: datetime) -> datetime | None:
    """Return the moment that a person wrote, on this machine's wall; None for what is none.

    `2026-12-24`, `2026-12-24 14:00`, `14:00` (the next one), `3d`, `2h`, `1w`.
    """
    text = text.strip().lower()
    try:
        if (span := _SPAN.fullmatch(text)) is not None:
            return _after(today, int(span[1]), span[2])
        found = _DAY.fullmatch(text)
        return _written(found, today) if text and found is not None else None
    except (ValueError, OverflowError):
        return None


def _after(today: datetime, number: int, unit: str) -> datetime:
    if unit in "mh":
        return today + timedelta(minutes=number * (60 if unit == "h" else 1))
    return _on_the_wall(today, days=number * (7 if unit == "w" else 1))


def _written(found: re.Match[str], today: datetime) -> datetime:
    hour, minute = int(found["hour"] or MORNING), int(found["minute"] or 0)
    if found["day"] is not None:
        year, month, day = (int(part) for part in found["day"].split("-"))
        return datetime(year, month, day, hour, minute).astimezone()
    moment = _on_the_wall(today, hour=hour, minute=minute)
    return moment if moment > today else _on_the_wall(today, days=1, hour=hour, minute=minute)


def _on_the_wall(
    today: datetime, days: int = 0, hour: int | None = None, minute: int = 0
) -> datetime:
    """Return a time of day some days later, as the wall shows it then: summer time may change."""
    wall = today.replace(tzinfo=None) + timedelta(days=days)
    if hour is not None:
        wall = wall.replace(hour=hour, minute=minute, second=0, microsecond=0)
    return wall.astimezone()
