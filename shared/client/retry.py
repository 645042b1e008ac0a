"""Waiting between tries of a call that is safe to repeat, because it carries its own key."""

from __future__ import annotations

import random
from collections.abc import Iterator

STEPS = (0.5, 1.0, 2.0, 4.0, 8.0, 10.0)
"""Seconds before the second, third ... try; the last one repeats."""
LONGEST_WAIT = 60.0
_JITTER = 0.2
_dice = random.SystemRandom()


def waits() -> Iterator[float]:
    """Yield the seconds to wait before each further try, for ever, each moved by up to a fifth."""
    place = 0
    while True:
        yield STEPS[place] * (1 + _dice.uniform(-_JITTER, _JITTER))
        place = min(place + 1, len(STEPS) - 1)


def asked_for(header: str | None) -> float | None:
    """Read a `Retry-After` of whole seconds; anything else, or nothing, is None."""
    if header is None or not header.isascii() or not header.isdigit():
        return None
    return min(float(header), LONGEST_WAIT)
