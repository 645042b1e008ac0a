"""Submissions as producers send them: mostly harmless, some unsure, a few plainly bad."""

from __future__ import annotations

import random

import msgspec

CATEGORIES = (
    "child_safety",
    "terror",
    "violence",
    "hate",
    "harassment",
    "sexual",
    "offensive",
    "spam",
)
UNSURE, BAD = 0.10, 0.03
"""The shares of contents with one score between the thresholds, and above them."""
_TEXT = "Words that somebody wrote under something that somebody else wrote. "


def bodies(count: int, *, seed: int, prefix: str = "c") -> list[bytes]:
    """Return `count` submissions as JSON, ids `<prefix>-0` upwards, the same for the same seed."""
    chance = random.Random(seed)
    return [_body(f"{prefix}-{number}", chance) for number in range(count)]


def _body(content_id: str, chance: random.Random) -> bytes:
    labels = {name: round(chance.uniform(0.0, 0.19), 4) for name in CATEGORIES}
    lot = chance.random()
    if lot < BAD:
        labels[chance.choice(CATEGORIES)] = round(chance.uniform(0.951, 1.0), 4)
    elif lot < BAD + UNSURE:
        labels[chance.choice(CATEGORIES)] = round(chance.uniform(0.2, 0.95), 4)
    return msgspec.json.encode(
        {
            "content_id": content_id,
            "kind": chance.choice(("post", "comment", "profile")),
            "lang": "en",
            "text": _TEXT * chance.randint(1, 5),
            "labels": labels,
            "model_version": "bench-1",
            "author_id": f"author-{chance.randint(1, 10_000)}",
            "author_followers": int(10 ** chance.uniform(0, 7)),
            "created_at": "2026-11-01T12:00:00Z",
        }
    )
