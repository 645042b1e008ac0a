"""`python -m tui review|lead`: arguments to settings to client to application."""

from __future__ import annotations

import asyncio
import logging
import socket
import sys

from shared.client import FencepostClient
from shared.vocabulary import ReleaseReason
from shared.wire.queue import Lease
from tui.app import RELEASE_SECONDS, FencepostApp
from tui.crash import write_report
from tui.desk import Desk
from tui.journal import Journal
from tui.safe_text import safe_line
from tui.seat import take_seat
from tui.settings import Settings, SettingsError, read, undrawable

BAD_SETTINGS = 78
NO_TERMINAL = 69


def main(arguments: list[str] | None = None) -> int:
    """Run one view; return the exit code."""
    logging.basicConfig(handlers=[logging.NullHandler()])  # nothing may write over the screen
    try:
        settings = read(sys.argv[1:] if arguments is None else arguments)
        journal = Journal(settings.state_dir, settings.server, settings.key)
        seat = take_seat(settings.state_dir, socket.gethostname())
        client = FencepostClient(settings.server, settings.key, attempts=1)
    except (SettingsError, OSError, ValueError) as error:
        print(f"fencepost: {error}", file=sys.stderr)  # noqa: T201  (there is no screen yet)
        return BAD_SETTINGS
    if not all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        return _no_terminal()
    if (term := undrawable()) is not None:
        return _plain_terminal(term)
    app = FencepostApp(settings, Desk(client, journal, terminal=seat.name))
    line = app.run()
    if app.failure is not None:
        return _after_crash(settings, app, app.failure)
    if line:
        print(line, file=sys.stderr if app.return_code else sys.stdout)
    return app.return_code or 0


def _no_terminal() -> int:
    """Refuse where a stream is redirected; the screen is drawn on standard error.

    Redirected, nobody would see it, and the texts of items would end up in a file.
    """
    seen = sys.stdout if sys.stdout.isatty() else sys.stderr
    print(
        "fencepost: this needs a terminal to draw on; one of its streams is redirected",
        file=seen,
    )
    return NO_TERMINAL


def _plain_terminal(term: str) -> int:
    """Refuse where cursor and colours mean nothing: the screen would come out as noise."""
    print(  # noqa: T201  (there is no screen yet)
        f"fencepost: this terminal can't be drawn on (TERM is {safe_line(term)}); "
        "use another, or set TERM to what it is, such as xterm-256color",
        file=sys.stderr,
    )
    return NO_TERMINAL


def _after_crash(settings: Settings, app: FencepostApp, failure: BaseException) -> int:
    """Give the item back, and say in one line what happened."""
    lease = app.left_leased
    given_back = lease is not None and asyncio.run(_release(settings, lease))
    report = write_report(settings.state_dir, failure)
    where = f" Report: {report}" if report is not None else ""
    item = " Your item was given back." if given_back else ""
    print(f"fencepost: stopped by an error of its own.{item}{where}", file=sys.stderr)  # noqa: T201
    return app.return_code or 1


async def _release(settings: Settings, lease: Lease) -> bool:
    journal = Journal(settings.state_dir, settings.server, settings.key)
    try:
        async with (
            asyncio.timeout(RELEASE_SECONDS),
            FencepostClient(settings.server, settings.key, attempts=1) as client,
        ):
            await Desk(client, journal).release(lease, ReleaseReason.SIGN_OFF)
    except TimeoutError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
