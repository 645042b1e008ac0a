"""The engine: from scores and rule hits to one action, and to the account of why.

A score below a category's `low` is safe, above `high` harmful, between (both ends included) for
people. A rule hit is a score of 1.0. The strictest category decides: BLOCK > HELD > REVIEW > ALLOW;
within the strictest band the highest severity, then the highest score, then the name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation

from backend.domain.banding import Banding, break_tie
from backend.domain.model import RuleHit
from backend.domain.plan import BITS, HARMFUL, SAFE, UNSURE
from backend.domain.policy import Policy
from backend.domain.scores import ONE, ZERO


def decide(
    labels: Mapping[str, Decimal],
    hits: Sequence[RuleHit],
    policy: Policy,
    *,
    complete: bool = True,
) -> Banding:
    """Return what `policy` makes of these scores and hits.

    A score is missing if any scorer of the policy should have given it. A missing score holds the
    content in a fail-closed category and is made up for later in any other. With `complete` False
    scores are still on their way, so every missing one holds. A category that the policy does not
    know holds too. Raises ValueError for a score that is not a number in [0, 1].
    """
    plan = policy.plan
    scores = {**labels, **{hit.category: ONE for hit in hits}} if hits else labels
    try:
        pattern = _pattern(plan.bounds if complete else plan.waiting_bounds, scores)
    except InvalidOperation:  # a comparison with NaN
        raise ValueError("a score is not a number") from None
    finding = plan.finding(pattern)
    if finding.scored != len(scores):
        finding = plan.finding_with(pattern, _unknown(scores, policy))
    if finding.tied:
        finding = break_tie(finding, scores)
    return Banding(finding, scores, hits, plan)


def _pattern(
    bounds: Iterable[tuple[str, Decimal, Decimal, int]], scores: Mapping[str, Decimal]
) -> int:
    """Return how the categories fall, three bits each; the hot loop of the house."""
    pattern = 0
    score_of = scores.get
    for name, low, high, absent in bounds:
        score = score_of(name)
        if score is None:
            fall = absent
        elif score < low:
            if score < ZERO:
                raise ValueError("a score lies in [0, 1]")
            fall = SAFE
        elif score > high:
            if score > ONE:
                raise ValueError("a score lies in [0, 1]")
            fall = HARMFUL
        else:
            fall = UNSURE
        pattern = pattern << BITS | fall
    return pattern


def _unknown(scores: Mapping[str, Decimal], policy: Policy) -> tuple[str, ...]:
    unknown = sorted(scores.keys() - policy.categories.keys())
    if not all(scores[name].is_finite() and ZERO <= scores[name] <= ONE for name in unknown):
        raise ValueError("a score lies in [0, 1]")
    return tuple(unknown)
