"""A stream of scored posts: the real one if it lies beside the repository, else one of our own.

The real one holds people's posts and does not belong into this repository. Ours has its shape, and
scores on, beside and between the thresholds.
"""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime, timedelta

from tests.support.tree import ROOT

REAL = ROOT.parent / "shared" / "data" / "stream_en.jsonl"
ROWS = 1_500
EDGES = (0.0, 0.0055, 0.1108, 0.1567, 0.1999, 0.2, 0.2001, 0.5191, 0.9499, 0.95, 0.9501, 1.0)
_BEGIN = datetime(2026, 1, 5, tzinfo=UTC)


def stream() -> bytes:
    """Return the stream as JSON Lines."""
    return REAL.read_bytes() if REAL.exists() else made()


def made() -> bytes:
    """Write a stream of our own, always the same."""
    dice = random.Random(20260105)
    return "".join(json.dumps(_row(number, dice)) + "\n" for number in range(ROWS)).encode()


def _row(number: int, dice: random.Random) -> dict[str, object]:
    at = _BEGIN + timedelta(seconds=number)
    return {
        "content_id": f"own-{number:05}",
        "lang": "en",
        "text": f"post number {number}",
        "labels": {"hate": _score(dice), "offensive": _score(dice)},
        "human": {"coders": 3, "majority": "neither"},
        "author_followers": int(dice.lognormvariate(5.3, 1.6)),
        "created_at": at.isoformat().replace("+00:00", "Z"),
        "model_version": "made-1",
    }


def _score(dice: random.Random) -> float:
    if dice.random() < 0.2:
        return dice.choice(EDGES)
    return round(dice.betavariate(0.5, 1.2), 4)
