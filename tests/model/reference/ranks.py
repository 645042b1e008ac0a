"""The order in which a queue is served."""

from __future__ import annotations

SEVERITIES = {"hate": 60, "spam": 20}
"""How grave each category is; a step of it counts ten."""
AGE = 0.1234567
"""What a minute of waiting counts: an odd number, so that no two sums are equal by chance."""
MINUTES = 3653 * 24 * 60
"""From the moment that ranks count from to the first second of the counted clock."""


def rank(severity: int, power: int, at: int) -> float:
    """Rank what began to wait at a second, by severity and the power of ten of its followers."""
    return severity * 10 + power - AGE * (MINUTES + at / 60)
