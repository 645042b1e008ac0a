"""One line that says how far a long piece of work is, with its rate and its end in sight."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from typing import TextIO

_REDRAW = 0.1  # seconds, on a terminal
_REPORT = 5.0  # seconds, elsewhere
_BAR = 24


class ProgressLine:
    """Draws over itself on a terminal, and writes a plain line now and then anywhere else.

    `total` is in the units of `done` (bytes of a file); None when the end is not known.
    """

    def __init__(
        self, out: TextIO, total: int | None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._out = out
        self._live = out.isatty()
        self._total = total
        self._clock = clock
        self._began: float | None = None
        self._begun_at = 0
        self._shown = 0.0

    def show(self, done: int, rows: int) -> None:
        """Report `done` units and `rows` rows; drawn only as often as eyes need it."""
        now = self._clock()
        if self._began is None:
            self._began, self._begun_at, self._shown = now, done, now
            if not self._live:
                return
        elif now - self._shown < (_REDRAW if self._live else _REPORT):
            return
        else:
            self._shown = now
        self._write(self._line(done, rows, now - self._began))

    def clear(self) -> None:
        """Leave the terminal's line empty."""
        if self._live:
            self._out.write("\r\x1b[K")
            self._out.flush()

    def say(self, line: str) -> None:
        """Write a line above the progress."""
        self.clear()
        self._out.write(line + "\n")
        self._out.flush()

    def _write(self, line: str) -> None:
        if self._live:
            width = shutil.get_terminal_size().columns
            self._out.write("\r" + line[: width - 1] + "\x1b[K")
        else:
            self._out.write(line + "\n")
        self._out.flush()

    def _line(self, done: int, rows: int, seconds: float) -> str:
        rate = f"{rows / seconds:,.0f} rows/s" if seconds > 0 else "..."
        if not self._total:
            return f"{rows:,} rows  {rate}"
        share = min(1.0, done / self._total)
        filled = round(share * _BAR)
        bar = "#" * filled + "." * (_BAR - filled)
        return f"[{bar}] {share:4.0%}  {rows:,} rows  {rate}  {self._eta(done, seconds)}"

    def _eta(self, done: int, seconds: float) -> str:
        fresh = done - self._begun_at
        if self._total is None or fresh <= 0 or seconds <= 0:
            return "ETA --:--"
        left = round((self._total - done) * seconds / fresh)
        return f"ETA {left // 60:02d}:{left % 60:02d}"
