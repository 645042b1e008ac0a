"""One word for one thing, and plain ones."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from tests.tui import samples
from tests.tui.drive import application, decide, press, running, shown
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
