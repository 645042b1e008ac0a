"""The queue: what a claim costs whatever lies behind and in front of it, and whole cycles."""

from __future__ import annotations

import argparse
from collections.abc import AsyncIterator

from tests.benchmarks.claims import Sizes, claims
from tests.benchmarks.cycles import Shift, cycles
from tests.benchmarks.frame import ROUNDS, Benchmark, Figure, number
from tests.benchmarks.held import FASTEST, long_run, snapshot
from tests.benchmarks.peers import peers
from tests.benchmarks.stock import stock

_PARTS = ("claims", "long", "snapshot", "cycles", "peers")


def _flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--full", action="store_true", help="10M decided, 1M waiting, 5 minutes; keeps its data"
    )
    parser.add_argument("--quick", action="store_true", help="300k rows: the default")
    parser.add_argument(
        "--only",
        choices=_PARTS,
        action="append",
        help="one part (may be repeated); all but the peers, which need an extra, without it",
    )
    number(parser, "--history", 0, "decided items behind the full queue; 0: as the size says")
    number(parser, "--waiting", 0, "items that wait in each queue; 0: as the size says")
    number(parser, "--leased", 5_000, "unexpired leases ranked before all that waits")
    number(parser, "--claims", 1_000, "claims a round and side")
    number(parser, "--items", 60_000, "items that the cycles share")
    number(parser, "--seconds", 4, "seconds a side of a cycle's round")
    number(parser, "--rounds", ROUNDS, "interleaved rounds")


async def _run(options: argparse.Namespace) -> AsyncIterator[Figure]:
    wanted = options.only or _PARTS[:-1]
    full = options.full and not options.quick
    sizes = Sizes(
        history=options.history or (10_000_000 if full else 200_000),
        waiting=options.waiting or (1_000_000 if full else 100_000),
        leased=options.leased,
        claims=options.claims,
        rounds=options.rounds,
    )
    long = 300 if full else 60
    # Three sides of claims, what the long run consumes, and the cycles.
    rows = sizes.history + 4 * sizes.waiting + FASTEST * long + options.items
    async with stock(kept=full, rows=rows) as made:
        parts: dict[str, AsyncIterator[Figure]] = {
            "claims": claims(made, sizes),
            "long": long_run(made, sizes, seconds=long),
            "snapshot": snapshot(made, sizes),
            "cycles": cycles(made, _work(options), at_once=(16, 64)),
            "peers": peers(made, _work(options)),
        }
        for name in wanted:
            async for figure in parts[name]:
                yield figure


def _work(options: argparse.Namespace) -> Shift:
    return Shift(items=options.items, seconds=options.seconds, rounds=options.rounds)


BENCHMARK = Benchmark(__doc__ or "", _flags, _run)
