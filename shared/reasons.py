"""Which reasons a verdict admits: the workstation offers from it, the domain enforces with it."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from shared.vocabulary import Verdict


class Reason(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One code of the policy's closed list.

    `title` is one short line for the picker; `verdicts` are those that it may explain; `category`
    is the category that it speaks of, if any; the order of the list is the order of the digits.
    """

    code: str
    title: str
    verdicts: tuple[Verdict, ...]
    category: str | None = None
    queues: tuple[str, ...] = ()
    """Queues in which it is offered; empty means all of them."""


def admitted(reasons: Iterable[Reason], verdict: Verdict, queue: str) -> tuple[Reason, ...]:
    """Return the reasons that `verdict` admits in `queue`, in the policy's fixed order."""
    return tuple(
        reason
        for reason in reasons
        if verdict in reason.verdicts and (not reason.queues or queue in reason.queues)
    )
