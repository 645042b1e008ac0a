from __future__ import annotations

import io

from backend.cli.progress import ProgressLine


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_terminal_sees_share_rate_and_time_left() -> None:
    out, clock = Terminal(), Clock()
    line = ProgressLine(out, 1000, clock)
    line.show(0, 0)
    clock.now += 10
    line.show(250, 500)
    last = out.getvalue().rpartition("\r")[2]
    assert "25%" in last
    assert "500 rows" in last
    assert "50 rows/s" in last
    assert "ETA 00:30" in last


def test_the_time_left_counts_from_where_an_interrupted_run_goes_on() -> None:
    out, clock = Terminal(), Clock()
    line = ProgressLine(out, 1000, clock)
    line.show(800, 0)
    clock.now += 10
    line.show(900, 100)
    assert "ETA 00:10" in out.getvalue()


def test_without_a_terminal_there_are_plain_lines_and_few() -> None:
    out, clock = io.StringIO(), Clock()
    line = ProgressLine(out, 1000, clock)
    for done in range(0, 1000, 10):
        clock.now += 0.1
        line.show(done, done)
    assert 1 <= out.getvalue().count("\n") <= 2
    assert "\r" not in out.getvalue()
    assert "\x1b" not in out.getvalue()


def test_a_stream_without_an_end_shows_no_share() -> None:
    out, clock = io.StringIO(), Clock()
    line = ProgressLine(out, None, clock)
    line.show(0, 0)
    clock.now += 6
    line.show(77, 12)
    assert out.getvalue().splitlines()[-1] == "12 rows  2 rows/s"


def test_an_empty_file_divides_by_nothing() -> None:
    line = ProgressLine(Terminal(), 0, Clock())
    line.show(0, 0)
    line.clear()


def test_a_line_is_said_above_the_progress() -> None:
    out = Terminal()
    line = ProgressLine(out, 10, Clock())
    line.show(1, 1)
    line.say("line 7: bad")
    assert out.getvalue().endswith("\r\x1b[Kline 7: bad\n")
