"""Content is hostile to the terminal: in whatever field it comes, it is shown, never obeyed."""

from __future__ import annotations

import json
import time
import unicodedata
from pathlib import Path

import pytest
from rich.cells import cell_len
from textual import events

from shared.evidence import Evidence, ShownContent, ShownLabel, ShownRuleHit
from shared.problems import ProblemCode
from shared.vocabulary import Band
from tests.tui import samples
from tests.tui.drive import Clock, application, armed, decide, press, review, running, shown
from tests.tui.fake_server import FakeServer, problem
from tui.state.countdown import Renewal, from_answer
from tui.state.events import Leased
from tui.state.held import Held

OWN = Path(__file__).parents[1] / "unit" / "tui" / "hostile.jsonl"
ROWS = [json.loads(line) for line in OWN.read_text().splitlines()]
WORST_IDS = (
    "click", "close", "open", "type", "title", "clipboard", "c1-csi", "bidi", "zero", "zalgo",
    "mark-first", "cr", "fake-frame",
)  # fmt: skip
WORST = [row["text"] for row in ROWS if row["id"] in WORST_IDS]


def everywhere(text: str) -> Evidence:
    """Return evidence with `text` in every field that a producer or a policy could fill."""
    label = ShownLabel(
        category=text, score="0.5", low="0.2", high="0.95", band=Band.REVIEW, severity=60,
        fail_closed=False,
    )  # fmt: skip
    return Evidence(
        nonce="0", revision=1, deciding=text, statement=text, policy_version=text,
        model_version=text, labels=(label,), attachments=(text,),
        rules=(ShownRuleHit(rule=text, category=text, start=0, end=len(text)),),
        content=ShownContent(
            content_id=text, kind=text, lang=text, text=text, author_id=text, created_at=text,
            fields={text: text, "nested": {text: [text, {text: None}]}},
        ),
    )  # fmt: skip


def held(evidence: Evidence, number: int) -> Held:
    """Return an item in hand; the lease's own evidence plays no part any more."""
    lease = samples.lease(samples.evidence(), number=number, evidence_hash=f"{number:064d}")
    return Held(lease, evidence, from_answer(180_000, 180_000, 0, 0), Renewal(0))


def harmless(text: str) -> bool:
    """Tell whether text on the screen is printable and keeps to its line."""
    return all(
        character == "\n" or unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co", "Cn")
        for character in text
    )


async def test_every_hostile_text_opens_in_every_field(folder: Path) -> None:
    app = application(FakeServer([samples.evidence()]), folder)
    async with running(app, (120, 40)) as pilot:
        for number, row in enumerate(ROWS):
            review(app).take(Leased(held(everywhere(row["text"]), number + 2)))
            await pilot.pause()
            text = shown(app)
            assert harmless(text), row["id"]
            assert all(cell_len(line) <= 120 for line in text.splitlines()), row["id"]
            assert app.is_running
        assert not list(folder.glob("verdict-*"))


@pytest.mark.parametrize(
    "size", [(80, 24), pytest.param((200, 60), marks=pytest.mark.full)], ids=["80x24", "200x60"]
)
async def test_the_worst_of_them_keep_to_their_frames_at_other_sizes(
    folder: Path, size: tuple[int, int]
) -> None:
    app = application(FakeServer([samples.evidence()]), folder)
    async with running(app, size) as pilot:
        for number, text in enumerate(WORST):
            review(app).take(Leased(held(everywhere(text), number + 2)))
            await pilot.pause()
            await press(pilot, "tab", "space", "G", "g", "tab", gap=0)
            lines = shown(app).splitlines()
            assert harmless("\n".join(lines))
            assert lines[-1].lstrip().startswith("a  Approve"), "content reached the verdict bar"


async def test_an_action_in_content_is_text_and_can_be_clicked_without_effect(folder: Path) -> None:
    text = "x [@click=app.sign_off]read more[/] [@click=screen.do_sign_off()]and more[/]"
    server = FakeServer([samples.evidence(text)])
    app = application(server, folder)
    async with running(app) as pilot:
        assert "[@click=app.sign_off]read more[/]" in shown(app)
        for x in range(2, 60, 3):
            await pilot.click(offset=(x, 3))
        assert app.is_running
    assert not server.released


@pytest.mark.parametrize(
    "text", ["[/]", "[@click=app.sign_off]x[/]", "\x1b]0;pwned\x07", "a\u202eb"]
)
async def test_what_the_server_says_in_its_refusals_is_text_too(folder: Path, text: str) -> None:
    server = FakeServer([samples.evidence()])
    server.fail("verdict", lambda: problem(ProblemCode.REASON_NOT_ADMITTED, 409, text))
    app = application(server, folder)
    async with running(app) as pilot:
        await decide(pilot, "r", "1")
        assert harmless(shown(app))
        assert "Not recorded: " in shown(app)


@pytest.mark.parametrize("text", ["[/]", "\x1b[2J", "\u202e[bold]x"])
async def test_queue_names_reasons_and_my_own_name_are_text_too(folder: Path, text: str) -> None:
    server = FakeServer([samples.evidence()])
    server.queues = [("posts", text), (text, text)]
    server.not_for_me = 1
    app = application(server, folder)
    async with running(app) as pilot:
        await press(pilot, "Q")
        assert harmless(shown(app))
        await press(pilot, "escape")
        await decide(pilot, "s")
        assert harmless(shown(app))


async def test_a_pasted_note_is_made_safe(folder: Path) -> None:
    server = FakeServer([samples.evidence()])
    app = application(server, folder)
    async with running(app) as pilot:
        await press(pilot, "c")
        app.post_message(events.Paste("\x1b]0;x\x07[/] p\u200bq"))
        await pilot.pause(0.1)
        assert "‹ESC›]0;x‹BEL›[/] p‹ZWSP›q" in shown(app)
        await press(pilot, "enter")
        await armed(pilot)


@pytest.mark.parametrize(
    ("length", "text"),
    [
        (1_000_000, "word and \x1b "),
        (5_000_000, "x"),
        (1_000_000, "家\n"),
        (300_000, "e\u0301\u0302\u0303"),
    ],
    ids=["1 MB", "5 MB in one line", "1 MB of lines", "marks"],
)  # fmt: skip
async def test_a_large_item_opens_at_once_and_says_how_much_is_loaded(
    folder: Path, length: int, text: str
) -> None:
    content = (text * (length // len(text) + 1))[:length]
    app = application(FakeServer([samples.evidence(content)]), folder, Clock())
    async with running(app) as pilot:
        await pilot.pause(0.2)
        text_shown = shown(app)
        assert "% loaded, G loads more" in text_shown
        assert "seen 0%" in text_shown
        started = time.monotonic()
        await press(pilot, "G", "G", gap=0)
        await pilot.pause()
        assert time.monotonic() - started < 3
        assert "seen 0%" not in shown(app)
