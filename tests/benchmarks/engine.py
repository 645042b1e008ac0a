"""How fast the engine decides, over how fast msgspec decodes the same bodies."""

from __future__ import annotations

import argparse
import time
from collections.abc import AsyncIterator, Callable, Sequence

import msgspec

from backend.domain.engine import decide
from backend.domain.policy import parse_policy
from backend.domain.scores import read_labels
from backend.services.policies import shipped_policy
from shared.wire.content import Submission
from tests.benchmarks.bodies import bodies
from tests.benchmarks.frame import ROUNDS, Benchmark, Figure, figure, number

LEAST = 0.5


def _flags(parser: argparse.ArgumentParser) -> None:
    number(parser, "--bodies", 20_000, "submissions a round")
    number(parser, "--rounds", ROUNDS, "interleaved rounds")


def _rate(count: int, work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return count / (time.perf_counter() - started)


async def _run(options: argparse.Namespace) -> AsyncIterator[Figure]:
    policy = parse_policy(shipped_policy())
    sent = bodies(options.bodies, seed=1)
    decoder = msgspec.json.Decoder(Submission)
    raw = [decoder.decode(one).labels for one in sent]
    labels = [read_labels(one) for one in raw]
    sides: dict[str, Callable[[], object]] = {
        "decode": lambda: [decoder.decode(one) for one in sent],
        "decide": lambda: [decide(one, (), policy).band for one in labels],
        "read": lambda: [decide(read_labels(one), (), policy).band for one in raw],
    }
    rates: dict[str, list[float]] = {name: [] for name in sides}
    for work in sides.values():
        work()  # the first time fills caches on either side
    for _ in range(options.rounds):
        for name, work in sides.items():
            rates[name].append(_rate(len(sent), work))
    size = f"{len(sent):,} bodies of {len(policy.categories)} scores"
    ratios = _ratios(rates["decide"], rates["decode"])
    yield figure("engine", ratios, target=(">=", LEAST), size=size)
    yield figure("engine_with_reading", _ratios(rates["read"], rates["decode"]), size=size)
    yield figure("engine_rate", rates["decide"], "decisions/s", size=size)


def _ratios(ours: Sequence[float], theirs: Sequence[float]) -> list[float]:
    return [one / other for one, other in zip(ours, theirs, strict=True)]


BENCHMARK = Benchmark(__doc__ or "", _flags, _run)
