"""Frozen values that several rooms share and that have no better home."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from shared.evidence import ShownLabel, ShownRuleHit

RuleHit = ShownRuleHit
"""A rule that fired: a hard signal, score 1.0, for its category. It is shown as it fired."""

CategoryRow = ShownLabel
"""One category as the engine banded it. It is shown as it was banded."""

DEFAULT_TENANT = "default"

_MILLISECOND = timedelta(milliseconds=1)


def utc_text(at: datetime) -> str:
    """Return `at` as RFC 3339 in UTC with six decimals and a Z: one instant, one text.

    Raises ValueError for a time without an offset.
    """
    if at.tzinfo is None:
        raise ValueError("a time needs an offset")
    if at.tzinfo is not UTC:
        at = at.astimezone(UTC)
    return at.isoformat(timespec="microseconds")[:26] + "Z"


def whole_ms(span: timedelta) -> int:
    """Return a span in whole milliseconds, rounded down."""
    return span // _MILLISECOND
