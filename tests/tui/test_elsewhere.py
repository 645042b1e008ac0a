"""One person, two terminals, one item: it is asked for, moves with a key, and is said on both."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from textual.pilot import Pilot

from shared.problems import ProblemCode
from shared.vocabulary import NewsKind
from tests.tui import samples
from tests.tui.drive import Clock, application, armed, decide, press, review, running, shown
from tests.tui.fake_server import FakeServer, problem
from tui.state.session import Elsewhere, Reviewing, Stale

POST = samples.evidence()
CASE = samples.kyc()
READ = 0.45
WITHIN = 2.0
"""Seconds in which the other screen has to change."""


def held_at_b(**changes: Any) -> FakeServer:
    """Return a server on which the other terminal holds the post."""
    server = FakeServer([CASE])
    server.mine = samples.lease(POST, number=9, terminal="host-b", **changes)
    return server


def no_route() -> httpx.Response:
    raise httpx.ConnectError("no route")


async def within(pilot: Pilot[str], seconds: float, words: str) -> None:
    end = time.monotonic() + seconds
    while words not in shown(pilot.app) and time.monotonic() < end:  # type: ignore[arg-type]
        await pilot.pause(0.02)
    assert words in shown(pilot.app)  # type: ignore[arg-type]  # it is ours


async def test_an_item_in_another_terminal_is_asked_for_and_not_opened(folder: Path) -> None:
    server = held_at_b(expires_in_ms=72_000)
    app = application(server, folder, terminal="host-a")
    async with running(app, (80, 24)) as pilot:
        text = shown(app)
        assert "You hold p-8f31c2 in another terminal (host-b), 1:12 left." in text
        assert "Tuesday" not in text
        await press(pilot, "a", "1", "r", "1", "s", "1", "R", "c", "P", "d", "C")
        assert isinstance(review(app).session, Elsewhere)
        await press(pilot, "escape")
        assert "ctrl+q signs off; the item stays open in your other terminal" in shown(app)
        await pilot.press("ctrl+q")
        await pilot.pause(0.2)
    assert not server.released, "leaving leaves it where it is"
    assert server.mine is not None
    assert not any(call.endswith(("claim", "take-over", "verdict")) for call in server.calls)


async def test_the_time_of_the_other_terminal_runs_on_the_screen(folder: Path) -> None:
    server = held_at_b(expires_in_ms=3_000)
    clock = Clock()
    app = application(server, folder, clock, terminal="host-a")
    async with running(app) as pilot:
        assert "(host-b), 0:03 left." in shown(app)
        clock.now += 2
        review(app).tick()
        await pilot.pause(0.1)
        assert "(host-b), 0:01 left." in shown(app)
        clock.now += 3
        review(app).tick()
        await pilot.pause(0.1)
        assert "(host-b), its time ran out 0:02 ago." in shown(app)


async def test_enter_takes_it_over_after_400_ms_and_the_token_is_another(folder: Path) -> None:
    server = held_at_b()
    old = server.mine.lease_token if server.mine else ""
    app = application(server, folder, terminal="host-a")
    async with running(app) as pilot:
        review(app).dialog_since = time.monotonic()
        await press(pilot, "enter")
        assert isinstance(review(app).session, Elsewhere), "not before it could be read"
        await pilot.pause(READ)
        await press(pilot, "enter")
        await armed(pilot)
        assert "Tuesday" in shown(app)
        assert "Taken over: the other terminal can't decide it any more." in shown(app)
        await decide(pilot, "r", "1")
    assert server.fates[old]["now"] == "taken_over"
    body = next(body for path, body in server.bodies if path.endswith("take-over"))
    assert body["terminal"] == "host-a"
    assert len(server.verdicts) == 1


async def test_a_take_over_whose_answer_is_lost_is_repeated_with_the_same_key(
    folder: Path,
) -> None:
    server = held_at_b()

    def lost() -> httpx.Response:
        server.take_over(server.bodies[-1][1])
        raise httpx.ReadError("lost")

    server.fail("take-over", lost, lambda: problem(ProblemCode.BUSY, 503))
    app = application(server, folder, terminal="host-a")
    async with running(app) as pilot:
        await pilot.pause(READ)
        await press(pilot, "enter")
        await pilot.pause(0.4)
        await armed(pilot)
        assert isinstance(review(app).session, Reviewing)
    keys = {body["claim_key"] for path, body in server.bodies if path.endswith("take-over")}
    assert len(keys) == 1
    assert len(server.fates) == 1


async def test_an_item_that_ended_there_meanwhile_is_said_and_nothing_is_claimed(
    folder: Path,
) -> None:
    server = held_at_b()
    app = application(server, folder, terminal="host-a")
    async with running(app) as pilot:
        server.mine = None
        await pilot.pause(READ)
        await press(pilot, "enter")
        await pilot.pause(0.2)
        assert "It is not yours any more" in shown(app)
    assert not any(call.endswith("claim") for call in server.calls)


async def test_my_own_terminal_resumes_without_asking(folder: Path) -> None:
    server = held_at_b()
    app = application(server, folder, terminal="host-b")
    async with running(app):
        assert "Resumed: this item was still yours." in shown(app)


async def test_what_this_terminal_claims_bears_its_name(folder: Path) -> None:
    server = FakeServer([POST, CASE])
    app = application(server, folder, terminal="host-a")
    async with running(app) as pilot:
        await decide(pilot, "r", "1")
        await armed(pilot)
        assert isinstance(review(app).session, Reviewing)
    named = [
        body["terminal"] for path, body in server.bodies if path.endswith(("claim", "verdict"))
    ]
    assert named == ["host-a", "host-a"]


# the other terminal


async def test_the_terminal_that_lost_it_says_so_once_and_keeps_the_note(folder: Path) -> None:
    server = FakeServer([POST, CASE])
    server.streams = []
    app = application(server, folder, terminal="host-a")
    async with running(app, (80, 24)) as pilot:
        await press(pilot, "c", *"seen", "enter")
        server.take_over({"claim_key": "00000000-0000-4000-8000-00000000beef", "terminal": "b"})
        server.tell(NewsKind.LEASE_REVOKED, "1001")
        await within(pilot, WITHIN, "You took it over in another terminal; it is open there.")
        text = shown(app)
        assert "✕ It is open in your other terminal." in text
        assert "Your note" in text
        assert "“seen”" in text
        await pilot.pause(READ)
        await press(pilot, "a", "1", "r", "1", "s", "1", "C")
        assert isinstance(review(app).session, Stale)
        assert not server.verdicts
        assert not server.released
        await press(pilot, "enter")
        await pilot.pause(0.1)
        assert "You hold p-8f31c2 in another terminal (b)" in shown(app)
        assert [note.text for note in review(app).kept] == ["seen"]
    assert sum(call.endswith("claim") for call in server.calls) == 1, "it claims nothing by itself"


@pytest.mark.parametrize("cut", [False, True], ids=["told", "after a dropped connection"])
@pytest.mark.parametrize("asking", [False, True], ids=["taken over", "asking"])
async def test_what_is_decided_in_one_console_is_seen_on_the_other_within_two_seconds(
    folder: Path, tmp_path: Path, cut: bool, asking: bool
) -> None:
    server = FakeServer([POST])
    server.streams = []
    one = application(server, folder, terminal="host-a")
    other = application(server, tmp_path / "other", terminal="host-b")
    async with running(one) as first, running(other) as second:
        await pilot_takes(second, first if asking else None)
        decider, watcher = (first, second) if asking else (second, first)
        if cut:
            server.fail("/stream", *[no_route] * 1000)
            server.cut_streams()
        await decide(decider, "r", "1")
        assert len(server.verdicts) == 1
        token = next(body["lease_token"] for path, body in server.bodies if "verdict" in body)
        server.fates.update({key: {"now": "resolved"} for key in [*server.fates, token]})
        server.tell(NewsKind.ITEM_RESOLVED, "1001")
        server.faults.clear()
        words = "It is not yours any more" if asking else "It was decided."
        await within(watcher, WITHIN, words)
    assert sum(call.endswith("verdict") for call in server.calls) == 1


async def pilot_takes(second: Pilot[str], first: Pilot[str] | None) -> None:
    """Let the second terminal take the item over, or only ask for it."""
    await within(second, WITHIN, "in another terminal")
    if first is None:
        await second.pause(READ)
        await press(second, "enter")
        await armed(second)


async def test_the_figures_follow_the_stream_but_not_more_often_than_every_two_seconds(
    folder: Path, sleepless: Callable[[FakeServer], int]
) -> None:
    server = FakeServer()
    server.streams = []
    app = application(server, folder)
    async with running(app) as pilot:
        clock = app.desk.now
        await pilot.pause(0.2)
        before = sleepless(server)
        for _ in range(40):
            server.tell(NewsKind.QUEUE_DEPTH, queue="posts")
        await pilot.pause(0.1)
        for _ in range(5):
            clock.now += 1  # type: ignore[attr-defined]  # the clock of these tests
            review(app).tick()
            await pilot.pause(0.05)
        assert 1 <= sleepless(server) - before <= 2
    assert not any(call.endswith("claim") for call in server.calls[before + 4 :])


async def test_news_of_a_queue_is_looked_at_without_waiting_for_the_clock(
    folder: Path, sleepless: Callable[[FakeServer], int]
) -> None:
    server = FakeServer()
    server.streams = []
    clock = Clock()
    app = application(server, folder, clock)
    async with running(app) as pilot:
        await pilot.pause(0.2)
        clock.now += 5
        review(app).looked_at = clock.now - 3
        before = sleepless(server)
        server.waiting.append(POST)
        server.tell(NewsKind.QUEUE_DEPTH, queue="posts")
        server.tell(NewsKind.QUEUE_DEPTH, queue="posts")
        await pilot.pause(0.3)
        assert sleepless(server) - before == 1
        assert "1 waits in Posts now." in shown(app)


@pytest.fixture
def sleepless() -> Callable[[FakeServer], int]:
    return lambda server: sum(call.endswith("/me") for call in server.calls)
