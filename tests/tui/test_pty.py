"""The program on a pseudo-terminal: what reaches the terminal, and how it leaves."""

from __future__ import annotations

import json
import re
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from shared.evidence import Evidence
from tests.tui import samples
from tests.tui.fake_server import FakeServer
from tests.tui.terminal import KEY, ROOT, Loopback, Terminal

SHARED_DATA = ROOT.parent / "shared" / "data" / "hostile_strings.jsonl"
OWN_DATA = ROOT / "tests" / "unit" / "tui" / "hostile.jsonl"
SENTINELS = "\x1b[0mSENTINELa \x1b[1;1HSENTINELb \x1b[?2004lSENTINELc \x1b[38;2;1;2;3mSENTINELd"
A_PAGE = 40

_ATTRIBUTE = rb"(?:[1234579]|[34]8;2;\d{1,3};\d{1,3};\d{1,3})"
_SGR = rb"\x1b\[(?:0|" + _ATTRIBUTE + rb"(?:;" + _ATTRIBUTE + rb")*)m"
_CURSOR = rb"\x1b\[\d{1,3};\d{1,3}H"
_POINTER = rb"\x1b\]22;(?:default|pointer|text)\x07"
_NEXT_ROW = rb"\r\n(?=\x1b\[\d{1,3};\d{1,3}H)"
_CHARACTER = rb"[^\x00-\x1f\x7f]"
_PAINTING = re.compile(
    rb"(?:" + rb"|".join((_SGR, _CURSOR, _POINTER, _NEXT_ROW, _CHARACTER)) + rb")*"
)
_BEGIN = (
    b"\x1b[?1049h\x1b[?1000h\x1b[?1003h\x1b[?1015h\x1b[?1006h\x1b[?25l\x1b[?1004h\x1b[>25u"
    b"\x1b[?2026$p\x1b[?2048$p\x1b[?2004h\x1b[?7l\x1b[?1000h\x1b[?1003h\x1b[?1015h\x1b[?1006h"
)
_END = (
    b"\x1b[?2004l\x1b[?7h\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[<u\x1b[?1049l\x1b[?25h"
    b"\x1b[?1004l\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l"
)
pytestmark = pytest.mark.slow


@contextmanager
def started(
    fake: FakeServer, folder: Path, *arguments: str, size: tuple[int, int] = (120, 40)
) -> Iterator[Terminal]:
    with Loopback(fake) as loopback:
        terminal = Terminal(loopback.url, folder, *arguments, size=size)
        try:
            yield terminal
        finally:
            terminal.close()


def begun(terminal: Terminal, text: str = "p-8f31c2") -> None:
    """Wait until an item is on the screen and counts keys."""
    terminal.wait_for_text(text)
    time.sleep(0.5)


def painted(output: bytes) -> bytes:
    """Return what was written between Textual's own beginning and end, after checking both."""
    assert output.startswith(_BEGIN)
    assert output.count(_END) == 1
    body = output[len(_BEGIN) : output.index(_END)]
    said = output[output.index(_END) + len(_END) :]
    assert re.fullmatch(rb"(?:[ -~]*\r\n)?", said), said
    return body


def assert_only_painting(body: bytes) -> None:
    """Prove that every byte is colour, position or a printable character of valid UTF-8."""
    match = _PAINTING.match(body)
    assert match is not None
    stopped = match.end()
    assert stopped == len(body), body[max(stopped - 40, 0) : stopped + 40]
    text = re.sub(rb"\x1b\[[\d;]*[mH]|\r\n|" + _POINTER, b"", body).decode()
    assert all(character.isprintable() for character in text)


def hostile_texts() -> list[str]:
    """Return every hostile string there is: our own, and the shared ones where they are."""
    files = [OWN_DATA, *([SHARED_DATA] if SHARED_DATA.exists() else [])]
    rows = [json.loads(line)["text"] for file in files for line in file.read_text().splitlines()]
    return [row for row in rows if row.encode(errors="replace").decode() == row]


def hostile_items() -> list[Evidence]:
    """Return the strings in items of a page each, as text and as names and values of facts."""
    texts = [SENTINELS, *hostile_texts()]
    pages = [texts[at : at + A_PAGE] for at in range(0, len(texts), A_PAGE)]
    return [
        samples.evidence(
            "\n".join(page), content_id=f"page-{number}", author_id=page[0][:100],
            fields={f"{place} {text[:60]}": text[:60] for place, text in enumerate(page)},
        )
        for number, page in enumerate(pages)
    ]  # fmt: skip


@pytest.mark.parametrize(
    "size", [(80, 24), pytest.param((200, 60), marks=pytest.mark.full)], ids=["80x24", "200x60"]
)
def test_no_byte_of_an_escape_from_content_reaches_the_terminal(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    items = hostile_items()
    fake = FakeServer(items)
    fake.queues = [("posts", "\x1b]0;pwned\x07[/]Posts"), ("cases", "\x9b31mCases")]
    hint = ("--hint", "\x1b[2Jhint")
    with started(fake, tmp_path, "--queue", "posts", *hint, size=size) as terminal:
        for number in range(len(items)):
            begun(terminal, f"page-{number} ")
            terminal.press("w", *" " * 6, "G", "w", gap=0.02)
            terminal.press("s")
            terminal.wait_for_text("SKIP: give it back")
            terminal.press("", "1", gap=0.1)
        terminal.wait_for_text("Nothing waiting")
        terminal.press("\x11")
        assert terminal.end() == 0
        output, title = bytes(terminal.output), terminal.screen().title
    body = painted(output)
    assert_only_painting(body)
    assert "pwned" not in title
    for letter in b"abcd":
        assert not re.search(rb"\x1b\[[\d;?]*[a-zA-Z]SENTINEL" + bytes([letter]), body)
    assert b"[0mSENTINELa" in re.sub(rb"\x1b\[[\d;]*[mH]", b"", body)


def test_the_grammar_finds_what_it_is_there_to_find() -> None:
    for text in hostile_texts():
        raw = text.encode()
        if any(byte < 0x20 and byte not in b"\n\t\r" for byte in raw) and b"\x1b[0m" not in raw:
            with pytest.raises(AssertionError):
                assert_only_painting(b"\x1b[1;1H" + raw)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=["SIGTERM", "SIGHUP"])
def test_a_request_to_end_gives_the_item_back_within_a_second(
    tmp_path: Path, number: signal.Signals
) -> None:
    fake = FakeServer([samples.evidence()])
    with started(fake, tmp_path, "--queue", "posts") as terminal:
        begun(terminal)
        asked = time.monotonic()
        terminal.process.send_signal(number)
        terminal.wait_for(lambda: fake.released)
        assert time.monotonic() - asked < 1.0
        assert terminal.end() == 128 + number
        terminal.wait_for(lambda: _END in terminal.output)
    assert fake.released == ["sign_off"]


def test_closing_the_window_gives_the_item_back(tmp_path: Path) -> None:
    fake = FakeServer([samples.evidence()])
    with started(fake, tmp_path, "--queue", "posts") as terminal:
        begun(terminal)
        terminal.hang_up()
        terminal.wait_for(lambda: fake.released, 5)
        terminal.end()
    assert fake.released == ["sign_off"]


def test_a_server_that_does_not_answer_does_not_hold_the_end_up(tmp_path: Path) -> None:
    fake = FakeServer([samples.evidence()])

    def hang() -> httpx.Response:
        time.sleep(4)
        return httpx.Response(503)

    fake.fail("release", hang)
    with started(fake, tmp_path, "--queue", "posts") as terminal:
        begun(terminal)
        asked = time.monotonic()
        terminal.process.send_signal(signal.SIGTERM)
        terminal.end()
        assert time.monotonic() - asked < 3.0


def test_a_kill_leaves_the_item_to_be_resumed(tmp_path: Path) -> None:
    fake = FakeServer([samples.evidence()])
    with started(fake, tmp_path, "--queue", "posts") as terminal:
        begun(terminal)
        terminal.process.kill()
        terminal.end()
    assert not fake.released
    with started(fake, tmp_path, "--queue", "posts") as terminal:
        terminal.wait_for_text("Resumed: this item was still yours.")


def test_an_unbracketed_paste_decides_nothing_and_fingers_do(tmp_path: Path) -> None:
    fake = FakeServer([samples.evidence(), samples.kyc()])
    with started(fake, tmp_path, "--queue", "posts") as terminal:
        begun(terminal)
        terminal.type("great r1 a1 r2 e1 s1 ")
        time.sleep(0.3)
        assert not fake.verdicts
        terminal.press("\x1b", gap=0.3)
        terminal.press("r", "1")
        terminal.wait_for_text("kyc-2041")
    assert len(fake.verdicts) == 1


def test_the_key_is_on_no_command_line_and_on_no_screen(tmp_path: Path) -> None:
    fake = FakeServer([samples.evidence()])
    with started(fake, tmp_path, "--queue", "posts") as terminal:
        begun(terminal)
        line = Path(f"/proc/{terminal.process.pid}/cmdline").read_bytes()
        terminal.press("?", "x", "\x11")
        terminal.end()
        assert KEY.encode() not in line
        assert KEY.encode() not in terminal.output
    for file in (tmp_path / "state").rglob("*"):
        assert not file.is_file() or KEY not in file.read_text()


def test_no_color_shows_words_and_no_colour(tmp_path: Path) -> None:
    fake = FakeServer([samples.evidence()])
    with Loopback(fake) as loopback:
        terminal = Terminal(
            loopback.url, tmp_path, "--queue", "posts", environment={"NO_COLOR": "1"}
        )
        try:
            begun(terminal)
            assert "0.81 ? REVIEW" in "\n".join(terminal.display())
            colours = re.findall(rb"[34]8;2;(\d+);(\d+);(\d+)", bytes(terminal.output))
            assert colours
            assert all(red == green == blue for red, green, blue in colours)
        finally:
            terminal.close()


def test_the_leads_screen_opens_and_leaves(tmp_path: Path) -> None:
    with Loopback(FakeServer()) as loopback:
        terminal = Terminal(loopback.url, tmp_path, view="lead")
        try:
            terminal.wait_for_text("Leases per undecided item")
            terminal.wait_for_text("371 90%")
            terminal.press("\x11")
            assert terminal.end() == 0
            assert_only_painting(painted(bytes(terminal.output)))
        finally:
            terminal.close()
