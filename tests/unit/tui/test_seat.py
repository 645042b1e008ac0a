"""The name of a terminal: the same after a restart, another beside one that runs."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from shared.wire.queue import TakeOverRequest
from tui.seat import take_seat

ROOT = Path(__file__).parents[3]
_TAKE = (
    "import sys,time; from pathlib import Path; from tui.seat import take_seat;"
    "print(take_seat(Path(sys.argv[1]), 'desk').name, flush=True); time.sleep(60)"
)


def other(folder: Path) -> tuple[subprocess.Popen[str], str]:
    """Start a terminal of its own and return its name."""
    process = subprocess.Popen(
        [sys.executable, "-c", _TAKE, str(folder)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def test_a_restart_gets_the_same_name_and_a_second_terminal_another(tmp_path: Path) -> None:
    first = take_seat(tmp_path, "desk")
    second = take_seat(tmp_path, "desk")
    assert first.name != second.name
    first.leave()
    again = take_seat(tmp_path, "desk")
    assert again.name == first.name
    third = take_seat(tmp_path, "desk")
    assert len({again.name, second.name, third.name}) == 3


def test_a_killed_terminal_leaves_its_name_to_the_next(tmp_path: Path) -> None:
    process, name = other(tmp_path)
    with process:
        beside = take_seat(tmp_path, "desk")
        assert beside.name != name
        process.send_signal(signal.SIGKILL)
    assert take_seat(tmp_path, "desk").name == name


@pytest.mark.parametrize(
    "host", ["desk", "desk.example.org", "", "...", "-x-", "büro 7", "a" * 300, "x/../y", "\x1b[2J"]
)
def test_every_name_can_be_sent(tmp_path: Path, host: str) -> None:
    seat = take_seat(tmp_path, host)
    body = msgspec.json.encode(
        {"claim_key": "00000000-0000-4000-8000-000000000001", "terminal": seat.name}
    )
    assert msgspec.json.decode(body, type=TakeOverRequest).terminal == seat.name
    assert re.fullmatch(r"[A-Za-z0-9.-]+-[0-9a-f]{6}", seat.name)


@pytest.mark.parametrize("rubbish", [b"", b"\xff\xfe", b"abc", b"zzzzzz", b"abcdef\n"])
def test_a_damaged_file_gets_a_new_id_that_stays(tmp_path: Path, rubbish: bytes) -> None:
    (tmp_path / "terminal-1").write_bytes(rubbish)
    first = take_seat(tmp_path, "desk")
    first.leave()
    assert take_seat(tmp_path, "desk").name == first.name


def test_the_file_is_the_owners_alone(tmp_path: Path) -> None:
    take_seat(tmp_path / "new", "desk")
    assert (tmp_path / "new" / "terminal-1").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "new").stat().st_mode & 0o077 == 0
