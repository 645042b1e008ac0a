"""What the engine concluded of one content, and its account of why.

A `Banding` holds what was given and what it comes to; the rows and the explanation are worked out
only where they are stored or shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import msgspec

from backend.domain.model import CategoryRow, RuleHit
from backend.domain.plan import (
    BAND_OF,
    HARMFUL,
    HELD,
    IGNORED,
    RESCORE,
    SAFE,
    UNSURE,
    Finding,
    Plan,
    Step,
)
from backend.domain.scores import score_text
from shared.vocabulary import Actor, Band, Outcome

EXPLANATION_FORMAT = 1
NAMED_UNKNOWN = 20
"""How many unknown categories an explanation names; a producer may send a thousand."""

_SIDES = {SAFE: "below", UNSURE: "between", HARMFUL: "above", HELD: "missing", RESCORE: "missing"}


class Banding(msgspec.Struct, frozen=True, gc=False):
    """The engine's answer; compared and stored by value, made once a content."""

    finding: Finding
    scores: Mapping[str, Decimal]
    """Category -> score, rule hits as 1."""
    hits: Sequence[RuleHit]
    plan: Plan

    @property
    def band(self) -> Band:
        """The strictest band over all categories: the action."""
        return self.finding.band

    @property
    def outcome(self) -> Outcome:
        """What holds while nobody says otherwise."""
        return self.finding.outcome

    @property
    def deciding(self) -> str | None:
        """The category that decided; None if there was none to look at."""
        return self.finding.deciding

    @property
    def risk_score(self) -> Decimal | None:
        """The score of the deciding category; None if it is missing."""
        deciding = self.finding.deciding
        return None if deciding is None else self.scores.get(deciding)

    @property
    def actor(self) -> Actor:
        """Rules if the deciding category was hit by a rule, else the model."""
        deciding = self.finding.deciding
        by_rule = any(hit.category == deciding for hit in self.hits)
        return Actor.RULES if by_rule else Actor.MODEL

    @property
    def needs_person(self) -> bool:
        """Whether an item is queued.

        For REVIEW; for HELD with another category in REVIEW; for BLOCK with a fail-closed category
        in REVIEW. What is HELD alone waits for its score.
        """
        return self.finding.needs_person

    @property
    def severity(self) -> int:
        """The severity to rank an item by."""
        return self.finding.severity

    @property
    def missing(self) -> tuple[str, ...]:
        """The categories without a score that hold the content."""
        return self.finding.missing

    @property
    def rescore(self) -> tuple[str, ...]:
        """The categories without a score that were let pass, to be scored later."""
        return self.finding.rescore

    @property
    def unknown(self) -> tuple[str, ...]:
        """The categories that were scored or hit and that the policy does not know."""
        return self.finding.unknown

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a producer or an operator should look into, one sentence each."""
        told = []
        if self.unknown:
            told.append(f"held: {len(self.unknown)} categories unknown to {self.plan.version}")
        if self.rescore:
            told.append(f"let pass without a score: {', '.join(self.rescore)}")
        return tuple(told)

    @property
    def rows(self) -> tuple[CategoryRow, ...]:
        """One row a category that was looked at: the plan's order, then what is unknown."""
        known = [
            _row(step, fall, self.scores.get(step.name))
            for step, fall in zip(self.plan.steps, self.finding.falls, strict=True)
            if fall != IGNORED
        ]
        return (*known, *(_unknown_row(name, self.scores[name]) for name in self.unknown))

    @property
    def explanation(self) -> dict[str, Any]:
        """The account as JSON-able values, scores and thresholds as decimal strings.

        `side` tells where the deciding score lies: below low, between (ends included), above high,
        missing or unknown. `otherwise` is what would have decided without the deciding category.
        """
        finding = self.finding
        score = self.risk_score
        side, step = self._side()
        return {
            "v": EXPLANATION_FORMAT,
            "policy": self.plan.version,
            "band": finding.band.value,
            "outcome": finding.outcome.value,
            "actor": self.actor.value,
            "category": finding.deciding,
            "score": None if score is None else score_text(score),
            "side": side,
            "low": step.low if step else None,
            "high": step.high if step else None,
            "severity": step.severity if step else None,
            "rules": [hit.rule for hit in self.hits if hit.category == finding.deciding],
            "otherwise": self._otherwise(),
            "missing": list(self.missing),
            "rescore": list(self.rescore),
            "unknown": list(self.unknown[:NAMED_UNKNOWN]),
        }

    def _side(self) -> tuple[str | None, Step | None]:
        deciding = self.finding.deciding
        if deciding is None:
            return None, None
        place = self.plan.places.get(deciding)
        if place is None:
            return "unknown", None
        return _SIDES[self.finding.falls[place]], self.plan.steps[place]

    def _otherwise(self) -> dict[str, str | None] | None:
        finding = self.finding
        if finding.deciding is None:
            return None
        others = tuple(name for name in finding.unknown if name != finding.deciding)
        pattern = self.plan.without(finding.pattern, finding.deciding)
        other = self.plan.finding_with(pattern, others) if others else self.plan.finding(pattern)
        if other.deciding is None:
            return None
        other = break_tie(other, self.scores)
        return {"band": other.band.value, "category": other.deciding}


def break_tie(finding: Finding, scores: Mapping[str, Decimal]) -> Finding:
    """Return `finding` with the highest score deciding among the tied, then the first name."""
    if not finding.tied:
        return finding
    highest = max(scores[name] for name in finding.tied)
    deciding = min(name for name in finding.tied if scores[name] == highest)
    if deciding == finding.deciding:
        return finding
    return msgspec.structs.replace(finding, deciding=deciding)


def _row(step: Step, fall: int, score: Decimal | None) -> CategoryRow:
    return CategoryRow(
        category=step.name,
        score=None if score is None else score_text(score),
        low=step.low,
        high=step.high,
        band=BAND_OF[fall],
        severity=step.severity,
        fail_closed=step.fail_closed,
    )


def _unknown_row(name: str, score: Decimal) -> CategoryRow:
    return CategoryRow(
        category=name,
        score=score_text(score),
        low="0",
        high="1",
        band=Band.HELD,
        severity=0,
        fail_closed=False,
    )
