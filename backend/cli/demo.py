"""`fencepost demo`: the whole product on one command, with samples streamed in as if live."""

from __future__ import annotations

import asyncio
import shlex
import signal
import sys
from pathlib import Path
from typing import Annotated, Literal

import structlog
from cyclopts import Parameter

from backend.cli.children import end
from backend.cli.failure import Failure
from backend.cli.headless import headless_demo
from backend.cli.samples import cases, posts, send_first, send_rest, split
from backend.cli.stage import Stage, stage
from backend.cli.workstation import command_line
from backend.db.tally import count_verdicts
from shared.client import ClientError
from shared.vocabulary import Role

Switch = Annotated[bool, Parameter(negative="", show_default=False)]
Hidden = Annotated[bool, Parameter(negative="", show=False)]

_PAUSE = 1.5
"""Seconds between two samples of the trickle."""
_HINT = "Try: r, then a digit for the reason; s gives it back; ? shows all keys"
_RUN = Path(__file__).parents[2] / "run"
"""What starts a checkout; what is installed elsewhere is on the path by its own name."""


def demo(
    *,
    lead: Switch = False,
    headless: Switch = False,
    queue: Literal["posts", "cases", "escalation"] = "posts",
    data: Path | None = None,
    without_applier: Hidden = False,
) -> None:
    """Try everything: a database, a server, samples coming in, and the workstation open.

    All of it is gone when you leave it, unless you give it a folder.

    Parameters
    ----------
    lead
        Open the lead's cockpit instead of the workstation.
    headless
        Open nothing: a scripted reviewer works, what happened is counted and compared. The exit
        code is 0 only if everything agrees.
    queue
        The queue to work in.
    data
        Folder for the database, which then stays.
    without_applier
        Leave every decision without effect: for tests.
    """
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory(), processors=[_drop])
    view = "lead" if lead else "review"
    asyncio.run(_demo(view, queue, data, headless=headless, without_applier=without_applier))


async def _demo(
    view: str, queue: str, data: Path | None, *, headless: bool, without_applier: bool
) -> None:
    stopping = _Stopping()
    try:
        _say("starting a database and a server ...")
        async with stage(data, without_applier=without_applier) as ours:
            if headless:
                await ours.play(headless_demo(ours))
            else:
                await ours.play(_with_terminal(ours, view, queue, stopping))
    except asyncio.CancelledError:
        if not stopping.by:
            raise
        raise Failure("stopped; nothing is left behind.", 128 + stopping.by) from None


class _Stopping:
    """Ends the demo at a signal. While the terminal's program runs, Ctrl-C belongs to it."""

    def __init__(self) -> None:
        self.by = 0
        self.terminal_is_lent = False
        self._task = asyncio.current_task()
        loop = asyncio.get_running_loop()
        for sig in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(sig, self._stop, sig)

    def _stop(self, sig: int) -> None:
        if sig == signal.SIGINT and self.terminal_is_lent:
            return
        self.by = sig
        if self._task is not None:
            self._task.cancel()


async def _with_terminal(ours: Stage, view: str, queue: str, stopping: _Stopping) -> None:
    """Stream the samples while the person works; end both together."""
    first, rest = split(posts(ours.suffix), cases(ours.suffix))
    async with ours.client(Role.PRODUCER) as producer:
        _say(f"sending {len(first)} samples, and {len(rest)} more while you work ...")
        await send_first(producer, first)
        trickle = asyncio.create_task(send_rest(producer, rest, _PAUSE))
        stopping.terminal_is_lent = True
        try:
            code = await _workstation(ours, view, queue)
        finally:
            stopping.terminal_is_lent = False
            trickle.cancel()
            outcome = (await asyncio.gather(trickle, return_exceptions=True))[0]
    await _farewell(ours, [one.content_id for one in (*first, *rest)])
    if code:
        raise Failure(f"the terminal's program ended with exit code {code}.", code)
    if isinstance(outcome, ClientError):
        raise Failure(f"the samples stopped coming: {outcome}")


async def _farewell(ours: Stage, ids: list[str]) -> None:
    async with ours.db.connection() as connection:
        rows = await count_verdicts(connection, ids)
    recorded, applied = sum(row.recorded for row in rows), sum(row.applied for row in rows)
    kept = f"kept in {ours.place.server.folder}" if ours.suffix and ours.place.server else "removed"
    _say(f"verdicts recorded: {recorded}, in effect: {applied}; the database is {kept}.")


async def _workstation(ours: Stage, view: str, queue: str) -> int:
    role = Role.LEAD if view == "lead" else Role.REVIEWER
    options = ["--server", ours.server.address, "--key-file", str(ours.key_files[role])]
    if view == "review":
        options += ["--queue", queue]
    command = command_line(view, [*options, "--hint", _hint(ours, view)])
    process = await asyncio.create_subprocess_exec(*command)
    try:
        return await process.wait()
    finally:
        await end(process)


def _hint(ours: Stage, view: str) -> str:
    """Return what to try: for a lead, how to work on the same queues in another terminal."""
    if view == "review":
        return _HINT
    key_file = shlex.quote(str(ours.key_files[Role.REVIEWER]))
    command = "./run fencepost" if _RUN.exists() else "fencepost"
    return f"Work on it: {command} review --server {ours.server.address} --key-file {key_file}"


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


def _drop(_logger: object, _name: str, _line: object) -> str:
    """Keep the log off the terminal that somebody works in."""
    raise structlog.DropEvent
