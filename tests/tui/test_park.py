"""Parking from the keyboard: three keys, a question that is never lost, and a receipt."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from shared.problems import ProblemCode
from shared.vocabulary import NewsKind
from tests.tui import samples
from tests.tui.drive import KEY, SERVER, application, armed, decide, press, review, running, shown
from tests.tui.fake_server import FakeServer, problem
from tui.clock import today
from tui.journal import Journal
from tui.state.session import Reviewing, Stale
from tui.widgets.note import NoteInput

POST = samples.evidence()
CASE = samples.kyc()
ASKED = "Which page?"


def typed(text: str) -> tuple[str, ...]:
    names = {" ": "space", "?": "question_mark"}
    return tuple(names.get(letter, letter) for letter in text)


async def test_three_keys_park_and_the_receipt_says_until_when(folder: Path) -> None:
    server = FakeServer([POST, CASE])
    app = application(server, folder)
    async with running(app, (80, 24)) as pilot:
        await press(pilot, "P")
        assert "PARK" in shown(app)
        assert "New evidence is on its way" in shown(app)
        await press(pilot, "3")
        assert "tomorrow at 9:00" in shown(app)
        await press(pilot, "3")
        await armed(pilot)
        text = shown(app)
        assert "Parked until Tue 1 Dec" in text
        assert "question" not in text
        assert "kyc-2041" in text, "the next item is there"
    body = server.parked[0]
    until = datetime.fromisoformat(body["until"])
    assert body["reason"] == "await_date"
    assert abs(until - today() - timedelta(days=3)) < timedelta(hours=2)
    assert until.utcoffset() is not None
    assert body["question"] is None


async def test_parking_until_new_evidence_names_no_date(folder: Path) -> None:
    server = FakeServer([POST])
    app = application(server, folder)
    async with running(app) as pilot:
        await press(pilot, "P", "2", "5")
        await pilot.pause(0.2)
    assert server.parked[0]["until"] is None
    assert server.parked[0]["reason"] == "await_evidence"


async def test_a_question_to_the_producer_goes_with_it(folder: Path) -> None:
    server = FakeServer([POST, CASE])
    app = application(server, folder)
    async with running(app, (80, 24)) as pilot:
        await press(pilot, "P", "1", "2", *typed(ASKED))
        assert ASKED in shown(app)
        day = today() + timedelta(days=1)
        assert f"Parked until {day:%a} {day.day} {day:%b} 09:00 · Question to the" in shown(app)
        assert "name no colleague" in shown(app)
        await press(pilot, "enter")
        await armed(pilot)
        assert "Parked until Tue 1 Dec" in shown(app)
        assert "your question was sent" in shown(app)
    assert server.parked[0]["question"] == ASKED
    assert Journal(folder, SERVER, KEY).draft("1001") is None


async def test_a_typed_time_is_asked_again_until_it_is_one(folder: Path) -> None:
    server = FakeServer([POST])
    app = application(server, folder)
    async with running(app) as pilot:
        await press(pilot, "P", "3", "6", *"soon", "enter")
        assert "Not a time" in shown(app)
        assert not server.parked
        for _ in range(4):
            await press(pilot, "backspace")
        await press(pilot, *"2h", "enter")
        await pilot.pause(0.2)
    until = datetime.fromisoformat(server.parked[0]["until"]).astimezone(UTC)
    assert abs(until - today() - timedelta(hours=2)) < timedelta(minutes=1)


async def test_a_question_survives_escape_refusal_and_a_kill(folder: Path) -> None:
    server = FakeServer([POST])
    app = application(server, folder)
    async with running(app) as pilot:
        await press(pilot, "P", "1", "5", *typed(ASKED), "escape", "escape", "escape")
        assert isinstance(review(app).session, Reviewing)
        await press(pilot, "P", "1", "5")
        assert review(app).query_one(NoteInput).value == ASKED
        server.fail("park", lambda: problem(ProblemCode.INVALID_FIELD, 422, "Too far away."))
        await press(pilot, "enter")
        await pilot.pause(0.2)
        assert "Not parked: Too far away." in shown(app)
        await pilot.pause(0.4)
    server.released.clear()
    again = application(server, folder)
    async with running(again) as pilot:
        await press(pilot, "P", "1", "5")
        assert review(again).query_one(NoteInput).value == ASKED


async def test_a_question_of_an_item_that_was_lost_is_kept_as_a_note(folder: Path) -> None:
    server = FakeServer([POST])
    server.streams = []
    app = application(server, folder)
    async with running(app) as pilot:
        await press(pilot, "P", "1", "5", *typed(ASKED))
        server.lose(now="taken_back")
        server.tell(NewsKind.LEASE_REVOKED, "1001")
        await pilot.pause(0.3)
        field = review(app).query_one(NoteInput)
        assert field.writing, "nobody's line is taken away"
        assert "Finish your line first: it is kept." in shown(app)
        assert field.value == ASKED
        await press(pilot, *typed(" Why"), "enter")
        assert isinstance(review(app).session, Stale)
        assert "A lead took it back" in shown(app)
        assert f"{ASKED} Why" in [note.text for note in review(app).kept]
    assert not server.parked


async def test_a_lost_answer_is_asked_again_and_the_same_parking_is_one(folder: Path) -> None:
    server = FakeServer([POST, CASE])

    def lost() -> httpx.Response:
        raise httpx.ReadError("lost")

    server.fail("park", lost)
    app = application(server, folder)
    async with running(app) as pilot:
        await press(pilot, "P", "2", "5")
        await pilot.pause(0.4)
        await armed(pilot)
        assert "Parked until" in shown(app)
    sent = [body for path, body in server.bodies if path.endswith("/park")]
    assert len(sent) == 2
    assert sent[0] == sent[1]


async def test_a_lease_that_ran_out_and_is_still_mine_is_renewed_and_parked(folder: Path) -> None:
    server = FakeServer([POST])
    ran_out = problem(ProblemCode.STALE_LEASE, 409, now="free", can_reclaim=True)
    server.fail("park", lambda: ran_out)
    app = application(server, folder)
    async with running(app) as pilot:
        await press(pilot, "P", "2", "5")
        await pilot.pause(0.2)
    assert server.renewals == 1
    assert len(server.parked) == 1


@pytest.mark.parametrize(
    ("now", "words"),
    [
        ("resolved", "This item is not in your hands any more"),
        ("leased", "This item is not in your hands any more"),
        ("withdrawn", "This item was withdrawn"),
        ("moved", "This item was moved to another queue"),
    ],
)
async def test_parking_what_moved_on_says_where_it_is(folder: Path, now: str, words: str) -> None:
    server = FakeServer([POST])
    server.fail("park", lambda: problem(ProblemCode.STALE_LEASE, 409, now=now))
    app = application(server, folder)
    async with running(app) as pilot:
        await press(pilot, "P", "2", "5")
        await pilot.pause(0.2)
        assert words in shown(app)


async def test_while_it_is_being_parked_no_verdict_leaves_and_its_end_is_no_news(
    folder: Path,
) -> None:
    server = FakeServer([POST, CASE])
    server.streams = []

    def slow() -> httpx.Response:
        raise httpx.ReadTimeout("slow")

    server.fail("park", slow, slow)
    app = application(server, folder)
    async with running(app) as pilot:
        await press(pilot, "P", "2", "5")
        server.tell(NewsKind.LEASE_REVOKED, "1001")
        await press(pilot, "r", "1")
        await pilot.pause(0.4)
        await armed(pilot)
        assert "Parked until" in shown(app)
        await decide(pilot, "r", "1")
    assert [body["item_id"] for path, body in server.bodies if "item_id" in body] == []
    assert len(server.verdicts) == 1


async def test_the_key_that_parks_is_in_the_last_row_where_there_is_room(folder: Path) -> None:
    async with running(app := application(FakeServer([POST]), folder), (120, 40)):
        last = shown(app).splitlines()[-1]
        assert " P  Park " in last
        assert "Sign off" in last, "it takes no more telling key's place"
