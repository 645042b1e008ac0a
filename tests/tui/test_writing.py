"""A line being written outlives whatever happens meanwhile (cases 39)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from shared.vocabulary import NewsKind
from tests.tui import samples
from tests.tui.drive import Clock, application, press, review, running, shown
from tests.tui.fake_server import FakeServer
from tui.state.session import Idle, Reviewing
from tui.widgets.note import NoteInput

POST = samples.evidence()


async def test_a_note_being_written_survives_news_renewal_resize_and_a_reconnect(
    folder: Path,
) -> None:
    server = FakeServer([POST])
    server.streams = []
    clock = Clock()
    app = application(server, folder, clock)
    async with running(app) as pilot:
        await press(pilot, "c", *"half a thought".replace(" ", "_"), "left", "left")
        field = review(app).query_one(NoteInput)
        before = (field.value, field.cursor_position)
        server.tell(NewsKind.QUEUE_DEPTH, queue="posts")
        server.revise(samples.evidence(scores={**samples.SCORES, "violence": "0.97"}))
        server.tell(NewsKind.EVIDENCE_CHANGED, "1001")
        server.cut_streams()
        server.streams = []
        session = review(app).session
        assert isinstance(session, Reviewing)
        review(app).start_renewal(session.held)
        for _ in range(40):
            clock.now += 1
            review(app).tick()
        await pilot.resize_terminal(80, 24)
        await pilot.pause(0.4)
        assert (field.value, field.cursor_position) == before
        assert field.writing
        assert field.has_focus
        assert "Evidence changed" in shown(app), "it is said, in its row"
        await press(pilot, "x", "enter")
        state = review(app).session
        assert isinstance(state, Reviewing)
        assert state.note == "half_a_thougxht"


async def test_a_note_being_written_is_there_again_after_a_kill(folder: Path) -> None:
    server = FakeServer([POST])
    app = application(server, folder)
    async with running(app) as pilot:
        await press(pilot, "c", *"half")
        await pilot.pause(0.5)  # and then nothing more is heard of this terminal
    again = application(server, folder)
    async with running(again) as pilot:
        await press(pilot, "c")
        assert review(again).query_one(NoteInput).value == "half"


async def test_leaving_off_a_note_leaves_it_as_it_was_on_disk_too(folder: Path) -> None:
    server = FakeServer([POST])
    app = application(server, folder)
    async with running(app) as pilot:
        await press(pilot, "c", *"one", "enter", "c", *"two")
        await pilot.pause(0.5)
        await press(pilot, "escape")
        await pilot.pause(0.5)
        assert app.desk.journal.note("1001") == "one"


async def test_a_lost_item_leaves_the_line_being_written_and_asks_afterwards(
    folder: Path,
) -> None:
    server = FakeServer([POST])
    server.streams = []
    app = application(server, folder)
    async with running(app) as pilot:
        await press(pilot, "c", *"seen")
        server.lose(now="taken_back")
        server.tell(NewsKind.LEASE_REVOKED, "1001")
        await pilot.pause(0.3)
        assert review(app).query_one(NoteInput).writing
        assert "A lead took it back" not in shown(app)
        await press(pilot, *"more", "enter")
        assert "A lead took it back" in shown(app)
        assert [note.text for note in review(app).kept] == ["seenmore"]


async def test_a_disk_that_is_full_is_said_and_does_not_end_the_session(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    app = application(FakeServer([POST]), folder)
    async with running(app) as pilot:
        monkeypatch.setattr(app.desk.journal, "keep_note", full)
        await press(pilot, "c", *"half")
        await asyncio.sleep(0.4)
        await press(pilot, "enter")
        await pilot.pause(0.2)
        assert "No space left on device" in shown(app)
        assert not isinstance(review(app).session, Idle)
