"""Run benchmarks by name and print one JSON object a line.

    ./run bench NAME [flags]      ./run bench NAME --help

Exit 0 only if every figure with a target holds, stretches apart; 2 for a name that is not there.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence

import msgspec

from tests.benchmarks import engine, ingest, queue
from tests.benchmarks.frame import Benchmark
from tests.benchmarks.peers import PeersMissingError

NAMES: dict[str, Benchmark] = {
    "engine": engine.BENCHMARK,
    "ingest": ingest.BENCHMARK,
    "queue": queue.BENCHMARK,
}


def main(arguments: Sequence[str]) -> int:
    """Run one benchmark; return the exit code."""
    name = arguments[0] if arguments else ""
    if name not in NAMES:
        said = f"there is no benchmark {name}" if name else "name a benchmark"
        sys.stderr.write(f"bench: {said}; there are: {', '.join(NAMES)}\n")
        return 2
    benchmark = NAMES[name]
    parser = argparse.ArgumentParser(prog=f"bench {name}", description=benchmark.says)
    benchmark.flags(parser)
    try:
        return asyncio.run(_run(benchmark, parser.parse_args(arguments[1:])))
    except (PeersMissingError, OSError) as error:
        sys.stderr.write(f"bench: {error}\n")
        return 1


async def _run(benchmark: Benchmark, options: argparse.Namespace) -> int:
    all_hold = True
    async for figure in benchmark.run(options):
        print(msgspec.json.encode(figure).decode(), flush=True)
        all_hold &= not figure.counts
    return int(not all_hold)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
