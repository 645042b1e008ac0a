"""An item that moves on, and figures and answers that fail."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from shared.problems import ProblemCode
from shared.vocabulary import NewsKind
from tests.tui import samples
from tests.tui.drive import (
    Clock,
    application,
    armed,
    decide,
    press,
    review,
    running,
    shown,
)
from tests.tui.fake_server import FakeServer, Fault, problem
from tests.tui.test_trouble import stale
from tui.messages import Found
from tui.state.events import Lost
from tui.state.held import StaleFacts
from tui.state.session import Reviewing, Stale

POST = samples.evidence()
CASE = samples.kyc()
READ = 0.45


def broken() -> httpx.Response:
    return problem(ProblemCode.INTERNAL, 500, "Something went wrong here; nothing was changed.")


def hanging() -> httpx.Response:
    raise httpx.ReadTimeout("hangs")


@pytest.mark.parametrize(
    ("now", "words"),
    [("withdrawn", "It was withdrawn at"), ("taken_back", "A lead took it back at"),
     ("moved", "It was moved to another queue at"), ("escalated", "It was escalated at"),
     ("leased", "d.chen has had it since")],
)  # fmt: skip
async def test_what_happens_to_the_item_is_said_at_once_in_one_sentence(
    folder: Path, now: str, words: str
) -> None:
    server = FakeServer([POST, CASE])
    server.streams = []
    app = application(server, folder)
    async with running(app) as pilot:
        server.lose(now=now, since="2026-11-28T14:05:30Z", holder="d.chen")
        kind = NewsKind.ITEM_WITHDRAWN if now == "withdrawn" else NewsKind.LEASE_REVOKED
        server.tell(kind, "1001")
        await pilot.pause(0.3)
        text = shown(app)
        assert words in text
        assert "Nothing was sent from here" in text
        assert "claim again" not in text
        assert sum(call.endswith("claim") for call in server.calls) == 1
        await pilot.pause(READ)
        await press(pilot, "enter")
        await armed(pilot)
        assert "kyc-2041" in shown(app)


async def test_without_a_stream_a_quiet_look_every_ten_seconds_finds_it(folder: Path) -> None:
    server = FakeServer([POST])
    clock = Clock()
    app = application(server, folder, clock)
    async with running(app) as pilot:
        server.lose(now="taken_back")
        for _ in range(9):
            clock.now += 1
            review(app).tick()
        await pilot.pause(0.1)
        assert isinstance(review(app).session, Reviewing)
        clock.now += 1
        review(app).tick()
        await pilot.pause(0.2)
        assert isinstance(review(app).session, Stale)
    assert server.renewals == 0


async def test_a_quiet_look_never_renews_and_never_claims(folder: Path) -> None:
    server = FakeServer([POST, CASE])
    server.streams = []
    clock = Clock()
    app = application(server, folder, clock)
    async with running(app) as pilot:
        for _ in range(60):
            clock.now += 2
            server.tell(NewsKind.RESYNC)
            server.tell(NewsKind.LEASE_REVOKED, "1001")
            review(app).tick()
        await pilot.pause(0.2)
        assert isinstance(review(app).session, Reviewing)
    assert server.renewals == 0
    assert sum(call.endswith("claim") for call in server.calls) == 1


async def test_claiming_again_is_offered_only_where_the_server_says_so(folder: Path) -> None:
    server = FakeServer([POST, CASE])
    server.fail("verdict", lambda: stale(now="free", holder=None, can_reclaim=True))
    app = application(server, folder)
    async with running(app) as pilot:
        await decide(pilot, "r", "1")
        assert "claim again: it is free" in shown(app)
        await pilot.pause(READ)
        assert server.mine is not None
        server.mine = None
        server.waiting.insert(0, POST)
        await press(pilot, "C")
        await armed(pilot)
        state = review(app).session
        assert isinstance(state, Reviewing)
        assert state.held.lease.content_id == "p-8f31c2"


async def test_what_this_terminal_gives_back_is_no_news_to_it(folder: Path) -> None:
    server = FakeServer([POST, CASE])
    server.streams = []

    def slow() -> httpx.Response:
        server.tell(NewsKind.LEASE_REVOKED, "1001")
        raise httpx.ReadTimeout("slow")

    server.fail("release", slow)
    app = application(server, folder)
    async with running(app) as pilot:
        await decide(pilot, "s", "1")
        await pilot.pause(0.3)
        await armed(pilot)
        assert "kyc-2041" in shown(app)
    assert server.released == ["need_time"]


async def test_what_a_look_finds_too_late_is_dropped(folder: Path) -> None:
    server = FakeServer([POST, CASE])
    app = application(server, folder)
    async with running(app) as pilot:
        screen, token = review(app), server.mine.lease_token if server.mine else ""
        lost = Lost(token, StaleFacts("taken_back"))
        screen.parting = token
        screen.on_found(Found(token, lost))
        assert isinstance(screen.session, Reviewing), "it is being given up here"
        screen.parting = ""
        screen.on_found(Found("another", lost))
        assert isinstance(screen.session, Reviewing), "it asked for another lease"
        await decide(pilot, "r", "1")
        await armed(pilot)
        screen.on_found(Found(token, lost))
        assert isinstance(screen.session, Reviewing), "the next item is on the screen"


# figures and answers that fail (cases 17)


@pytest.mark.parametrize("fault", [broken, hanging], ids=["500", "hangs"])
async def test_a_claim_that_fails_is_an_error_and_never_an_empty_queue(
    folder: Path, fault: Fault
) -> None:
    server = FakeServer([POST])
    server.fail("claim", *[fault] * 10_000)
    app = application(server, folder)
    async with running(app) as pilot:
        await pilot.pause(0.3)
        text = shown(app)
        assert "○ No luck for" in text
        assert "Nothing waiting" not in text
        assert "Nothing to claim" not in text
        server.faults.clear()
        await pilot.pause(0.3)
        assert "p-8f31c2" in shown(app)


@pytest.mark.parametrize("fault", [broken, hanging], ids=["500", "hangs"])
async def test_figures_that_can_not_be_read_are_said_to_be_old_and_nothing_is_called_empty(
    folder: Path, fault: Fault
) -> None:
    server = FakeServer()
    clock = Clock()
    app = application(server, folder, clock)
    async with running(app) as pilot:
        assert "Nothing waiting for you in Posts." in shown(app)
        server.fail("/me", *[fault] * 10_000)
        clock.now += 11
        review(app).tick()
        await pilot.pause(0.2)
        text = shown(app)
        assert "✕ The figures could not be read for 0:00" in text
        assert "Nothing waiting" not in text
        assert "not known now" in text
        await press(pilot, "Q")
        assert "could not be read" in shown(app)
        await press(pilot, "escape")
        server.faults.clear()
        clock.now += 11
        review(app).tick()
        await pilot.pause(0.2)
        assert "Nothing waiting for you in Posts." in shown(app)
