"""Evidence that changes: heard while reading, or met at the verdict; nothing is sent by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from shared.evidence import Evidence
from shared.problems import ProblemCode
from shared.vocabulary import NewsKind, Verdict
from tests.tui import samples
from tests.tui.drive import application, armed, decide, press, review, running, shown
from tests.tui.fake_server import FakeServer, problem
from tui.state.session import Changed, Reviewing, Submitting

POST = samples.evidence()
CASE = samples.kyc()
READ = 0.45
"""Seconds until a dialog takes keys."""


def louder(text: str | None = samples.POST, **scores: str) -> Evidence:
    return samples.evidence(text, scores={**samples.SCORES, "violence": "0.97", **scores})


def refusing(server: FakeServer, new: Evidence, **extra: Any) -> None:
    """Let the evidence change under the very verdict that comes next."""

    def move() -> httpx.Response:
        server.revise(new)
        return problem(ProblemCode.EVIDENCE_CHANGED, 409, **extra)

    server.fail("verdict", move)


def sent(server: FakeServer) -> list[dict[str, Any]]:
    return [body for path, body in server.bodies if path.endswith("/verdict")]


async def test_a_refused_verdict_shows_what_changed_and_is_never_sent_by_itself(
    folder: Path,
) -> None:
    server = FakeServer([POST])
    changed = samples.POST.replace("on Friday night", "on Sunday morning")
    refusing(server, louder(changed, hate="0.65"))
    app = application(server, folder)
    async with running(app) as pilot:
        await press(pilot, "c", *"kept", "enter")
        await decide(pilot, "r", "1")
        text = shown(app)
        await pilot.pause(0.6)
        assert len(sent(server)) == 1
    for words in (
        "Not recorded: the evidence changed", "REJECT violence_threat",
        "violence: 0.81 REVIEW → 0.97 BLOCK  ⚑ crossed", "1 other score moved within its band",
        "[−Friday night−] [+Sunday morning+]", "kept, and goes with your next verdict",
        "send REJECT on the evidence as it is now", "They moved in on Tuesday",
    ):  # fmt: skip
        assert words in text, words
    assert "harassment:" not in text, "only what changed"
    assert not server.verdicts


async def test_enter_sends_the_verdict_on_the_new_hash_once_it_could_be_read(folder: Path) -> None:
    server = FakeServer([POST, CASE])
    refusing(server, louder())
    app = application(server, folder)
    async with running(app) as pilot:
        await press(pilot, "c", *"kept", "enter")
        await decide(pilot, "r", "1")
        await press(pilot, "enter")
        assert len(sent(server)) == 1, "not before 400 ms"
        await pilot.pause(READ)
        assert server.mine is not None
        now = server.mine.evidence_hash
        await press(pilot, "enter")
        await armed(pilot)
        assert "✓ REJECT" in shown(app)
    first, second = sent(server)
    assert second["evidence_hash"] == now != first["evidence_hash"]
    assert second["verdict_token"] != first["verdict_token"]
    assert (second["verdict"], second["reason"], second["note"]) == (
        "reject", "violence_threat", "kept",
    )  # fmt: skip
    assert second["seen"] == first["seen"], "the text is the same"


async def test_what_was_seen_of_a_text_that_changed_is_not_claimed(folder: Path) -> None:
    server = FakeServer([POST, CASE])
    refusing(server, samples.evidence(samples.POST + " Tomorrow."))
    app = application(server, folder)
    async with running(app) as pilot:
        await decide(pilot, "r", "1")
        await pilot.pause(READ)
        await press(pilot, "enter")
        await pilot.pause(0.1)
    assert sent(server)[1]["seen"] is None


async def test_a_verdict_that_contradicts_the_new_evidence_asks_for_enter_twice(
    folder: Path,
) -> None:
    server = FakeServer([POST, CASE])
    refusing(server, louder())
    app = application(server, folder)
    async with running(app) as pilot:
        await decide(pilot, "a", "1")
        assert "violence is in its BLOCK band: enter is asked for twice" in shown(app)
        await pilot.pause(READ)
        await press(pilot, "enter")
        assert len(sent(server)) == 1
        assert "Send APPROVE all the same?" in shown(app)
        await press(pilot, "enter")
        await armed(pilot)
    assert len(sent(server)) == 2


async def test_a_verdict_that_the_item_does_not_admit_any_more_can_not_be_sent(
    folder: Path,
) -> None:
    server = FakeServer([POST])

    def move() -> httpx.Response:
        server.mine = samples.lease(louder(), verdicts=(Verdict.ESCALATE,))
        return problem(ProblemCode.EVIDENCE_CHANGED, 409)

    server.fail("verdict", move)
    app = application(server, folder)
    async with running(app) as pilot:
        await decide(pilot, "r", "1")
        await pilot.pause(READ)
        await press(pilot, "enter")
        assert "does not admit REJECT any more" in shown(app)
    assert len(sent(server)) == 1


@pytest.mark.parametrize("key", ["escape", "q", "d"])
async def test_escape_returns_to_the_updated_item_with_the_note(folder: Path, key: str) -> None:
    server = FakeServer([POST])
    refusing(server, louder())
    app = application(server, folder)
    async with running(app) as pilot:
        await press(pilot, "c", *"kept", "enter")
        await decide(pilot, "r", "1")
        await pilot.pause(READ)
        await press(pilot, key)
        state = review(app).session
        assert isinstance(state, Reviewing)
        assert state.note == "kept"
        assert "0.97 ✕ BLOCK" in shown(app)
        assert not review(app).hand.armed(0), "the new item wants its 400 ms"
    assert not server.verdicts


async def test_e_chooses_anew_on_the_updated_item(folder: Path) -> None:
    server = FakeServer([POST, CASE])
    refusing(server, louder())
    app = application(server, folder)
    async with running(app) as pilot:
        await decide(pilot, "r", "2")
        await pilot.pause(READ)
        await press(pilot, "e", gap=0.2)
        picker = review(app).hand.picker
        assert picker is not None
        assert (picker.offer.letter, picker.highlight) == ("r", 1)
        assert len(sent(server)) == 1
        await press(pilot, "3")
        await armed(pilot)
    assert [body["reason"] for body in sent(server)] == ["violence_incite", "hate_attack"]


async def test_evidence_that_can_not_be_fetched_or_proven_can_not_be_sent_on(folder: Path) -> None:
    server = FakeServer([POST])

    def move() -> httpx.Response:
        server.fail("/me/lease", lambda: httpx.Response(502))
        return problem(ProblemCode.EVIDENCE_CHANGED, 409)

    server.fail("verdict", move)
    app = application(server, folder)
    async with running(app) as pilot:
        await decide(pilot, "r", "1")
        await pilot.pause(READ)
        assert "no longer yours, or out of reach" in shown(app)
        assert "send REJECT" not in shown(app)
        server.revise(louder())
        review(app).look_at_item()
        await pilot.pause(0.2)
        assert "send REJECT" in shown(app), "a later look brings it"
    assert len(sent(server)) == 1


# heard while reading


async def test_a_change_that_is_heard_disarms_the_keys_until_it_was_looked_at(
    folder: Path,
) -> None:
    server = FakeServer([POST, CASE])
    server.streams = []
    app = application(server, folder)
    async with running(app) as pilot:
        await press(pilot, "r")
        server.revise(louder())
        server.tell(NewsKind.EVIDENCE_CHANGED, "1001")
        await pilot.pause(0.3)
        assert "Evidence changed · d look" in shown(app)
        assert review(app).hand.picker is None, "the open list is closed"
        await press(pilot, "1", "r", "1", "a", "1", "s", "1", "P", "enter")
        assert not sent(server)
        assert not server.released
        assert "0.81" in shown(app), "nothing moves under the reader"
        await press(pilot, "d")
        text = shown(app)
        assert "It changed while you were reading. Nothing was sent." in text
        assert "violence: 0.81 REVIEW → 0.97 BLOCK" in text
        await pilot.pause(READ)
        await press(pilot, "enter")
        assert "0.97 ✕ BLOCK" in shown(app)
        await decide(pilot, "r", "1")
        await armed(pilot)
    assert len(sent(server)) == 1
    assert len(server.verdicts) == 1


async def test_d_shows_the_same_difference_again_and_leaves_the_item_where_it_is(
    folder: Path,
) -> None:
    server = FakeServer([POST])
    server.streams = []
    app = application(server, folder)
    async with running(app) as pilot:
        await press(pilot, "d")
        assert "The evidence is as it was when you claimed the item." in shown(app)
        server.revise(louder())
        server.tell(NewsKind.EVIDENCE_CHANGED, "1001")
        await pilot.pause(0.3)
        await press(pilot, "d")
        await pilot.pause(READ)
        await press(pilot, "enter")
        await armed(pilot)
        await press(pilot, "d")
        assert "0.81 REVIEW → 0.97 BLOCK" in shown(app)
        assert isinstance(review(app).session, Changed)
        await pilot.pause(READ)
        await press(pilot, "escape")
        assert review(app).hand.armed(review(app).hand.armed_at)
        assert isinstance(review(app).session, Reviewing)


async def test_news_that_turns_out_to_be_none_leaves_the_keys_alive(folder: Path) -> None:
    server = FakeServer([POST, CASE])
    server.streams = []
    app = application(server, folder)
    async with running(app) as pilot:
        server.tell(NewsKind.EVIDENCE_CHANGED, "1001")
        await pilot.pause(0.3)
        assert "Evidence changed" not in shown(app)
        await decide(pilot, "r", "1")
    assert len(server.verdicts) == 1


async def test_while_a_verdict_is_on_its_way_news_of_its_item_waits_for_the_answer(
    folder: Path,
) -> None:
    def cut() -> httpx.Response:
        raise httpx.ConnectError("no")

    server = FakeServer([POST])
    server.streams = []
    server.fail("verdict", *[cut] * 10_000)
    app = application(server, folder)
    async with running(app) as pilot:
        await decide(pilot, "r", "1")
        server.revise(louder())
        server.tell(NewsKind.EVIDENCE_CHANGED, "1001")
        await pilot.pause(0.3)
        assert isinstance(review(app).session, Submitting)
