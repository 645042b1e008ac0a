"""Among what a deed may choose, for short programs and for long days alike."""

from __future__ import annotations

from typing import Any

from tests.model.reference.records import TERMS

QUEUES = sorted(name for name, terms in TERMS.items() if not terms.draining)
OFFS = (-1, 0, 0, 0, 1)
"""A second too early, just then (mostly), or a second too late."""
SPANS = (1, 9, 30, 59, 120, 199, 301, 700)
WRONG = ("nobody", "evidence", "reason", "token", "item")
CHANGED = ("nothing", "nothing", "verdict", "note", "evidence", "lease", "item")
WAITS = (None, 60, 60, 61, 90, 150, 499, 500, 501, 59, 0)
"""For how long to park: as long as may be, for a while, just too long or short, not at all."""
FIRST = ("held", "settled", "in review")
HOW = ("renew", "release", "park", "decide")
BODIES = (
    ("first words", "hate"),
    ("first words", "spam"),
    ("other words", "hate"),
    ("other words", "spam"),
)
NOWHERE = 10**6
"""The id of no item."""


def picked(things: list[Any], pick: int) -> Any:
    """Return one of the things of before, the newest for 0."""
    return things[-1 - pick % len(things)]
