"""What the workstation says and does when something is not as it should be."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from shared.problems import ProblemCode
from tests.tui import samples
from tests.tui.drive import (
    KEY,
    SERVER,
    Clock,
    application,
    armed,
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
from tui.state.session import Reviewing, Submitting, Unshowable

POST = samples.evidence()
CASE = samples.kyc()


def cut() -> httpx.Response:
    raise httpx.ConnectError("no route to host")


def stale(**extra: Any) -> httpx.Response:
    facts: dict[str, Any] = {"now": "leased", "holder": "d.chen", "can_reclaim": False, **extra}
    return problem(ProblemCode.STALE_LEASE, 409, **facts)


def journal(folder: Path) -> Journal:
    return Journal(folder, SERVER, KEY)


# stale leases


async def test_a_stale_lease_leaves_the_item_on_screen(folder: Path) -> None:
    server = FakeServer([POST, CASE])
    server.fail("verdict", stale)
    app = application(server, folder)
    async with running(app) as pilot:
        await press(pilot, "c", *"kept", "enter")
        await decide(pilot, "r", "1")
        text = shown(app)
    for words in ("Not recorded: this item moved on", "It overwrote nothing.", "with d.chen",
                  "REJECT violence_threat", "“kept”", "They moved in on Tuesday"):  # fmt: skip
        assert words in text, words
    assert not server.verdicts


@pytest.mark.parametrize(
    ("now", "words"),
    [("free", "waiting again"), ("resolved", "decided by"), ("moved", "another queue"),
     ("escalated", "escalated"), ("withdrawn", "withdrawn"), ("taken_back", "taken back"),
     ("parked", "parked"), ("something_new", "something_new")],
)  # fmt: skip
async def test_the_stale_dialog_says_where_the_item_is(folder: Path, now: str, words: str) -> None:
    server = FakeServer([POST])
    server.fail("verdict", lambda: stale(now=now, holder=None))
    app = application(server, folder)
    async with running(app) as pilot:
        await decide(pilot, "r", "1")
        assert words in shown(app)


async def test_the_stale_dialog_waits_400_ms_and_then_enter_claims(folder: Path) -> None:
    server = FakeServer([POST, CASE])
    server.fail("verdict", stale)
    app = application(server, folder)
    async with running(app) as pilot:
        await decide(pilot, "r", "1")
        server.mine = None
        await press(pilot, "enter")
        assert "Not recorded" in shown(app)
        await pilot.pause(0.4)
        await press(pilot, "x", "r", "1")
        assert "Not recorded" in shown(app)
        await press(pilot, "enter")
        await pilot.pause(0.1)
        assert "kyc-2041" in shown(app)


# evidence that moved on


async def test_changed_evidence_is_explained_and_never_decided_by_itself(folder: Path) -> None:
    server = FakeServer([POST])

    def move() -> httpx.Response:
        scores = {**samples.SCORES, "violence": "0.97"}
        server.mine = samples.lease(samples.evidence(scores=scores), number=1)
        return problem(ProblemCode.EVIDENCE_CHANGED, 409)

    server.fail("verdict", move)
    app = application(server, folder)
    async with running(app) as pilot:
        await press(pilot, "c", *"kept", "enter")
        await decide(pilot, "r", "1")
        text = shown(app)
        assert "Not recorded: the evidence changed" in text
        assert "violence: 0.81 REVIEW → 0.97 BLOCK" in text
        await pilot.pause(0.42)
        await press(pilot, "enter")
        assert not server.verdicts
        assert "0.97 ✕ BLOCK" in shown(app)
        state = review(app).session
        assert isinstance(state, Reviewing)
        assert state.note == "kept"
        assert review(app).hand.picker is None


async def test_evidence_that_is_not_what_was_hashed_is_not_shown(folder: Path) -> None:
    server = FakeServer([POST])
    server.lease_options = {"evidence_hash": "0" * 64}
    app = application(server, folder)
    async with running(app) as pilot:
        text = shown(app)
        assert isinstance(review(app).session, Unshowable)
        await press(pilot, "r", "1")
    assert "This item is not shown." in text
    assert "cans and a lighter" not in text
    assert not server.verdicts


# no network


async def test_a_verdict_that_does_not_get_through_is_saved_and_sent_exactly_once(
    folder: Path,
) -> None:
    server = FakeServer([POST, CASE])
    server.fail("verdict", *[cut] * 4)
    app = application(server, folder)
    async with running(app) as pilot:
        await decide(pilot, "r", "1")
        await pilot.pause(0.8)
        assert "kyc-2041" in shown(app)
    tokens = {body["verdict_token"] for path, body in server.bodies if path.endswith("verdict")}
    assert len(tokens) == 1
    assert len(server.verdicts) == 1
    assert journal(folder).verdict() is None


async def test_while_the_outcome_is_unknown_nothing_else_can_be_done(folder: Path) -> None:
    server = FakeServer([POST, CASE])
    server.fail("verdict", *[cut] * 10_000)
    clock = Clock()
    app = application(server, folder, clock)
    async with running(app) as pilot:
        await decide(pilot, "r", "1")
        clock.now += 23
        await press(pilot, "a", "1", "c", "s", "1", "Q", "p", "enter")
        text = shown(app)
        assert isinstance(review(app).session, Submitting)
    assert "Offline 0:23. Your REJECT is saved here and will be sent exactly once." in text
    assert "They moved in on Tuesday" in text
    assert not server.released
    assert len({body["verdict_token"] for _, body in server.bodies if "verdict" in body}) == 1


async def test_the_saved_verdict_is_for_the_owner_alone_and_holds_no_content(folder: Path) -> None:
    server = FakeServer([POST])
    server.fail("verdict", *[cut] * 10_000)
    app = application(server, folder)
    async with running(app) as pilot:
        await decide(pilot, "r", "1")
        kept = next(folder.glob("verdict-*.json"))
        text = kept.read_text()
        assert kept.stat().st_mode & 0o777 == 0o600
        assert folder.stat().st_mode & 0o077 == 0
    assert "Tuesday" not in text
    assert "firestarter88" not in text
    assert json.loads(text)["request"]["reason"] == "violence_threat"


async def test_signing_off_keeps_the_verdict_and_the_next_start_sends_it_first(
    folder: Path,
) -> None:
    server = FakeServer([POST, CASE])
    server.fail("verdict", *[cut] * 10_000)
    app = application(server, folder)
    async with running(app) as pilot:
        await decide(pilot, "r", "1")
        await pilot.press("ctrl+q")
        await pilot.pause(0.2)
    assert not server.released, "an item whose verdict is on its way is not given back"
    assert app.return_value is not None
    assert "Your REJECT is kept, and is sent first" in app.return_value
    server.faults.clear()
    server.calls.clear()
    again = application(server, folder)
    async with running(again):
        text = shown(again)
    work = [call.rsplit("/", 1)[-1] for call in server.calls]
    assert work[:2] == ["me", "verdict"]
    assert "✓ REJECT p-8f31c2" in text
    assert "kyc-2041" in text
    assert journal(folder).verdict() is None


async def test_a_replayed_answer_is_a_receipt_and_not_a_refusal(folder: Path) -> None:
    server = FakeServer([POST, CASE])

    def lost() -> httpx.Response:
        path, body = server.bodies[-1]
        server.record(path.split("/")[3], body)
        raise httpx.ReadError("the answer was lost")

    server.fail("verdict", lost)
    app = application(server, folder)
    async with running(app) as pilot:
        await decide(pilot, "r", "1")
        await pilot.pause(0.3)
        assert "✓ REJECT p-8f31c2" in shown(app)
    assert len(server.verdicts) == 1


@pytest.mark.parametrize(
    "fault",
    [
        lambda: problem(ProblemCode.OUTCOME_UNKNOWN, 503),
        lambda: problem(ProblemCode.BUSY, 429),
        lambda: httpx.Response(502, text="<html>bad gateway</html>"),
        lambda: httpx.Response(200, text="{}"),
        lambda: problem(ProblemCode.UNAUTHENTICATED, 401),
    ],
    ids=["unknown", "busy", "proxy", "garbled", "key"],
)
async def test_an_unknown_outcome_is_asked_again_with_the_same_token(
    folder: Path, fault: object
) -> None:
    server = FakeServer([POST, CASE])
    server.fail("verdict", fault, fault)  # type: ignore[arg-type]  # a fault is a callable
    app = application(server, folder)
    async with running(app) as pilot:
        await decide(pilot, "r", "1")
        await pilot.pause(0.4)
    sent = [body["verdict_token"] for path, body in server.bodies if path.endswith("verdict")]
    assert len(sent) == 3
    assert len(set(sent)) == 1
    assert len(server.verdicts) == 1


async def test_a_refused_reason_leaves_the_item_and_says_so(folder: Path) -> None:
    server = FakeServer([POST])
    server.fail("verdict", lambda: problem(ProblemCode.REASON_NOT_ADMITTED, 409, "Not admitted."))
    app = application(server, folder)
    async with running(app) as pilot:
        await decide(pilot, "r", "1")
        assert "Not recorded: Not admitted." in shown(app)
        assert isinstance(review(app).session, Reviewing)
        assert journal(folder).verdict() is None
        await decide(pilot, "r", "2")
    assert len(server.verdicts) == 1


async def test_a_verdict_that_cannot_be_saved_is_not_sent(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    server = FakeServer([POST])
    app = application(server, folder)
    async with running(app) as pilot:
        monkeypatch.setattr(app.desk.journal, "keep_verdict", full)
        await decide(pilot, "r", "1")
        assert "can't be saved here (No space left on device)" in shown(app)
    assert not server.verdicts


async def test_a_server_out_of_reach_is_asked_until_it_answers(folder: Path) -> None:
    server = FakeServer([POST])
    server.fail("/me", *[cut] * 3)
    server.fail("claim", *[cut] * 3)
    app = application(server, folder)
    async with running(app) as pilot:
        await pilot.pause(0.8)
        await armed(pilot)
        assert "p-8f31c2" in shown(app)
    claims = {body["claim_key"] for path, body in server.bodies if path.endswith("claim")}
    assert len(claims) == 1


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
        for _ in range(30):
            clock.now += 4
            review(app).tick()
        await pilot.pause(0.1)
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
        assert "This item moved on while it lay here" in shown(app)


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
    assert "test_trouble.py" in report
    said = capsys.readouterr()
    for text in (report, said.out, said.err):
        assert "Tuesday" not in text
        assert "00000000-0000-4000-8000" not in text
    held = app.left_leased
    assert held is not None
    assert held.item_id == "1001"
