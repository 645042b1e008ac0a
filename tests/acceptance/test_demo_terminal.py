"""`fencepost demo` on a terminal: the workstation opens, and leaves as it came."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pyte
import pytest

from tests.acceptance.test_demo import left_over
from tests.support.processes import ROOT, until
from tests.support.served import command, environment, home_folder

pytestmark = pytest.mark.slow

ROWS, COLUMNS = 34, 110
CTRL_Q = "\x11"


class Terminal:
    """A demo on a terminal of its own, and what can be read on it."""

    def __init__(self, place: Path, *arguments: str) -> None:
        program, *rest = command("demo", *arguments)
        known = environment(TMPDIR=str(place), HOME=str(place.parent), TERM="xterm-256color")
        known.pop("COLUMNS")
        self.child = pexpect.spawn(
            program,
            rest,
            cwd=str(ROOT),
            env=known,
            dimensions=(ROWS, COLUMNS),
        )
        self.screen = pyte.Screen(COLUMNS, ROWS)
        self._stream = pyte.ByteStream(self.screen)

    def read(self) -> bool:
        """Draw what has come; False once the program is gone."""
        try:
            self._stream.feed(self.child.read_nonblocking(65536, timeout=0.2))
        except pexpect.TIMEOUT:
            return True
        except pexpect.EOF:
            return False
        return True

    def until(self, text: str, seconds: float = 90) -> None:
        give_up = time.monotonic() + seconds
        while text not in "\n".join(self.screen.display):
            assert self.read(), f"it ended: {self.screen.display}"
            assert time.monotonic() < give_up, f"never {text!r}: {self.screen.display}"

    def send(self, keys: str) -> None:
        # A verdict key is dead for a moment after something new is painted.
        for _ in range(4):
            self.read()
        self.child.send(keys)

    def press(self, key: str, shows: str) -> None:
        """Press a key, again if it fell into a dead moment, until it shows."""
        for _ in range(15):
            self.send(key)
            give_up = time.monotonic() + 5
            while time.monotonic() < give_up:
                if shows in "\n".join(self.screen.display):
                    return
                assert self.read(), f"it ended: {self.screen.display}"
        raise AssertionError(f"{key} never showed {shows!r}: {self.screen.display}")


@pytest.fixture
def place() -> Iterator[Path]:
    with home_folder() as home:
        temporary = home / "tmp"
        temporary.mkdir()
        temporary.chmod(0o777)
        yield temporary


def finish(terminal: Terminal) -> int:
    give_up = time.monotonic() + 60
    while terminal.read():
        assert time.monotonic() < give_up
    terminal.child.close()
    return int(terminal.child.exitstatus or 0)


def test_a_person_works_and_leaves_and_nothing_stays(place: Path) -> None:
    terminal = Terminal(place)
    terminal.until("REVIEW")
    terminal.until("Try: ")
    terminal.press("r", "why?")
    terminal.press("9", "takes effect in")
    terminal.send(CTRL_Q)
    assert finish(terminal) == 0
    assert "verdicts recorded: 1" in "\n".join(terminal.screen.display)
    assert left_over(place) == []


@pytest.mark.full
def test_the_cases_are_in_a_queue_of_their_own(place: Path) -> None:
    terminal = Terminal(place, "--queue", "cases")
    terminal.until("A case for people")
    terminal.send(CTRL_Q)
    assert finish(terminal) == 0
    assert left_over(place) == []


def test_a_lead_sees_the_queues(place: Path) -> None:
    terminal = Terminal(place, "--lead")
    terminal.until("Escalations")
    terminal.until("./run fencepost review --server")
    terminal.send(CTRL_Q)
    assert finish(terminal) == 0
    assert left_over(place) == []


@pytest.mark.full
async def test_a_closed_window_leaves_nothing(place: Path) -> None:
    terminal = Terminal(place)
    terminal.until("REVIEW")
    os.close(terminal.child.child_fd)  # the kernel hangs up on everybody
    await until(lambda: left_over(place) == [], "gone")
