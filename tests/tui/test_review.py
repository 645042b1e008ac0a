"""The workstation on a fake transport: one item after the other."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest
from textual import events

from tests.tui import samples
from tests.tui.drive import SIZES, Clock, application, armed, decide, press, review, running, shown
from tests.tui.fake_server import FakeServer
from tui.state.held import Why
from tui.state.session import Idle, Reviewing
from tui.widgets.bands import score_words

POST = samples.evidence()
CASE = samples.kyc()


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_an_item_is_shown_with_its_evidence_and_its_time(
    folder: Path, size: tuple[int, int]
) -> None:
    app = application(FakeServer([POST]), folder)
    async with running(app, size):
        text = shown(app)
    for words in (
        "p-8f31c2 · post · en", "cans and a lighter", "3:00", "violence", "0.81 ? REVIEW",
        "0.02 ✓ ALLOW", "seen 100%", "Approve", "Reject", "● live",
    ):  # fmt: skip
        assert words in text, words
    assert len(text.splitlines()) == size[1]


@pytest.mark.parametrize("size", [(120, 40), (200, 60)], ids=["120x40", "200x60"])
async def test_rank_versions_hash_and_lease_are_there_at_a_roomy_size(
    folder: Path, size: tuple[int, int]
) -> None:
    hits = (samples.hit(samples.POST, "cans and a lighter"),)
    app = application(FakeServer([samples.evidence(hits=hits)]), folder)
    async with running(app, size):
        text = " ".join(shown(app).split())
    for words in (
        "priority 607.7 = 60×10", "policy standard-1", "evidence ", "lease 2 of this item",
        "Sent here by", "undecided", "arson-lexicon", "«cans and a", "counts as a", "┆ low",
    ):  # fmt: skip
        assert words in text, words
    assert "escalates" not in text, "where no queue lies above, it does not"


@pytest.mark.parametrize(
    ("score", "words"),
    [("0", "0.00"), ("0.2", "0.20"), ("0.1234", "0.1234"), ("0.123456", "0.1235"), ("1", "1.00")],
)
def test_scores_have_two_to_four_decimals(score: str, words: str) -> None:
    assert score_words(score) == words


async def test_letter_and_digit_record_a_verdict_and_bring_the_next_item(folder: Path) -> None:
    server = FakeServer([POST, CASE])
    app = application(server, folder)
    async with running(app) as pilot:
        first = server.mine
        await decide(pilot, "r", "2")
        text = shown(app)
    path, body = next(call for call in server.bodies if call[0].endswith("/verdict"))
    assert first is not None
    assert path == f"/v1/items/{first.item_id}/verdict"
    assert body["verdict"] == "reject"
    assert body["reason"] == "violence_incite"
    assert body["evidence_hash"] == first.evidence_hash
    assert body["seen"] == 100
    assert body["renderer"] == "fencepost-tui/2"
    assert "✓ REJECT p-8f31c2 · violence_incite" in text
    assert "takes effect in 10 s" in text
    assert "kyc-2041" in text


async def test_no_key_counts_in_the_first_400_ms_of_an_item(folder: Path) -> None:
    server = FakeServer([POST, CASE])
    app = application(server, folder)
    async with running(app) as pilot:
        await armed(pilot)
        before = time.monotonic()
        await press(pilot, "r", "2")
        await pilot.pause(0.1)
        hand = review(app).hand
        assert hand.armed_at >= before + 0.4
        later = time.monotonic() + 60  # a busy machine presses late; these are in time
        review(app).hand = replace(hand, armed_at=later)
        await press(pilot, "r", "1", gap=0.06)
        assert review(app).hand.picker is None
    assert len(server.verdicts) == 1


async def test_keys_that_came_too_soon_or_too_fast_are_said_in_the_status_row(
    folder: Path,
) -> None:
    server = FakeServer([POST])
    app = application(server, folder)
    async with running(app, (80, 24)) as pilot:
        screen, now = review(app), time.monotonic()
        screen.hand = replace(screen.hand, armed_at=now + 60)
        await press(pilot, "r")
        assert "Too soon after the item came: press r again." in shown(app)
        screen.hand = replace(screen.hand, armed_at=now)
        await press(pilot, "r")
        assert "Too soon" not in shown(app)
        picker = screen.hand.picker
        assert picker is not None
        screen.hand = replace(screen.hand, picker=replace(picker, opened_at=now + 60))
        await press(pilot, "1")
        assert "Came too fast: press the digit again." in shown(app)
        screen.hand = replace(screen.hand, picker=picker)
        assert not server.verdicts
        await press(pilot, "1", gap=0.2)
        assert len(server.verdicts) == 1


async def test_a_paste_into_the_terminal_decides_nothing(folder: Path) -> None:
    server = FakeServer([POST])
    app = application(server, folder)
    async with running(app) as pilot:
        await armed(pilot)
        for character in "great r1 a1 r2 e1 s1 r1a1":
            app.post_message(events.Key("space" if character == " " else character, character))
        await pilot.pause(0.3)
        assert review(app).hand.picker is not None, "the keys did arrive"
    assert not server.verdicts
    assert not server.released


async def test_the_picker_lists_the_reasons_and_marks_the_deciding_category(folder: Path) -> None:
    app = application(FakeServer([POST]), folder)
    async with running(app, (80, 24)) as pilot:
        await decide(pilot, "r")
        text = shown(app)
    assert "REJECT  p-8f31c2: why?" in text
    assert "1 ▸Threat of physical violence" in text
    assert "3  Attack on a protected group" in text
    assert "If the" in text, "the item stays visible"


async def test_a_contradiction_is_named_and_wants_enter(folder: Path) -> None:
    hits = (samples.hit(samples.POST, "cans and a lighter"),)
    server = FakeServer([samples.evidence(hits=hits), CASE])
    app = application(server, folder)
    async with running(app) as pilot:
        await decide(pilot, "a", "1")
        assert not server.verdicts
        assert "the rule arson-lexicon fired" in shown(app)
        await press(pilot, "enter")
        await pilot.pause(0.1)
    assert len(server.verdicts) == 1


async def test_a_note_goes_with_the_verdict(folder: Path) -> None:
    server = FakeServer([POST, CASE])
    app = application(server, folder)
    async with running(app) as pilot:
        await press(pilot, "c", *"place", "space", *"given", "enter")
        await decide(pilot, "r", "1")
    body = next(body for path, body in server.bodies if path.endswith("/verdict"))
    assert body["note"] == "place given"


async def test_writing_a_note_neither_decides_nor_scrolls(folder: Path) -> None:
    server = FakeServer([POST])
    app = application(server, folder)
    async with running(app) as pilot:
        await armed(pilot)
        await press(pilot, "c", "r", "1", "q", "escape")
        state = review(app).session
        assert isinstance(state, Reviewing)
        assert state.note == ""
    assert not server.verdicts


async def test_giving_back_names_its_reason_and_claims_the_next(folder: Path) -> None:
    server = FakeServer([POST, CASE])
    app = application(server, folder)
    async with running(app) as pilot:
        await decide(pilot, "s", "2")
        assert server.released == ["policy_unclear"]
        assert "kyc-2041" in shown(app)


async def test_distress_asks_nothing_and_claims_nothing(folder: Path) -> None:
    server = FakeServer([POST, CASE])
    app = application(server, folder)
    async with running(app) as pilot:
        await decide(pilot, "s", "6")
        assert server.released == ["distress"]
        assert server.mine is None
        assert "nobody will ask" in shown(app)
        await press(pilot, "enter")
        await pilot.pause(0.1)
        assert "it has no scores" in " ".join(shown(app).split())


async def test_a_case_shows_its_facts_as_a_table(folder: Path) -> None:
    app = application(FakeServer([CASE]), folder)
    async with running(app, (80, 24)):
        text = shown(app)
    assert "applicant.name        Ana Sample" in text
    assert "checks.mrz_valid      yes" in text
    assert "it has no scores" in text
    assert "┆" not in text


async def test_an_empty_queue_says_who_holds_what_and_enter_claims(folder: Path) -> None:
    server = FakeServer([])
    server.held_by_others, server.not_for_me = 2, 3
    app = application(server, folder)
    async with running(app) as pilot:
        text = shown(app)
        assert "Nothing waiting for you in Posts." in text
        assert "2 in review by others; the next of these leases runs out in 1:12." in text
        assert "3 are not offered to you: you left them lately, or may not" in text
        server.waiting.append(POST)
        await press(pilot, "enter")
        await pilot.pause(0.1)
        assert "p-8f31c2" in shown(app)


async def test_an_empty_queue_claims_nothing_by_itself(folder: Path) -> None:
    server = FakeServer([])
    clock = Clock()
    app = application(server, folder, clock)
    async with running(app) as pilot:
        server.waiting.append(POST)
        for _ in range(4):
            clock.now += 4
            await pilot.pause(0)
            review(app).tick()
        await pilot.pause(0.1)
        assert server.mine is None
        assert "1 waits in Posts now." in shown(app)


async def test_without_a_queue_the_first_screen_asks_for_one(folder: Path) -> None:
    server = FakeServer([POST])
    app = application(server, folder, queue=None)
    async with running(app) as pilot:
        assert "Queues" in shown(app)
        assert server.mine is None
        await press(pilot, "1")
        await pilot.pause(0.1)
        assert "p-8f31c2" in shown(app)


async def test_where_there_is_only_one_queue_nothing_is_asked(folder: Path) -> None:
    server = FakeServer([POST])
    server.queues = [("posts", "Posts")]
    app = application(server, folder, queue=None)
    async with running(app):
        assert "p-8f31c2" in shown(app)
        assert "Queues ─" not in shown(app)


async def test_another_queue_is_begun_only_after_the_item_was_given_back(folder: Path) -> None:
    server = FakeServer([POST, CASE])
    app = application(server, folder)
    async with running(app) as pilot:
        await press(pilot, "Q", "2")
        await pilot.pause(0.2)
        assert "it has no scores" in " ".join(shown(app).split()), "its evidence is there too"
    releases = [call for call in server.calls if call.endswith(("/release", "/claim"))]
    assert releases[1:3] == ["POST /v1/items/1001/release", "POST /v1/queues/cases/claim"]
    assert server.released[0] == "sign_off"


async def test_pausing_asks_for_no_next_item(folder: Path) -> None:
    server = FakeServer([POST, CASE])
    app = application(server, folder)
    async with running(app) as pilot:
        await press(pilot, "p")
        await decide(pilot, "r", "1")
        state = review(app).session
        assert isinstance(state, Idle)
        assert state.why is Why.PAUSED
    assert server.mine is None
