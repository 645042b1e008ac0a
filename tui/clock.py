"""The clocks of the terminal side, handed to whatever counts time."""

from __future__ import annotations

import time
from datetime import UTC, datetime


def elapsed() -> float:
    """Return seconds that also pass while the machine is suspended.

    Linux's monotonic clock stands still in suspend, and a countdown on it would lie after the lid
    was closed. Where the better clock is missing, the plain one has to do.
    """
    boottime = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if boottime is None else time.clock_gettime(boottime)


def today() -> datetime:
    """Return this moment on the wall of this machine."""
    return datetime.now(UTC).astimezone()  # noqa: TID251  (the wall of the person who reads it)


def day_words(moment: datetime) -> str:
    """Return a moment of the server as local day and time, `Tue 1 Dec 09:00`."""
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    local = moment.astimezone()
    return f"{local:%a} {local.day} {local:%b %H:%M}"


def local_words(moment: datetime) -> str:
    """Return a moment of the server as local time of day, `14:03:20`."""
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return moment.astimezone().strftime("%H:%M:%S")


def moment_words(text: str) -> str:
    """Return an RFC 3339 time as local time of day; anything else as it is."""
    try:
        return local_words(datetime.fromisoformat(text))
    except ValueError:
        return text
