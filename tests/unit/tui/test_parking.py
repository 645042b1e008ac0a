"""The form by which an item is parked, and the times that people write."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest

from shared.vocabulary import ParkReason
from tui.state.parking import Form, Meant, Step, back, press, read_time, typed


@pytest.fixture(autouse=True)
def lisbon(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the wall hang where summer time ends on 25 October 2026."""
    monkeypatch.setenv("TZ", "Europe/Lisbon")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def wall(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone()


def filled(*keys: str, gap: float = 0.1) -> tuple[Form | None, Meant | None]:
    form: Form | None = Form(opened_at=0.0)
    meant, at = None, 0.0
    for key in keys:
        at += gap
        assert form is not None
        form, meant = press(form, key, at, wall("2026-12-01 15:30"))
    return form, meant


@pytest.mark.parametrize(
    ("key", "until"),
    [
        ("1", "2026-12-01 16:30"),
        ("2", "2026-12-02 09:00"),
        ("3", "2026-12-04 15:30"),
        ("4", "2026-12-08 15:30"),
        ("5", None),
    ],
)
def test_two_digits_park_until_a_time_or_new_evidence(key: str, until: str | None) -> None:
    _, meant = filled("3", key)
    assert meant == Meant(ParkReason.AWAIT_DATE, wall(until) if until else None)


def test_a_question_is_asked_where_the_producer_is_waited_for_and_it_must_say_something() -> None:
    form, meant = filled("1", "2")
    assert meant is None
    assert form is not None
    assert form.step is Step.QUESTION
    form, meant = typed(form, "", wall("2026-12-01 15:30"), 1.0)
    assert meant is None
    assert "needs a question" in form.words
    _, meant = typed(form, "Which page is the stamp on?", wall("2026-12-01 15:30"), 2.0)
    assert meant == Meant(
        ParkReason.AWAIT_PRODUCER, wall("2026-12-02 09:00"), "Which page is the stamp on?"
    )


def test_a_paste_and_a_held_key_park_nothing() -> None:
    form, meant = filled("3", "5", gap=0.001)
    assert meant is None
    assert form is not None
    assert form.step is Step.REASON
    form, meant = filled("3", "5", gap=0.049)
    assert meant is None


def test_escape_goes_a_step_back_and_then_out() -> None:
    form, _ = filled("1", "2")
    assert form is not None
    assert (form := back(form, 1.0)) is not None
    assert form.step is Step.UNTIL
    assert (form := back(form, 1.0)) is not None
    assert form.step is Step.REASON
    assert back(form, 1.0) is None
    assert filled("1", "escape", "escape")[0] is None


@pytest.mark.parametrize("keys", [("9",), ("0",), ("4",), ("3", "7"), ("3", "0"), ("²",), ("a",)])
def test_a_key_that_is_not_offered_does_nothing(keys: tuple[str, ...]) -> None:
    form, meant = filled(*keys)
    assert form is not None
    assert meant is None


@pytest.mark.parametrize(
    ("text", "until"),
    [
        ("2026-12-24", "2026-12-24 09:00"),
        (" 2026-12-24  14:05 ", "2026-12-24 14:05"),
        ("2026-12-24T14:05", "2026-12-24 14:05"),
        ("16:00", "2026-12-01 16:00"),
        ("9:15", "2026-12-02 09:15"),
        ("+3d", "2026-12-04 15:30"),
        ("2h", "2026-12-01 17:30"),
        ("90m", "2026-12-01 17:00"),
        ("1w", "2026-12-08 15:30"),
        ("", None),
        ("soon", None),
        ("2026-02-30", None),
        ("25:00", None),
        ("2026-12-24 14", None),
        ("9999d", "2054-04-17 15:30"),
        ("0000-01-01", None),
    ],
)
def test_times_are_read_as_people_write_them(text: str, until: str | None) -> None:
    read = read_time(text, wall("2026-12-01 15:30"))
    if until is None:
        assert read is None
    else:
        assert read is not None
        assert read.replace(tzinfo=None) == datetime.fromisoformat(until)


def test_a_time_that_is_over_or_none_is_said_and_asked_again() -> None:
    form, _ = filled("3", "6")
    assert form is not None
    assert form.step is Step.DATE
    today = wall("2026-12-01 15:30")
    assert "That time is over" in typed(form, "2026-11-01", today, 1.0)[0].words
    assert "Not a time" in typed(form, "soon", today, 1.0)[0].words
    assert typed(form, "3d", today, 1.0)[1] == Meant(
        ParkReason.AWAIT_DATE, wall("2026-12-04 15:30")
    )


def test_a_day_is_a_day_on_the_wall_and_an_hour_an_hour_when_summer_time_ends() -> None:
    saturday = wall("2026-10-24 15:30")
    day = read_time("1d", saturday)
    assert day is not None
    assert day.replace(tzinfo=None) == datetime.fromisoformat("2026-10-25 15:30")
    assert day - saturday == timedelta(hours=25)
    night = wall("2026-10-25 00:30")
    two = read_time("2h", night)
    assert two is not None
    assert two - night == timedelta(hours=2)
