"""What the workstation says and does when something is not as it should be."""

from __future__ import annotations

import json
import time
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
    decide,
    press,
    review,
    running,
    shown,
)
from tests.tui.fake_server import FakeServer, problem
from tui.journal import Journal
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
    for words in ("Not recorded: this item moved on", "It overwrote nothing.", "d.chen has it.",
                  "REJECT violence_threat", "“kept”", "They moved in on Tuesday"):  # fmt: skip
        assert words in text, words
    assert not server.verdicts


@pytest.mark.parametrize(
    ("now", "words"),
    [("free", "Nobody has it: it waits again."), ("resolved", "It was decided at "),
     ("moved", "It was moved to another queue at "), ("escalated", "It was escalated at "),
     ("withdrawn", "nobody needs to look any more"), ("taken_back", "A lead took it back at "),
     ("taken_over", "You took it over in another terminal at "),
     ("parked", ", and comes back by itself."), ("leased", "Somebody else has had it since "),
     ("something_new", "Where it is now is not known here (something_new).")],
)  # fmt: skip
async def test_the_stale_dialog_says_where_the_item_is(folder: Path, now: str, words: str) -> None:
    server = FakeServer([POST])
    server.fail("verdict", lambda: stale(now=now, holder=None, since="2026-11-28T14:05:30Z"))
    app = application(server, folder)
    async with running(app, (80, 24)) as pilot:
        await decide(pilot, "r", "1")
        text = shown(app)
    assert words in text
    assert "claim again" not in text
    assert "next item" in text or "look again" in text


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


# what is not proven


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
        end = time.monotonic() + 20
        while "p-8f31c2" not in shown(app) and time.monotonic() < end:
            await pilot.pause(0.05)
        assert "p-8f31c2" in shown(app)
    claims = {body["claim_key"] for path, body in server.bodies if path.endswith("claim")}
    assert len(claims) == 1
