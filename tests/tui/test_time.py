"""Leases that are resumed, lapse, are renewed; and errors of our own."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from shared.problems import ProblemCode
from tests.tui import samples
from tests.tui.drive import (
    KEY,
    SERVER,
    Clock,
    application,
    decide,
    press,
    review,
    running,
    shown,
)
from tests.tui.fake_server import FakeServer, problem
from tui.crash import describe
from tui.journal import Journal
from tui.state.pending import Draft
from tui.state.session import Reviewing

POST = samples.evidence()
CASE = samples.kyc()


def cut() -> httpx.Response:
    raise httpx.ConnectError("no route to host")


def stale(**extra: Any) -> httpx.Response:
    facts: dict[str, Any] = {"now": "leased", "holder": "d.chen", "can_reclaim": False, **extra}
    return problem(ProblemCode.STALE_LEASE, 409, **facts)


def journal(folder: Path) -> Journal:
    return Journal(folder, SERVER, KEY)


# resuming and time


async def test_a_lease_that_is_still_mine_is_resumed_with_its_time_and_note(folder: Path) -> None:
    server = FakeServer([CASE])
    server.mine = samples.lease(POST, number=9, expires_in_ms=72_000)
    journal(folder).keep_note(Draft(item_id="1009", lease_token="t", note="half a thought"))
    app = application(server, folder)
    async with running(app):
        text = shown(app)
        state = review(app).session
        assert isinstance(state, Reviewing)
        assert state.note == "half a thought"
    assert "1:12" in text
    assert "Resumed: this item was still yours." in text
    assert not any(call.endswith("claim") for call in server.calls)


async def test_a_claim_that_meets_my_own_lease_resumes_it(folder: Path) -> None:
    server = FakeServer([CASE])
    app = application(server, folder, queue=None)
    async with running(app) as pilot:
        server.mine = samples.lease(POST, number=9)
        server.fail("claim", lambda: problem(ProblemCode.LEASE_HELD, 409))
        await press(pilot, "1")
        await pilot.pause(0.1)
        assert "p-8f31c2" in shown(app)


async def test_a_lapsed_lease_is_lapsed_and_not_lost(folder: Path) -> None:
    server = FakeServer([POST, CASE])
    server.lease_options = {"expires_in_ms": -41_000}
    app = application(server, folder)
    async with running(app) as pilot:
        text = shown(app)
        assert "+0:41" in text
        assert "LAPSED · yours until someone else claims · R renew" in text
        await decide(pilot, "r", "1")
    assert len(server.verdicts) == 1


async def test_time_is_renewed_after_input_and_never_without(folder: Path) -> None:
    server = FakeServer([POST])
    clock = Clock()
    app = application(server, folder, clock)
    async with running(app) as pilot:
        assert server.mine is not None
        server.mine = msgspec.structs.replace(server.mine, expires_in_ms=60_000)
        for _ in range(30):
            clock.now += 4
            review(app).tick()
        await pilot.pause(0.2)
        assert server.renewals == 0
        await press(pilot, "j")
        clock.now += 1
        review(app).tick()
        await pilot.pause(0.1)
        assert server.renewals == 1
        assert "3:00" in shown(app)


async def test_renewing_an_item_that_moved_on_says_so(folder: Path) -> None:
    server = FakeServer([POST])
    server.fail("renew", stale)
    app = application(server, folder)
    async with running(app) as pilot:
        await press(pilot, "R")
        await pilot.pause(0.1)
        text = shown(app)
    assert "This item is not in your hands any more" in text
    assert "d.chen has it." in text
    assert "Nothing was sent from here" in text


async def test_after_the_machine_slept_the_lease_is_looked_up_anew(folder: Path) -> None:
    server = FakeServer([POST])
    clock = Clock()
    app = application(server, folder, clock)
    async with running(app) as pilot:
        server.calls.clear()
        clock.now += 3600
        review(app).tick()
        await pilot.pause(0.1)
    assert "GET /v1/me/lease" in server.calls


async def test_the_age_of_the_oldest_runs_on_between_two_looks_and_grows_late(
    folder: Path,
) -> None:
    server = FakeServer([POST, CASE])
    clock = Clock()
    app = application(server, folder, clock)
    async with running(app) as pilot:
        assert "2 waiting" in shown(app), "as they were at sign-in: a lease brings no figures"
        assert "oldest 4:12/5:00" in shown(app)
        asked = len(server.calls)
        for _ in range(25):
            clock.now += 2
            review(app)._ticked = clock.now
            review(app).looked_at = clock.now
            review(app).item_looked_at = clock.now
            review(app).tick()
        await pilot.pause(0.1)
        assert len(server.calls) == asked
        assert "oldest ✕ 5:02/5:00" in shown(app)


async def test_what_is_parked_does_not_count_as_waiting_against_the_sla(folder: Path) -> None:
    server = FakeServer([POST])
    server.lease_options = {"waited_ms": 400_000_000, "sla_age_ms": 60_000}
    app = application(server, folder)
    async with running(app):
        text = shown(app)
    assert "waited 1:00 of 5:00" in text
    assert "OVER SLA" not in text


# errors of our own


async def test_an_error_of_our_own_shows_no_content_and_writes_none(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    app = application(FakeServer([POST]), folder)
    with pytest.raises(RuntimeError):
        async with running(app):
            secret = review(app).session

            def fail() -> None:
                raise RuntimeError(f"{secret}")

            app.call_later(fail)
            await review(app).desk.client.health()
            await asyncio.sleep(0.2)
    assert app.failure is not None
    report = describe(app.failure)
    assert "RuntimeError" in report
    assert Path(__file__).name in report
    said = capsys.readouterr()
    for text in (report, said.out, said.err):
        assert "Tuesday" not in text
        assert "00000000-0000-4000-8000" not in text
    held = app.left_leased
    assert held is not None
    assert held.item_id == "1001"
