"""The engine on recorded scores, against a count that knows nothing of our code."""

from __future__ import annotations

import json
from collections import Counter
from decimal import Decimal

import msgspec
import pytest

from backend.domain.engine import decide
from backend.domain.policy import Policy
from backend.domain.scores import read_labels
from tests.support.stream import made, stream
from tests.unit.domain.build import category, policy, shipped

STREAMS = pytest.mark.parametrize("lines", [stream(), made()], ids=["at hand", "our own"])


class Line(msgspec.Struct):
    """The one member of a line that matters here."""

    labels: msgspec.Raw


def our_count(lines: bytes, under: Policy) -> Counter[str]:
    read = msgspec.json.Decoder(Line).decode
    return Counter(
        decide(read_labels(read(line).labels), (), under).band for line in lines.splitlines()
    )


def plain_count(lines: bytes, bounds: dict[str, tuple[str, str]]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for line in lines.splitlines():
        labels = json.loads(line, parse_float=Decimal, parse_int=Decimal)["labels"]
        above = any(labels[name] > Decimal(high) for name, (_, high) in bounds.items())
        below = all(labels[name] < Decimal(low) for name, (low, _) in bounds.items())
        counts["BLOCK" if above else "ALLOW" if below else "REVIEW"] += 1
    return counts


@STREAMS
def test_the_example_policy_bands_the_stream_as_a_plain_count_does(lines: bytes) -> None:
    bounds = {"hate": ("0.20", "0.95"), "offensive": ("0.20", "0.95")}
    assert our_count(lines, shipped("hate-offensive")) == plain_count(lines, bounds)


@STREAMS
@pytest.mark.parametrize(
    "bounds",
    [
        {"hate": ("0.40", "0.90"), "offensive": ("0.95", "0.99")},
        {"hate": ("0.1108", "0.1567"), "offensive": ("0.0055", "0.5191")},  # scores that occur
        {"hate": ("0", "1"), "offensive": ("0", "1")},
        {"hate": ("0", "0"), "offensive": ("1", "1")},
    ],
    ids=["wide", "on scores that occur", "all to people", "hate never safe"],
)
def test_other_thresholds_band_the_stream_as_a_plain_count_does(
    lines: bytes, bounds: dict[str, tuple[str, str]]
) -> None:
    under = policy({name: category(low, high) for name, (low, high) in bounds.items()})
    assert our_count(lines, under) == plain_count(lines, bounds)
