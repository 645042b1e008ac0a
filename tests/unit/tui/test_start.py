"""Settings, key file, journal, crash report, themes: what must be right before the first screen."""

from __future__ import annotations

import io
import stat
from pathlib import Path

import pytest

from shared.vocabulary import Verdict
from shared.wire.queue import VerdictRequest
from tui.__main__ import BAD_SETTINGS, NO_TERMINAL, main
from tui.crash import describe, write_report
from tui.journal import Journal
from tui.settings import SettingsError, read
from tui.state.pending import Draft, Pending
from tui.themes import PALETTES, ROLES

KEY = "fp_test_abc_c2VjcmV0"
TOKEN = "00000000-0000-4000-8000-000000000001"
PENDING = Pending(
    item_id="1", content_id="p-1", queue="posts",
    request=VerdictRequest(
        lease_token=TOKEN, verdict_token=TOKEN, evidence_hash="0" * 64, verdict=Verdict.REJECT,
        reason="spam", note="seen before",
    ),
)  # fmt: skip


class Stream(io.StringIO):
    """A standard stream that is a terminal or is not."""

    def __init__(self, *, terminal: bool) -> None:
        super().__init__()
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("FENCEPOST_KEY", "FENCEPOST_SERVER", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def key_file(folder: Path, mode: int = 0o600) -> Path:
    path = folder / "key"
    path.write_text(f"{KEY}\n")
    path.chmod(mode)
    return path


def test_the_key_comes_from_a_file_of_mine(tmp_path: Path) -> None:
    settings = read(["review", "--key-file", str(key_file(tmp_path)), "--queue", "posts"])
    assert settings.key == KEY
    assert settings.queue == "posts"
    assert settings.state_dir == tmp_path / "state" / "fencepost"
    assert KEY not in repr(settings)


def test_the_key_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FENCEPOST_KEY", KEY)
    monkeypatch.setenv("FENCEPOST_SERVER", "https://queue.example.org/")
    settings = read(["lead"])
    assert (settings.view, settings.key, settings.server) == (
        "lead", KEY, "https://queue.example.org",
    )  # fmt: skip


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o660, 0o610])
def test_a_key_file_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    with pytest.raises(SettingsError, match="others can read it"):
        read(["review", "--key-file", str(key_file(tmp_path, mode))])


def test_no_key_on_the_command_line_and_none_at_all(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with pytest.raises(SystemExit):
        read(["review", "--key", KEY])
    capsys.readouterr()
    assert main(["review"]) == BAD_SETTINGS
    assert "no key: give --key-file FILE, or set FENCEPOST_KEY" in capsys.readouterr().err
    assert main(["review", "--key-file", str(tmp_path / "missing")]) == BAD_SETTINGS
    assert "No such file" in capsys.readouterr().err
    assert main(["review", "--key-file", str(tmp_path)]) == BAD_SETTINGS
    assert f"--key-file {tmp_path}: not a file" in capsys.readouterr().err


@pytest.mark.parametrize("redirected", ["stdin", "stdout", "stderr"])
def test_nothing_is_drawn_where_a_stream_is_no_terminal(
    redirected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    streams = {name: Stream(terminal=name != redirected) for name in ("stdin", "stdout", "stderr")}
    for name, stream in streams.items():
        monkeypatch.setattr(f"sys.{name}", stream)
    assert main(["review", "--key-file", str(key_file(tmp_path))]) == NO_TERMINAL
    told = streams["stderr" if redirected == "stdout" else "stdout"].getvalue()
    assert "this needs a terminal to draw on" in told, "said where a person sees it"


@pytest.mark.parametrize("view", ["review", "lead"])
def test_each_view_explains_itself_by_its_own_name(
    view: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        read([view, "--help"])
    told = capsys.readouterr().out
    assert told.startswith(f"usage: fencepost {view} [-h]")
    assert ("--queue" in told) == (view == "review")


@pytest.mark.parametrize("address", ["ftp://x", "localhost:80", "http://queue.example.org"])
def test_an_address_that_would_expose_the_key_is_refused(tmp_path: Path, address: str) -> None:
    arguments = ["review", "--key-file", str(key_file(tmp_path)), "--server", address]
    with pytest.raises(SettingsError, match="--server"):
        read(arguments)


def test_plain_http_elsewhere_needs_a_word(tmp_path: Path) -> None:
    key = str(key_file(tmp_path))
    address = "http://queue.internal:8737"
    assert read(["review", "--key-file", key, "--server", address, "--insecure"]).server == address


def test_no_color_means_mono_unless_a_theme_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = str(key_file(tmp_path))
    monkeypatch.setenv("NO_COLOR", "1")
    assert read(["review", "--key-file", key]).theme == "mono"
    assert read(["review", "--key-file", key, "--theme", "light"]).theme == "light"


# journal


def test_a_verdict_is_kept_whole_and_for_the_owner_alone(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "state", "http://h", KEY)
    journal.keep_verdict(PENDING)
    again = Journal(tmp_path / "state", "http://h", KEY)
    assert again.verdict() == PENDING
    file = next((tmp_path / "state").iterdir())
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert KEY not in file.read_text()
    assert "c2VjcmV0" not in file.name


def test_servers_and_keys_have_journals_of_their_own(tmp_path: Path) -> None:
    Journal(tmp_path, "http://h", KEY).keep_verdict(PENDING)
    assert Journal(tmp_path, "http://other", KEY).verdict() is None
    assert Journal(tmp_path, "http://h", "fp_test_xyz_c2VjcmV0").verdict() is None


def test_only_the_same_verdict_is_forgotten(tmp_path: Path) -> None:
    journal = Journal(tmp_path, "http://h", KEY)
    journal.keep_verdict(PENDING)
    journal.drop_verdict("another")
    assert journal.verdict() == PENDING
    journal.drop_verdict(TOKEN)
    assert journal.verdict() is None
    assert not list(tmp_path.iterdir())


def test_a_damaged_journal_is_set_aside_and_not_dropped(tmp_path: Path) -> None:
    journal = Journal(tmp_path, "http://h", KEY)
    journal.keep_verdict(PENDING)
    next(tmp_path.iterdir()).write_text('{"half":')
    assert journal.verdict() is None
    assert journal.damaged is not None
    assert journal.damaged.read_text() == '{"half":'


def test_a_note_belongs_to_its_item(tmp_path: Path) -> None:
    journal = Journal(tmp_path, "http://h", KEY)
    journal.keep_note(Draft(item_id="1", lease_token=TOKEN, note="half a thought"))
    assert journal.note("1") == "half a thought"
    assert journal.note("2") == ""
    journal.keep_note(Draft(item_id="1", lease_token=TOKEN))
    assert journal.note("1") == ""


def test_no_link_is_followed_when_writing(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    journal = Journal(tmp_path / "state", "http://h", KEY)
    journal.keep_verdict(PENDING)
    kept = next((tmp_path / "state").iterdir())
    kept.with_suffix(".part").symlink_to(victim)
    journal.keep_verdict(PENDING)
    assert victim.read_text() == "mine"


# crash report


def fail(words: str) -> None:
    try:
        int(words)
    except ValueError as cause:
        raise RuntimeError(words) from cause


def test_a_crash_report_says_where_and_not_what(tmp_path: Path) -> None:
    secret = "content of an item"
    with pytest.raises(RuntimeError) as caught:
        fail(secret)
    report, text = write_report(tmp_path, caught.value), describe(caught.value)
    assert report is not None
    assert report.read_text() == text
    assert stat.S_IMODE(report.stat().st_mode) == 0o600
    assert "RuntimeError" in text
    assert "ValueError" in text
    assert "test_start.py" in text
    assert secret not in text


# themes


def luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    bright, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("name", sorted(PALETTES))
def test_every_text_can_be_read_on_every_ground(name: str) -> None:
    palette = PALETTES[name]
    for ground in ("background", "surface", "panel"):
        for role in ROLES:
            assert contrast(palette[role], palette[ground]) >= 4.5, (role, ground)
    for role in ("approve", "review", "reject", "escalate", "hit", "text"):
        assert contrast(palette["cap"], palette[role]) >= 4.5, f"key cap on {role}"


# terminals


@pytest.mark.parametrize("term", ["dumb", "", None])
def test_nothing_is_drawn_on_a_terminal_that_cannot_be_drawn_on(
    term: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    streams = {name: Stream(terminal=True) for name in ("stdin", "stdout", "stderr")}
    for name, stream in streams.items():
        monkeypatch.setattr(f"sys.{name}", stream)
    monkeypatch.delenv("TERM", raising=False)
    if term is not None:
        monkeypatch.setenv("TERM", term)
    monkeypatch.setattr("tui.__main__.FencepostApp", drawn)
    assert main(["lead", "--key-file", str(key_file(tmp_path))]) == NO_TERMINAL
    told = streams["stderr"].getvalue()
    assert f"TERM is {term or 'not set'}" in told
    assert told.count("\n") == 1
    assert not streams["stdout"].getvalue()


def drawn(*_: object) -> None:
    raise AssertionError("it began to draw")
