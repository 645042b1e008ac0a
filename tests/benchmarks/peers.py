"""Cycles through HTTP over what two job queues for PostgreSQL drain in the same time and place.

The peers come with the extra `bench`; they run in a process of their own, on the same server, with
tasks that do nothing.
"""

from __future__ import annotations

import asyncio
import importlib.util
import sys
from collections.abc import AsyncIterator

import msgspec

from tests.benchmarks.cycles import Desk, Shift, desk
from tests.benchmarks.frame import Figure, figure
from tests.benchmarks.stock import Stock
from tests.support.processes import ROOT

_CLIENTS = 16
_PEERS = ("pgqueuer", "procrastinate")


class Drain(msgspec.Struct, frozen=True):
    """One way in which a peer empties its queue, and what we want to be over it."""

    figure: str
    module: str
    at_once: int
    jobs: int
    target: float
    stretch: bool = False


DRAINS = (
    Drain("cycle_pgqueuer_10", "tests.benchmarks.peer_pgqueuer", 10, 20_000, 1.0, stretch=True),
    Drain("cycle_pgqueuer_1", "tests.benchmarks.peer_pgqueuer", 1, 3_000, 5.0, stretch=True),
    Drain("cycle_procrastinate", "tests.benchmarks.peer_procrastinate", 16, 3_000, 8.0),
)


class PeersMissingError(Exception):
    """The extra is not installed; the message says how to get it."""


async def peers(stock: Stock, shift: Shift) -> AsyncIterator[Figure]:
    """Yield our cycles at 16 connections over each peer's jobs a second."""
    missing = [name for name in _PEERS if importlib.util.find_spec(name) is None]
    if missing:
        raise PeersMissingError(
            f"{', '.join(missing)} not installed: ./run python -m pip install -e '.[bench]'"
        )
    async with desk(stock, items=shift.items, people=_CLIENTS) as ours:
        for drain in DRAINS:
            ratios = [
                await _ratio(stock, ours, drain, shift.seconds, turn)
                for turn in range(shift.rounds)
            ]
            yield figure(
                drain.figure,
                ratios,
                target=(">=", drain.target),
                size=f"{_CLIENTS} connections; {drain.jobs:,} jobs, {drain.at_once} at once",
                stretch=drain.stretch,
            )


async def _ratio(stock: Stock, ours: Desk, drain: Drain, seconds: int, turn: int) -> float:
    """Run both sides once, the first one changing."""
    if turn % 2:
        mine = await ours.rate(_CLIENTS, seconds)
        return mine / await _drained(stock, drain)
    theirs = await _drained(stock, drain)
    return await ours.rate(_CLIENTS, seconds) / theirs


async def _drained(stock: Stock, drain: Drain) -> float:
    """Return the jobs a second of a peer, in a database of its own."""
    dsn = await stock.empty("bench_peer")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", drain.module, dsn.admin, str(drain.jobs), str(drain.at_once)),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    said, _ = await process.communicate()
    if process.returncode:
        raise RuntimeError(f"{drain.module} failed")
    return float(said)
