"""What benchmarks share: how a figure is printed, and how two sides are run in turn."""

from __future__ import annotations

import argparse
import operator
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Literal

import msgspec

ROUNDS = 3


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """One line of output. `target` reads like `<= 1.15`; without one it is told, not judged.

    `size` names what the figure was taken at; `rounds` are the values of which it is the median. A
    missed `stretch` is told as missed, and does not count for the exit code.
    """

    name: str
    value: float
    unit: str
    target: str | None = None
    holds: bool = True
    size: str = ""
    rounds: tuple[float, ...] = ()
    stretch: bool = False

    @property
    def counts(self) -> bool:
        """Tell whether this figure, as it is, makes the whole run a failed one."""
        return not self.holds and not self.stretch


class Benchmark(msgspec.Struct, frozen=True):
    """One benchmark: what it takes, and how it runs."""

    says: str
    flags: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], AsyncIterator[Figure]]


_COMPARE: dict[str, Callable[[float, float], bool]] = {"<=": operator.le, ">=": operator.ge}


def figure(
    name: str,
    rounds: Sequence[float],
    unit: str = "ratio",
    *,
    target: tuple[Literal["<=", ">="], float] | None = None,
    size: str = "",
    stretch: bool = False,
) -> Figure:
    """Return the median of the rounds, judged by its target."""
    value = statistics.median(rounds)
    told = tuple(rounded(one) for one in rounds)
    if target is None:
        return Figure(name=name, value=rounded(value), unit=unit, size=size, rounds=told)
    how, bound = target
    return Figure(
        name=name,
        value=rounded(value),
        unit=unit,
        target=f"{how} {bound:g}",
        holds=_COMPARE[how](value, bound),
        size=size,
        rounds=told,
        stretch=stretch,
    )


def rounded(value: float) -> float:
    """Return a value as it is printed: four digits that mean something."""
    return float(f"{value:.4g}")


async def seconds(work: Callable[[], Awaitable[object]]) -> float:
    """Return how long some work takes."""
    started = time.perf_counter()
    await work()
    return time.perf_counter() - started


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which `share` (0 to 1) of the values lie."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def number(parser: argparse.ArgumentParser, name: str, default: int, help_: str) -> None:
    """Add a flag that takes a whole number."""
    parser.add_argument(name, type=int, default=default, help=f"{help_} (default {default:,})")
