"""At 80x24 nothing that a person has to know is cut off."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from shared.vocabulary import Outcome, Verdict
from shared.wire.queue import DecisionPart
from tests.tui import samples
from tests.tui.drive import Clock, application, decide, press, review, running, shown
from tests.tui.fake_server import FakeServer
from tests.tui.test_trouble import cut, stale
from tui.screens.review import ReviewScreen
from tui.state.countdown import Countdown, Renewal
from tui.state.held import Held
from tui.state.session import Reviewing
from tui.widgets.bars import Receipt, receipt_words
from tui.widgets.evidence import author

NARROW = (80, 24)
POST = samples.evidence()


def held_screen(app: Any, note: str) -> ReviewScreen:
    screen = review(app)
    assert isinstance(screen.session, Reviewing)
    screen.session = Reviewing(screen.session.held, note)
    return screen


def status_row(app: Any) -> str:
    return shown(app).splitlines()[-2]


async def test_a_kept_note_is_said_and_stays_marked(folder: Path) -> None:
    app = application(FakeServer([POST]), folder)
    async with running(app, NARROW) as pilot:
        assert "✓Note" not in shown(app)
        await press(pilot, "c", *"seen", "enter")
        assert "Note kept: it goes with your verdict." in status_row(app)
        await press(pilot, "j")
        assert "✓Note" in shown(app)
        assert "Help" in shown(app).splitlines()[-1]


async def test_a_note_that_was_not_sent_is_shown_whole(folder: Path) -> None:
    server = FakeServer([POST])
    server.fail("verdict", stale)
    app = application(server, folder)
    note = " ".join(f"word{number}" for number in range(50))
    async with running(app, NARROW) as pilot:
        held_screen(app, note)
        await decide(pilot, "r", "1")
        text = shown(app)
    for word in note.split():
        assert word in text, word
    assert "next item" in text


async def test_a_very_long_note_leaves_the_key_on_the_screen_and_says_what_is_missing(
    folder: Path,
) -> None:
    server = FakeServer([POST])
    server.fail("verdict", stale)
    app = application(server, folder)
    async with running(app, NARROW) as pilot:
        held_screen(app, "word " * 799 + "word")
        await decide(pilot, "r", "1")
        text = shown(app)
    assert "next item" in text
    assert "more characters" in text


async def test_under_the_stale_dialog_no_older_receipt_speaks(folder: Path) -> None:
    server = FakeServer([POST, samples.kyc()])
    app = application(server, folder)
    async with running(app, NARROW) as pilot:
        await decide(pilot, "r", "1")
        assert "recorded" in status_row(app)
        server.fail("verdict", stale)
        await decide(pilot, "r", "1")
        assert "Not recorded" in status_row(app)
        assert "✓" not in status_row(app)


async def test_a_contradiction_is_told_whole(folder: Path) -> None:
    app = application(FakeServer([samples.evidence(scores={"child_safety": "0.55"})]), folder)
    async with running(app, NARROW) as pilot:
        await decide(pilot, "a")
        assert "⚠ child_safety is REVIEW and fails closed: enter is asked for" in shown(app)
        assert "1-9, then enter sends" in shown(app)
        await press(pilot, "1")
        assert "fails closed. Send it all the same? enter" in shown(app)


async def test_the_reasons_of_a_short_list_are_told_whole(folder: Path) -> None:
    app = application(FakeServer([POST]), folder)
    async with running(app, NARROW) as pilot:
        await decide(pilot, "s")
        assert "I need more time than the lease gives" in shown(app)


@pytest.mark.parametrize(
    ("name", "followers", "words"),
    [(None, 0, "no author given"), (None, 7, "no author given  7 followers"),
     ("ana", 0, "ana  0 followers")],
)  # fmt: skip
def test_nobody_has_no_followers(name: str | None, followers: int, words: str) -> None:
    shown_case = samples.evidence(author_id=name)
    lease = samples.lease(shown_case, author_followers=followers)
    rows = list(author(Held(lease, shown_case, Countdown(180, 180), Renewal(0)), 60))
    assert rows[1].plain.rstrip() == words


async def test_policy_and_model_are_told_whole_in_a_slim_pane(folder: Path) -> None:
    app = application(FakeServer([POST]), folder)
    async with running(app, (160, 40)):
        assert "model guard-7b@1.4.1" in shown(app)


async def test_the_offline_row_ends_where_its_sentence_ends(folder: Path) -> None:
    server = FakeServer([POST])
    server.fail("verdict", *[cut] * 10_000)
    clock = Clock()
    app = application(server, folder, clock)
    async with running(app, NARROW) as pilot:
        await decide(pilot, "r", "1")
        row = status_row(app)
    assert "Your REJECT is saved here and will be sent exactly once." in row
    assert "…" not in row


@pytest.mark.parametrize("size", [1, 20, 64])
def test_a_receipt_gives_up_all_but_the_time_until_it_takes_effect(size: int) -> None:
    at = datetime(2026, 1, 5, 14, 3, 20, tzinfo=UTC)
    decision = DecisionPart(
        decision_id="1", item_id="1", content_id="c" * size, verdict=Verdict.REJECT,
        outcome=Outcome.REMOVE, reason="harassment_person", recorded_at=at,
        takes_effect_at=at + timedelta(seconds=10), late_by_ms=61_000,
    )  # fmt: skip
    row = receipt_words(Receipt(decision, 0.0), 1.0, NARROW[0])
    assert row.cell_length <= NARROW[0]
    assert "1:01 late · takes effect in 9 s" in row.plain
    assert "REJECT" in row.plain


async def test_what_decided_stands_first_and_above_the_fold(folder: Path) -> None:
    scores = dict.fromkeys(("spam", "hate", "sexual", "self_harm", "terror", "fraud"), "0.05")
    case = samples.evidence(scores={**scores, "violence": "0.81"})
    app = application(FakeServer([case]), folder)
    async with running(app, NARROW):
        text = shown(app)
    assert "violence: 0.81 against low 0.20 and high 0.95 → REVIEW" in text
    rows = text.splitlines()
    decided = next(place for place, row in enumerate(rows) if "→ REVIEW" in row)
    assert "Why it is here" in rows[decided - 1]


async def test_in_the_compact_layout_the_signs_are_explained_last(folder: Path) -> None:
    app = application(FakeServer([POST]), folder)
    async with running(app, NARROW) as pilot:
        assert "⚑ rule hit" not in shown(app)
        await press(pilot, "tab", "G")
        assert "⚑ rule hit" in shown(app)
