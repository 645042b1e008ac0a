"""One word for one thing, and plain ones."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from msgspec.structs import replace

from tests.tui import samples
from tests.tui.drive import Clock, application, decide, press, review, running, shown
from tests.tui.fake_server import FakeServer

POST = samples.evidence()
CASE = samples.kyc()


async def test_the_bar_and_the_list_of_reasons_call_it_skip(folder: Path) -> None:
    app = application(FakeServer([POST]), folder)
    async with running(app) as pilot:
        assert "Skip" in shown(app)
        await decide(pilot, "s")
        text = shown(app)
    assert "SKIP: give it back, why?" in text
    assert "GIVE BACK" not in text


async def test_without_an_item_there_is_nothing_to_pause_after(folder: Path) -> None:
    server = FakeServer()
    app = application(server, folder)
    async with running(app) as pilot:
        await press(pilot, "p")
        text = shown(app)
        assert "pause after this" not in text
        assert "No item is held, and no time runs" in text
        server.waiting.append(POST)
        await press(pilot, "enter")
        await press(pilot, "p")
        assert "pause after this" in shown(app)


async def test_a_pause_that_has_begun_is_not_announced_and_p_ends_it(folder: Path) -> None:
    app = application(FakeServer([POST, CASE]), folder)
    async with running(app) as pilot:
        await press(pilot, "p")
        await decide(pilot, "r", "1")
        text = shown(app)
        assert "You asked for a pause." in text
        assert "pause after this" not in text
        await press(pilot, "p")
        await pilot.pause(0.1)
        assert "kyc-2041" in shown(app)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (httpx.ConnectError, "no answer from the server; it can't be reached"),
        (httpx.ConnectTimeout, "no answer from the server in time"),
        (httpx.ReadTimeout, "no answer from the server in time"),
        (httpx.ReadError, "no answer from the server; the connection broke"),
    ],
)
async def test_what_fails_on_the_way_is_said_in_plain_words(
    folder: Path, error: type[httpx.TransportError], words: str
) -> None:
    def fail() -> httpx.Response:
        raise error("no")

    server = FakeServer()
    server.fail("/me", *[fail] * 1000)
    app = application(server, folder)
    async with running(app):
        text = shown(app)
    assert words in text
    assert error.__name__ not in text


async def test_an_empty_queue_is_called_by_its_title(folder: Path) -> None:
    app = application(FakeServer(), folder)
    async with running(app):
        text = shown(app)
    assert "Nothing waiting for you in Posts." in text
    assert "claim from Posts" in text


async def test_without_an_item_leaving_gives_nothing_back(folder: Path) -> None:
    app = application(FakeServer(), folder)
    async with running(app) as pilot:
        await press(pilot, "escape")
        assert "ctrl+q signs off" in shown(app)
        assert "gives the item back" not in shown(app)


async def test_what_came_after_the_claim_is_not_under_a_title_that_denies_it(
    folder: Path,
) -> None:
    server = FakeServer()
    clock = Clock()
    app = application(server, folder, clock)
    async with running(app) as pilot:
        assert "Nothing to claim" in shown(app)
        server.waiting.append(POST)
        clock.now += 11
        review(app).tick()
        await pilot.pause(0.3)
        text = shown(app)
    assert "Nothing to claim" not in text
    assert "Something is waiting" in text
    assert "1 waits in Posts now." in text


async def test_what_waits_in_another_queue_is_said_above_an_empty_one(folder: Path) -> None:
    app = application(FakeServer(), folder)
    async with running(app) as pilot:
        screen = review(app)
        assert screen.me is not None
        posts, cases = screen.me.queues
        full = replace(cases, figures=replace(cases.figures, queue="cases", free=2))
        screen.me = replace(screen.me, queues=(posts, full))
        screen.repaint()
        await pilot.pause(0.1)
        assert "Something is waiting elsewhere" in shown(app)


@pytest.mark.parametrize(
    ("not_for_me", "words"),
    [
        (1, "1 that you left lately is not offered to you for a while."),
        (2, "2 are not offered to you: you left them lately, or may not decide them."),
    ],
)
async def test_what_was_left_from_here_is_not_called_somebody_elses(
    folder: Path, not_for_me: int, words: str
) -> None:
    server = FakeServer([POST])
    app = application(server, folder)
    async with running(app) as pilot:
        server.not_for_me = not_for_me
        await decide(pilot, "s", "1")
        await pilot.pause(0.2)
        assert words in shown(app)


async def test_a_category_without_a_score_does_not_bear_the_mark_of_a_harmless_one(
    folder: Path,
) -> None:
    item = samples.evidence(scores={**samples.SCORES, "spam": None})
    async with running(app := application(FakeServer([item]), folder)):
        row = next(row for row in shown(app).splitlines() if "spam" in row)
    assert "— no score" in row
    assert "ALLOW" not in row


async def test_an_item_without_a_model_names_none(folder: Path) -> None:
    async with running(app := application(FakeServer([CASE]), folder)):
        text = shown(app)
    assert "Sent here by" in text
    assert "model" not in text
    assert "Decided by" not in text
