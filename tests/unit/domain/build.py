"""Makers of policies and labels with plain defaults, and the ways to the files that tests read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from pathlib import Path

from backend.domain.model import RuleHit
from backend.domain.policy import Category, Policy, Queue, Scorer, parse_policy
from shared.reasons import Reason
from shared.vocabulary import Verdict

ROOT = Path(__file__).resolve().parents[3]
GOLDEN = ROOT / "tests" / "golden"
SHARED_DATA = ROOT.parent / "shared" / "data"


def shipped(name: str) -> Policy:
    """Return a policy that ships with the product."""
    return parse_policy(shipped_text(name))


def shipped_text(name: str) -> str:
    """Return the text of a policy that ships with the product."""
    return (ROOT / "backend" / "policies" / f"{name}.toml").read_text(encoding="utf-8")


def category(
    low: str = "0.20", high: str = "0.95", *, severity: int = 50, fail_closed: bool = False
) -> Category:
    """Make one category."""
    return Category(
        low=Decimal(low), high=Decimal(high), severity=severity, fail_closed=fail_closed
    )


def policy(categories: Mapping[str, Category], covered: Iterable[str] | None = None) -> Policy:
    """Make a policy of these categories; by default the producer scores all of them."""
    return Policy(
        version="test-1",
        default_queue="posts",
        categories=dict(categories),
        scorers={"producer": Scorer(categories=tuple(categories if covered is None else covered))},
        queues={"posts": Queue(title="Posts", verdicts=(Verdict.APPROVE,))},
        reasons=(Reason(code="fine", title="Fine", verdicts=(Verdict.APPROVE,)),),
    )


def scores(**labels: str) -> dict[str, Decimal]:
    """Make labels from decimal texts."""
    return {name: Decimal(score) for name, score in labels.items()}


def hit(of: str, rule: str = "a_rule") -> RuleHit:
    """Make a hit of `rule` for category `of`."""
    return RuleHit(rule=rule, category=of)
