"""A policy's categories laid out for the engine, and what each pattern of bands comes to.

How the categories fall (one safe, one to review, one missing ...) is a small pattern, and all that
the engine concludes, save a tie, follows from it. A pattern is one integer, three bits a category;
its `Finding` is worked out the first time it is met and remembered.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Final, NamedTuple

import msgspec

from shared.vocabulary import Band, Outcome

# How one category falls, mildest first. The two first have no score and stand below every other.
IGNORED: Final = 0  # no score, and no scorer that should have given one
RESCORE: Final = 1  # missing where the policy fails open: allowed, to be scored later
SAFE: Final = 2  # below low
UNSURE: Final = 3  # between, both ends included
HELD: Final = 4  # missing where the policy fails closed, or not known to the policy
HARMFUL: Final = 5  # above high

SCORED = frozenset({SAFE, UNSURE, HARMFUL})
BITS: Final = 3
_MASK = 7
BAND_OF = (Band.ALLOW, Band.ALLOW, Band.ALLOW, Band.REVIEW, Band.HELD, Band.BLOCK)
OUTCOME_OF: Mapping[Band, Outcome] = {
    Band.ALLOW: Outcome.ALLOW,
    Band.REVIEW: Outcome.HOLD,
    Band.HELD: Outcome.HOLD,
    Band.BLOCK: Outcome.REMOVE,
}
_REMEMBERED = 4_096


class Category(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a category's scores mean: below `low` safe, above `high` harmful, between for people.

    `fail_closed`: without a score the content stays unpublished; otherwise it is published and
    scored later.
    """

    low: Decimal
    high: Decimal
    severity: int
    fail_closed: bool = False
    title: str = ""


class Step(NamedTuple):
    """One category of the plan; `covered`: some scorer of the policy should give its score."""

    name: str
    low: str
    high: str
    severity: int
    fail_closed: bool
    covered: bool


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What a pattern comes to, for every content that shows it.

    `deciding` is None only if no category was looked at. `tied` are the categories that share the
    deciding one's severity and differ in score alone; empty if it is clear which decides. A
    category that the policy does not know has no severity and decides only if no other holds.
    `severity` is the one to rank by: that of the deciding category, or of a more severe one that
    asks for a person. `scored` counts the categories of the policy that had a score; `falls` tells
    how each step of the plan falls, `missing` and `rescore` which of them have none.
    """

    pattern: int
    band: Band
    outcome: Outcome
    deciding: str | None
    tied: tuple[str, ...]
    needs_person: bool
    severity: int
    scored: int
    falls: tuple[int, ...]
    missing: tuple[str, ...]
    rescore: tuple[str, ...]
    unknown: tuple[str, ...] = ()


class Plan:
    """The categories of one policy version, most severe first, names breaking ties.

    `bounds` and `waiting_bounds` hold (name, low, high, how it falls without a score) a category:
    when all scores are in, and when some are still on their way.
    """

    __slots__ = ("_findings", "bounds", "places", "steps", "version", "waiting_bounds")

    def __init__(
        self, version: str, categories: Mapping[str, Category], covered: Iterable[str]
    ) -> None:
        expected = frozenset(covered)
        ordered = sorted(categories.items(), key=lambda entry: (-entry[1].severity, entry[0]))
        self.version = version
        self.steps = tuple(
            Step(
                name=name,
                low=format(category.low, "f"),
                high=format(category.high, "f"),
                severity=category.severity,
                fail_closed=category.fail_closed,
                # Nothing fail-closed is ever published unscored, covered or not.
                covered=name in expected or category.fail_closed,
            )
            for name, category in ordered
        )
        self.places = {step.name: place for place, step in enumerate(self.steps)}
        self.bounds = tuple(
            (step.name, category.low, category.high, _without_score(step))
            for step, (_, category) in zip(self.steps, ordered, strict=True)
        )
        self.waiting_bounds = tuple(
            (name, low, high, HELD if absent else IGNORED)
            for name, low, high, absent in self.bounds
        )
        self._findings: dict[int, Finding] = {}

    def __repr__(self) -> str:
        return f"<plan of {self.version}>"

    def finding(self, pattern: int) -> Finding:
        """Return what `pattern` comes to."""
        found = self._findings.get(pattern)
        if found is None:
            found = self._conclude(pattern, ())
            if len(self._findings) >= _REMEMBERED:
                self._findings.clear()
            self._findings[pattern] = found
        return found

    def finding_with(self, pattern: int, unknown: tuple[str, ...]) -> Finding:
        """Return what `pattern` comes to beside categories that the policy does not know."""
        return self._conclude(pattern, unknown)

    def without(self, pattern: int, name: str) -> int:
        """Return `pattern` as it would be if nobody had asked about category `name`."""
        place = self.places.get(name)
        return pattern if place is None else pattern & ~(_MASK << self._shift(place))

    def _shift(self, place: int) -> int:
        return BITS * (len(self.steps) - 1 - place)

    def _conclude(self, pattern: int, unknown: tuple[str, ...]) -> Finding:
        bits = tuple(pattern >> self._shift(place) & _MASK for place in range(len(self.steps)))
        falls = list(zip(self.steps, bits, strict=True))
        strictest = max([fall for _, fall in falls] + [HELD] * bool(unknown), default=IGNORED)
        candidates = [step for step, fall in falls if fall == strictest != IGNORED]
        first = candidates[0] if candidates else None
        alike = tuple(step.name for step in candidates if first and step.severity == first.severity)
        asking = [step for step, fall in falls if fall == UNSURE and _asks(step, strictest)]
        band = BAND_OF[strictest]
        if first is None:
            alike = unknown
        elif strictest not in SCORED:
            alike = alike[:1]
        return Finding(
            pattern=pattern,
            band=band,
            outcome=OUTCOME_OF[band],
            deciding=alike[0] if alike else None,
            tied=alike if len(alike) > 1 else (),
            needs_person=bool(asking),
            severity=max([step.severity for step in asking] + [first.severity if first else 0]),
            scored=sum(fall in SCORED for _, fall in falls),
            falls=bits,
            missing=tuple(step.name for step, fall in falls if fall == HELD),
            rescore=tuple(step.name for step, fall in falls if fall == RESCORE),
            unknown=unknown,
        )


def _without_score(step: Step) -> int:
    if not step.covered:
        return IGNORED
    return HELD if step.fail_closed else RESCORE


def _asks(step: Step, strictest: int) -> bool:
    """Tell whether an unsure category brings the content to a person, given the strictest.

    It does unless another one blocks; then only a fail-closed category still does.
    """
    return strictest != HARMFUL or step.fail_closed
