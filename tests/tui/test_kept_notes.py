"""Nothing that was typed is lost: a note that was not sent is kept until sign-off."""

from __future__ import annotations

from pathlib import Path

import pytest

from shared.problems import ProblemCode
from shared.vocabulary import NewsKind
from shared.wire.queue import NOTE_LIMIT
from tests.tui import samples
from tests.tui.drive import application, armed, decide, press, review, running, shown
from tests.tui.fake_server import FakeServer, problem
from tests.tui.test_trouble import stale
from tui.seat import take_seat
from tui.state.events import GivenBack
from tui.state.held import Why
from tui.state.notes import KeptNote
from tui.state.session import Reviewing

POST = samples.evidence()
CASE = samples.kyc()
NARROW = (80, 24)


async def test_the_note_of_a_stale_item_is_kept_after_the_dialog(folder: Path) -> None:
    server = FakeServer([POST, CASE])
    server.fail("verdict", stale)
    app = application(server, folder)
    async with running(app, NARROW) as pilot:
        await press(pilot, "c", *"seen", "enter")
        await decide(pilot, "r", "1")
        assert "until you sign off; D shows it" in shown(app)
        await pilot.pause(0.5)
        server.mine = None
        await decide(pilot, "enter")
        assert "Your note was not sent. It is kept: D shows it." in shown(app)
        await armed(pilot)
        await press(pilot, "D")
        text = shown(app)
        assert "Kept notes" in text
        assert "p-8f31c2" in text
        assert "“seen”" in text
        await press(pilot, "enter")
        session = review(app).session
        assert isinstance(session, Reviewing)
        assert session.held.lease.content_id == "kyc-2041"
        assert session.note == "seen"
        assert not review(app).kept, "it belongs to the item in hand now"
        assert "✓Note" in shown(app)


async def test_a_note_taken_over_is_added_to_what_is_there_and_never_cut(folder: Path) -> None:
    app = application(FakeServer([POST]), folder)
    async with running(app, NARROW) as pilot:
        await press(pilot, "c", *"mine", "enter")
        review(app).kept = [KeptNote("1", "p-1", "theirs"), KeptNote("2", "p-2", "x" * NOTE_LIMIT)]
        await press(pilot, "D", "2")
        assert "Both are too long for one note" in shown(app)
        await press(pilot, "D", "1")
        session = review(app).session
        assert isinstance(session, Reviewing)
        assert session.note == "mine theirs"
        assert [note.content_id for note in review(app).kept] == ["p-2"]


async def test_a_note_of_an_item_given_back_is_kept(folder: Path) -> None:
    app = application(FakeServer([POST, CASE]), folder)
    async with running(app) as pilot:
        await press(pilot, "c", *"seen", "enter")
        await decide(pilot, "s", "1")
        assert [note.text for note in review(app).kept] == ["seen"]


async def test_a_note_finished_after_its_item_went_is_kept_for_that_item(folder: Path) -> None:
    app = application(FakeServer([POST, CASE]), folder)
    async with running(app) as pilot:
        await press(pilot, "c", *"seen")
        review(app).take(GivenBack(Why.REFUSED, "It moved on."))
        await press(pilot, "enter")
        assert review(app).kept == [KeptNote("1001", "p-8f31c2", "seen")]
        assert "It is kept: D shows it." in shown(app)


async def test_a_recorded_note_is_not_kept(folder: Path) -> None:
    app = application(FakeServer([POST, CASE]), folder)
    async with running(app) as pilot:
        await press(pilot, "c", *"seen", "enter")
        await decide(pilot, "r", "1")
        assert not review(app).kept
        await press(pilot, "D")
        assert "No note is kept" in shown(app)


async def test_signing_off_says_once_that_notes_end_with_the_session(folder: Path) -> None:
    server = FakeServer([POST, CASE])
    server.fail("verdict", lambda: problem(ProblemCode.STALE_LEASE, 409, now="resolved"))
    app = application(server, folder)
    async with running(app) as pilot:
        await press(pilot, "c", *"seen", "enter")
        await decide(pilot, "r", "1")
        await pilot.press("ctrl+q")
        await pilot.pause(0.2)
        assert "1 note not sent: ctrl+q again drops it" in shown(app)
        await pilot.press("ctrl+q")
        await pilot.pause(0.2)
    assert app.return_value == (
        "Signed off. 0 decided in this session. 1 note was not sent and is gone (p-8f31c2)."
    )


async def test_leaving_asks_once_and_any_other_key_takes_the_question_back(folder: Path) -> None:
    server = FakeServer([POST, CASE])
    app = application(server, folder)
    async with running(app, NARROW) as pilot:
        review(app).kept = [KeptNote("1", "p-1", "theirs")]
        await press(pilot, "c", *"mine")
        await press(pilot, "ctrl+q", gap=0.2)
        assert app.is_running
        assert "2 notes not sent: ctrl+q again drops them" in shown(app)
        await press(pilot, "x")
        assert "ctrl+q again" not in shown(app)
        await press(pilot, "ctrl+q", gap=0.2)
        assert app.is_running, "it is another note than the one that was asked about"
        await press(pilot, "enter", "j")
        assert "ctrl+q again" not in shown(app)
        assert not server.released
        await press(pilot, "ctrl+q", "ctrl+q", gap=0.2)
    assert server.released == ["sign_off"]
    assert "2 notes were not sent and are gone (p-1, p-8f31c2)." in str(app.return_value)


@pytest.mark.parametrize("keys", ["r", "P"])
async def test_the_question_can_be_seen_over_a_list_too(folder: Path, keys: str) -> None:
    app = application(FakeServer([POST]), folder)
    async with running(app, NARROW) as pilot:
        review(app).kept = [KeptNote("1", "p-1", "theirs")]
        await press(pilot, keys, "ctrl+q", gap=0.2)
        assert "1 note not sent: ctrl+q again drops it" in shown(app)


async def test_a_question_that_was_not_sent_is_asked_about_too(folder: Path) -> None:
    app = application(FakeServer([POST]), folder)
    async with running(app) as pilot:
        await press(pilot, "P", "1", "5", *"Why", "escape", "escape", "escape")
        await press(pilot, "ctrl+q", gap=0.2)
        assert app.is_running
        assert "1 note not sent: ctrl+q again drops it" in shown(app)


async def test_the_question_goes_once_what_it_was_about_was_sent(folder: Path) -> None:
    server = FakeServer([POST, CASE])
    app = application(server, folder)
    async with running(app) as pilot:
        await press(pilot, "P", "1", "5", *"Why")
        await press(pilot, "ctrl+q", gap=0.2)
        await press(pilot, "enter", gap=0.3)
        assert "ctrl+q again" not in shown(app)
    assert server.parked[0]["question"] == "Why"


async def test_a_kept_note_whose_item_was_taken_over_here_again_is_not_gone(folder: Path) -> None:
    server = FakeServer([POST])
    server.streams = []
    app = application(server, folder, terminal="host-a")
    async with running(app) as pilot:
        await press(pilot, "c", *"seen", "enter")
        server.take_over({"claim_key": "00000000-0000-4000-8000-00000000beef", "terminal": "b"})
        server.tell(NewsKind.LEASE_REVOKED, "1001")
        await pilot.pause(0.6)
        assert [note.text for note in review(app).kept] == ["seen"]
        await press(pilot, "enter", gap=0.6)
        await press(pilot, "enter", gap=0.2)
        session = review(app).session
        assert isinstance(session, Reviewing)
        assert session.note == "seen"
        assert not review(app).kept, "it lies with its item again"
        await decide(pilot, "r", "1")
        await pilot.press("ctrl+q")
        await pilot.pause(0.2)
    assert app.return_value == "Signed off. 1 decided in this session."


async def test_a_kept_note_that_went_with_the_verdict_of_its_item_is_not_gone(folder: Path) -> None:
    app = application(FakeServer([POST]), folder)
    async with running(app) as pilot:
        await press(pilot, "c", *"seen", "space", *"twice", "enter")
        review(app).kept = [KeptNote("1001", "p-8f31c2", "seen"), KeptNote("7", "p-7", "seen")]
        await decide(pilot, "r", "1")
        assert [note.content_id for note in review(app).kept] == ["p-7"]


async def test_the_terminal_that_lost_it_says_that_the_note_went_on_where_it_did(
    folder: Path,
) -> None:
    server = FakeServer([POST])
    server.streams = []
    beside, apart = take_seat(folder, "host"), take_seat(folder.parent / "other", "host")
    for seat, went in ((beside, True), (apart, False)):
        server.mine = None
        server.waiting = [POST]
        app = application(server, folder, terminal="host-a")
        async with running(app) as pilot:
            await press(pilot, "c", *"seen", "enter", gap=0.1)
            key = f"00000000-0000-4000-8000-{server.number:012x}"
            server.take_over({"claim_key": key.replace("8000", "8001"), "terminal": seat.name})
            server.tell(NewsKind.LEASE_REVOKED, f"{1000 + server.number}")
            await pilot.pause(0.4)
            text = shown(app)
            assert "“seen”" in text
            assert ("with the item to your other terminal" in text) is went
            assert bool(review(app).kept) is not went
            await press(pilot, "enter", gap=0.2)
            assert ("It is kept: D shows it." in shown(app)) is False
        seat.leave()


async def test_a_verdict_that_met_a_take_over_leaves_the_note_to_the_other_terminal(
    folder: Path,
) -> None:
    server = FakeServer([POST])
    seat = take_seat(folder, "host")
    app = application(server, folder, terminal="host-a")
    async with running(app) as pilot:
        await press(pilot, "c", *"seen", "enter", gap=0.1)
        server.take_over(
            {"claim_key": "00000000-0000-4000-8000-00000000beef", "terminal": seat.name}
        )
        await decide(pilot, "r", "1")
        assert "with the item to your other terminal" in shown(app)
        assert not review(app).kept
        assert app.desk.journal.note("1001") == "seen", "it is what the other one writes in"
    seat.leave()


async def test_nothing_of_a_kept_note_is_written_to_disk(folder: Path) -> None:
    server = FakeServer([POST])
    server.fail("verdict", stale)
    app = application(server, folder)
    async with running(app) as pilot:
        await press(pilot, "c", *"topsecret", "enter")
        await decide(pilot, "r", "1")
        assert review(app).kept
    written = [path.read_text() for path in folder.rglob("*") if path.is_file()]
    assert not any("topsecret" in text for text in written)


async def test_a_kept_note_cannot_speak_to_the_terminal(folder: Path) -> None:
    app = application(FakeServer([POST]), folder)
    async with running(app) as pilot:
        review(app).kept = [KeptNote("1", "p-1", "\x1b[2Jgone [bold]x[/]")]
        await press(pilot, "D")
        text = shown(app)
    assert "\x1b" not in text
    assert "[bold]x[/]" in text
