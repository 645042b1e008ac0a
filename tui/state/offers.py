"""Which letters an item offers, with which reasons, and what a verdict would contradict."""

from __future__ import annotations

from collections.abc import Iterable

from shared.evidence import Evidence
from shared.reasons import Reason, admitted
from shared.vocabulary import Band, ReleaseReason, Verdict
from tui.state.hand import SKIP, Choice, Offer
from tui.state.session import Changed

LETTERS = {
    Verdict.APPROVE: "a",
    Verdict.LIMIT: "l",
    Verdict.REJECT: "r",
    Verdict.ESCALATE: "e",
    Verdict.OVERTURN: "o",
    Verdict.UPHOLD: "u",
}
SKIP_LETTER = "s"
SKIP_CHOICES = (
    Choice(ReleaseReason.NEED_TIME, "I need more time than the lease gives"),
    Choice(ReleaseReason.POLICY_UNCLEAR, "The policy does not say"),
    Choice(ReleaseReason.LANGUAGE, "Not my language"),
    Choice(ReleaseReason.CONFLICT, "I know the people in it"),
    Choice(ReleaseReason.TECH, "It does not show properly"),
    Choice(ReleaseReason.DISTRESS, "I would rather not see this"),
)


def offers_for(
    evidence: Evidence, verdicts: Iterable[Verdict], reasons: Iterable[Reason], queue: str
) -> tuple[Offer, ...]:
    """Return the verdict bar of an item: its verdicts in their order, then skip."""
    known = tuple(reasons)
    bar = [
        Offer(
            letter=LETTERS[verdict],
            subject=verdict,
            choices=_choices(admitted(known, verdict, queue), evidence.deciding),
            conflict=conflict(evidence, verdict),
        )
        for verdict in verdicts
    ]
    return (*bar, Offer(letter=SKIP_LETTER, subject=SKIP, choices=SKIP_CHOICES))


def conflict(evidence: Evidence, verdict: Verdict) -> str:
    """Say what `verdict` contradicts in the evidence, in one line; empty if nothing."""
    if verdict is Verdict.APPROVE:
        return _against_approval(evidence)
    clean = evidence.labels and all(label.band is Band.ALLOW for label in evidence.labels)
    if verdict is Verdict.REJECT and clean and not evidence.rules:
        return "every category is in its ALLOW band"
    return ""


def can_send(changed: Changed) -> bool:
    """Tell whether the verdict that was refused may be sent on the new evidence."""
    if changed.pending is None or changed.fresh is None:
        return False
    return changed.pending.request.verdict in changed.fresh.lease.verdicts


def contradiction(changed: Changed) -> str:
    """Say what the refused verdict would contradict in the new evidence; empty if nothing."""
    if changed.pending is None or changed.fresh is None:
        return ""
    return conflict(changed.fresh.evidence, changed.pending.request.verdict)


def _against_approval(evidence: Evidence) -> str:
    if evidence.rules:
        return f"the rule {evidence.rules[0].rule} fired"
    blocked = [label.category for label in evidence.labels if label.band is Band.BLOCK]
    if blocked:
        return f"{blocked[0]} is in its BLOCK band"
    closed = [
        label for label in evidence.labels if label.fail_closed and label.band is not Band.ALLOW
    ]
    return f"{closed[0].category} is {closed[0].band} and fails closed" if closed else ""


def _choices(reasons: tuple[Reason, ...], deciding: str | None) -> tuple[Choice, ...]:
    return tuple(
        Choice(
            code=reason.code,
            title=reason.title,
            marked=deciding is not None and reason.category == deciding,
        )
        for reason in reasons
    )
