"""Leaving, help, and what is too small or refused."""

from __future__ import annotations

from pathlib import Path

from shared.problems import ProblemCode
from tests.tui import samples
from tests.tui.drive import application, decide, press, running, shown
from tests.tui.fake_server import FakeServer, problem
from tui.keymap import REVIEW

POST = samples.evidence()


async def test_q_only_says_how_to_leave(folder: Path) -> None:
    server = FakeServer([POST])
    app = application(server, folder)
    async with running(app) as pilot:
        await press(pilot, "q", "ctrl+c")
        await press(pilot, "q")
        assert "ctrl+q signs off" in shown(app)
        assert app.is_running
    assert not server.released


async def test_signing_off_gives_the_item_back(folder: Path) -> None:
    server = FakeServer([POST])
    app = application(server, folder)
    async with running(app) as pilot:
        await pilot.press("ctrl+q")
        await pilot.pause(0.2)
    assert server.released == ["sign_off"]
    assert app.return_code == 0
    assert app.return_value == "Signed off. 0 decided in this session."


async def test_help_names_the_verdicts_of_the_item_and_every_key(folder: Path) -> None:
    app = application(FakeServer([POST]), folder)
    async with running(app, (80, 24)) as pilot:
        await press(pilot, "question_mark")
        text = shown(app)
        for binding in REVIEW:
            assert binding.title in text, binding.title
        for verdict in samples.BOTH:
            assert f"{verdict}" in text
        await press(pilot, "x")
        assert "renew the lease" not in shown(app)


async def test_below_80x24_there_is_one_message_and_no_verdict(folder: Path) -> None:
    server = FakeServer([POST])
    app = application(server, folder)
    async with running(app, (72, 20)) as pilot:
        await decide(pilot, "r", "1")
        text = shown(app)
    assert "72×20; 80×24 is needed" in text
    assert "cans and a lighter" not in text
    assert "3:00" in text, "the lease bar stays"
    assert not server.verdicts


async def test_a_key_that_is_refused_ends_with_one_line(folder: Path) -> None:
    server = FakeServer([POST])
    server.fail("/me", lambda: problem(ProblemCode.UNAUTHENTICATED, 401, "Unknown key."))
    app = application(server, folder)
    async with app.run_test() as pilot:
        await pilot.pause(0.1)
    assert app.return_code == 77
    assert app.return_value == "fencepost: the server refuses this key: Unknown key."
