"""`fencepost submit`: JSON Lines in, batches out, and every row accounted for."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Annotated, BinaryIO

import msgspec
from cyclopts import Parameter, validators

from backend.cli.access import key_from, server_from
from backend.cli.failure import Failure
from backend.cli.progress import ProgressLine
from backend.cli.resume import Progress, StateFile, tail_hash
from backend.cli.rows import Batch, read_batches
from shared.client import ClientError, FencepostClient, Refused
from shared.problems import Problem
from shared.wire.content import BatchReceipt

_MOST_NAMED = 50
"""Bad rows that are named one by one; the rest is counted."""


def submit(
    file: Annotated[Path, Parameter(allow_leading_hyphen=True)],
    /,
    *,
    server: str | None = None,
    key_file: Path | None = None,
    drop: Annotated[tuple[str, ...], Parameter(negative="", show_default=False)] = (),
    batch: Annotated[int, Parameter(validator=validators.Number(gte=1, lte=1000))] = 500,
    restart: Annotated[bool, Parameter(negative="", show_default=False)] = False,
) -> None:
    """Send a file of contents, one JSON object a line.

    Sending twice is harmless: the server knows a content by its content_id. A run that was
    interrupted goes on where it stopped. A row that is refused is named by its line and field;
    the others are sent all the same, and the exit code is then 1.

    Parameters
    ----------
    file
        JSON Lines; - reads standard input.
    server
        Address of the server. Without it: FENCEPOST_SERVER, else this machine.
    key_file
        File that holds a producer's key. Without it: the environment's FENCEPOST_KEY.
    drop
        Top-level field to leave out of every row; may be given several times.
    batch
        Rows in one request.
    restart
        Begin at the first line even if an earlier run was interrupted.
    """
    if str(file).startswith("-") and str(file) != "-":
        raise Failure(f"there is no option {file}. See: fencepost submit --help", 2)
    key, address = key_from(key_file), server_from(server)
    try:
        refused = asyncio.run(_submit(file, address, key, frozenset(drop), batch, restart=restart))
    except KeyboardInterrupt:
        raise Failure("stopped; the same command goes on from here.", 130) from None
    if refused:
        if refused == 1:
            raise Failure("1 row was refused; the line above names it.")
        raise Failure(f"{refused:,} rows were refused; the lines above name them.")


async def _submit(
    file: Path, server: str, key: str, drop: frozenset[str], size: int, *, restart: bool
) -> int:
    """Send everything; return how many rows were refused."""
    is_stream = str(file) == "-"
    source = sys.stdin.buffer if is_stream else _open(file)
    state_file = None if is_stream else StateFile(file, server, drop=drop)
    start = Progress() if state_file is None or restart else state_file.load(source)
    if start.offset:
        sys.stderr.write(f"going on after line {start.lines:,} of an earlier run\n")
    total = None if is_stream else os.fstat(source.fileno()).st_size
    async with FencepostClient(server, key) as client:
        sender = _Sender(client, state_file, start, ProgressLine(sys.stderr, total))
        with source:
            for batch in read_batches(source, size, drop, offset=start.offset, lines=start.lines):
                await sender.send(batch)
    return sender.finish()


class _Sender:
    """Sends batch after batch and remembers what became of the rows."""

    def __init__(
        self,
        client: FencepostClient,
        state_file: StateFile | None,
        state: Progress,
        progress: ProgressLine,
    ) -> None:
        self._client = client
        self._state_file = state_file
        self._state = state
        self._progress = progress
        self._rows = 0
        self._named = 0
        progress.show(state.offset, 0)

    async def send(self, batch: Batch) -> None:
        """Send one batch; only when it is acknowledged is it behind us."""
        good = [row for row in batch.rows if row.problem is None]
        for row in batch.rows:
            if row.problem is not None:
                self._name(row.line, row.problem)
        receipt = await self._deliver([row.data for row in good])
        for row, answer in zip(good, receipt.rows, strict=True):
            if answer.problem is not None:
                self._name(row.line, _why(answer.problem))
        self._remember(batch, receipt, len(batch.rows) - len(good))
        self._rows += len(batch.rows)
        self._progress.show(batch.end, self._rows)

    def finish(self) -> int:
        """Say what happened, forget the interruption point, and return the count of refusals."""
        self._progress.clear()
        state = self._state
        if self._state_file is not None:
            self._state_file.clear()
        if self._named > _MOST_NAMED:
            sys.stderr.write(f"... and {self._named - _MOST_NAMED:,} more\n")
        total = state.created + state.known + state.refused
        sys.stdout.write(
            f"{total:,} rows: {state.created:,} new, {state.known:,} known before, "
            f"{state.refused:,} refused\n"
        )
        return state.refused

    async def _deliver(self, rows: list[bytes]) -> BatchReceipt:
        if not rows:
            return BatchReceipt(rows=[], created=0, known=0, refused=0)
        try:
            return await self._client.submit_batch(rows)
        except Refused as refusal:
            self._progress.clear()
            raise Failure(f"the server refused the request: {_why(refusal.problem)}") from None
        except ClientError as error:
            self._progress.clear()
            line = f"{error}; {self._rows:,} rows were sent, the same command goes on from there."
            raise Failure(line) from None

    def _remember(self, batch: Batch, receipt: BatchReceipt, bad: int) -> None:
        self._state = msgspec.structs.replace(
            self._state,
            offset=batch.end,
            lines=batch.lines,
            tail=tail_hash(batch.tail),
            tail_length=len(batch.tail),
            created=self._state.created + receipt.created,
            known=self._state.known + receipt.known,
            refused=self._state.refused + receipt.refused + bad,
        )
        if self._state_file is not None:
            self._state_file.save(self._state)

    def _name(self, line: int, why: str) -> None:
        self._named += 1
        if self._named <= _MOST_NAMED:
            self._progress.say(f"line {line}: {why}")


def _why(problem: Problem) -> str:
    """Return field, title and advice in one line. The texts are the server's own, not a user's."""
    what = f"{problem.title.rstrip('.')}: {problem.detail}" if problem.detail else problem.title
    return f"{problem.field}: {what}" if problem.field else what


def _open(file: Path) -> BinaryIO:
    try:
        return file.open("rb")
    except OSError as error:
        raise Failure(f"{file}: {error.strerror}", 2) from None
