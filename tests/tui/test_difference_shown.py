"""How a difference in the evidence is shown: whole, at every size, and harmless."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.tui import samples
from tests.tui.drive import application, decide, press, running, shown
from tests.tui.fake_server import FakeServer
from tests.tui.test_changed import READ, refusing
from tui.difference import difference
from tui.widgets.moved import difference_rows


@pytest.mark.parametrize(
    "size",
    [
        (80, 24),
        pytest.param((120, 40), marks=pytest.mark.full),
        pytest.param((200, 60), marks=pytest.mark.full),
    ],
)
async def test_a_large_change_can_be_read_whole_and_its_keys_stay_on_the_screen(
    folder: Path, size: tuple[int, int]
) -> None:
    words = " ".join(f"word{number}" for number in range(400))
    new = " ".join(f"{'new' if number % 10 == 0 else 'word'}{number}" for number in range(400))
    server = FakeServer([samples.evidence(words)])
    refusing(server, samples.evidence(new))
    app = application(server, folder)
    seen = ""
    async with running(app, size) as pilot:
        await decide(pilot, "r", "1")
        await pilot.pause(READ)
        for _ in range(100):
            seen += shown(app)
            assert "nothing is sent" in shown(app)
            await press(pilot, "j", gap=0.0)
        seen += shown(app)
    for number in range(0, 400, 10):
        assert f"new{number}" in seen, number
    assert not server.verdicts


async def test_a_difference_can_not_speak_to_the_terminal(folder: Path) -> None:
    server = FakeServer([samples.evidence("plain [bold]x[/] words here", author_id="a")])
    refusing(
        server,
        samples.evidence(
            "plain \x1b[2J\x1b]0;pwned\x07 [@click=app.sign_off]words[/] \u202ehere",
            author_id="\x1b[31mb",
        ),
    )
    app = application(server, folder)
    async with running(app) as pilot:
        await decide(pilot, "r", "1")
        text = shown(app)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "‹ESC›" in text
    assert "[@click=app.sign_off]" in text
    assert "author id" in text


def test_text_comes_first_and_scores_that_stayed_in_their_band_are_only_counted() -> None:
    one, other = "a" * 64, "b" * 64
    old = replace(samples.evidence("cans and a lighter", fields={"n": 1}), attachments=(one,))
    new = replace(
        samples.evidence(
            "cans and no lighter", fields={"n": 2},
            scores={**samples.SCORES, "violence": "0.97", "hate": "0.65", "spam": "0.02"},
        ),
        attachments=(other,), rules=(samples.hit("cans", "cans"),), model_version="guard-8",
    )  # fmt: skip
    rows = [row.plain.strip() for row in difference_rows(difference(old, new), 80)]
    starts = ["Text", "cans and", "n:", "Attachment", "Attachment", "Rules", "Another", "Score "]
    assert len(rows) == len(starts) + 1, rows
    for row, start in zip(rows, starts, strict=False):
        assert row.startswith(start), rows
    assert rows[-1].endswith("2 other scores moved within their band")


def test_a_score_that_came_or_went_is_not_called_allowed_before() -> None:
    old = samples.evidence(scores={**samples.SCORES, "spam": None})
    new = samples.evidence(scores={**samples.SCORES, "spam": "0.97"})
    rows = [row.plain for row in difference_rows(difference(old, new), 80)]
    assert "spam: no score → 0.97 BLOCK  ⚑ crossed" in rows[0]
