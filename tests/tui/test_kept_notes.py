"""Nothing that was typed is lost: a note that was not sent is kept until sign-off."""

from __future__ import annotations

from pathlib import Path

from shared.problems import ProblemCode
from shared.wire.queue import NOTE_LIMIT
from tests.tui import samples
from tests.tui.drive import application, armed, decide, press, review, running, shown
from tests.tui.fake_server import FakeServer, problem
from tests.tui.test_trouble import stale
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
    assert app.return_value == (
        "Signed off. 0 decided in this session. 1 note was not sent and is gone (p-8f31c2)."
    )


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
