"""What is another in new evidence than in the old: labels, words of the text, facts, attachments.

Pure. Where both are at hand, both proven by their hashes, they are compared here; what the server
says of a change stands in only for an old one that is not at hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from shared.evidence import Evidence, ShownLabel
from shared.wire.evidence import EvidenceChange, LabelChange, TextChange
from tui.document import flatten

_WORD = re.compile(r"\s+|\w+|[^\w\s]")
_MOST_EDITS, _MOST_STEPS = 400, 1_000_000
"""How much is compared word by word, between the first and the last that differ; what differs in
more is shown as one place."""
_NEAR = 3
"""Places with fewer equal pieces between them are shown as one."""
CONTEXT = 30
"""Characters shown before and after a place."""
_MOST_PLACES = 200


@dataclass(frozen=True, slots=True)
class Place:
    """One place where the text differs, with a little of what stands around it."""

    lead: str
    removed: str
    added: str
    tail: str


@dataclass(frozen=True, slots=True)
class FactChange:
    """A fact of a case before and after; None: there is none."""

    name: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Difference:
    """All that a person has to know of a change; empty parts did not change."""

    labels: tuple[LabelChange, ...] = ()
    places: tuple[Place, ...] = ()
    facts: tuple[FactChange, ...] = ()
    rules: tuple[int, int] | None = None
    attachments_added: tuple[str, ...] = ()
    attachments_removed: tuple[str, ...] = ()
    other: tuple[str, ...] = ()
    """Names of what else differs."""


def difference(old: Evidence, new: Evidence) -> Difference:
    """Return what differs between two evidences of one content."""
    had, has = set(old.attachments), set(new.attachments)
    return Difference(
        labels=tuple(_labels(old.labels, new.labels)),
        places=tuple(_places(old.content.text or "", new.content.text or "")),
        facts=tuple(_facts(old, new)),
        rules=None if old.rules == new.rules else (len(old.rules), len(new.rules)),
        attachments_added=tuple(each for each in new.attachments if each not in had),
        attachments_removed=tuple(each for each in old.attachments if each not in has),
        other=tuple(_other(old, new)),
    )


def told_difference(change: EvidenceChange, new: Evidence | None) -> Difference:
    """Return what the server said has changed, for an old evidence that is not at hand."""
    before, after = change.text_before or "", (new.content.text if new is not None else "") or ""
    known = new is not None and change.text_before is not None
    return Difference(
        labels=change.labels,
        places=tuple(_told_place(before, after, place) for place in change.text) if known else (),
        facts=tuple(FactChange(name, None, None) for name in change.fields),
        attachments_added=change.attachments_added,
        attachments_removed=change.attachments_removed,
        other=() if change.known else ("what you saw is not known to the server",),
    )


def _labels(old: Iterable[ShownLabel], new: Iterable[ShownLabel]) -> Iterator[LabelChange]:
    before = {label.category: label for label in old}
    after = {label.category: label for label in new}
    for category in dict.fromkeys((*after, *before)):
        was, now = before.get(category), after.get(category)
        bands = (was.band if was else None, now.band if now else None)
        scores = (was.score if was else None, now.score if now else None)
        if bands[0] != bands[1] or scores[0] != scores[1]:
            yield LabelChange(
                category=category,
                before=scores[0],
                after=scores[1],
                band_before=bands[0],
                band_after=bands[1],
                crossed=bands[0] != bands[1],
            )


def _facts(old: Evidence, new: Evidence) -> Iterator[FactChange]:
    if old.content.fields == new.content.fields:
        return
    before, after = dict(flatten(old.content.fields)), dict(flatten(new.content.fields))
    for name in dict.fromkeys((*after, *before)):
        if name and before.get(name) != after.get(name):  # none stands for no facts at all
            yield FactChange(name, before.get(name), after.get(name))


def _other(old: Evidence, new: Evidence) -> Iterator[str]:
    for name in ("policy_version", "model_version", "deciding", "statement"):
        if getattr(old, name) != getattr(new, name):
            yield name.replace("_", " ")
    for name in ("kind", "lang", "author_id", "created_at"):
        if getattr(old.content, name) != getattr(new.content, name):
            yield name.replace("_", " ")


def _places(old: str, new: str) -> Iterator[Place]:
    """Yield where two texts differ, word by word; a large change is one place."""
    if old == new:
        return
    a, b = _WORD.findall(old), _WORD.findall(new)
    first = _common(a, b)
    last = _common(a[first:][::-1], b[first:][::-1])
    middle_a, middle_b = a[first : len(a) - last], b[first : len(b) - last]
    edits = _edits(middle_a, middle_b)
    runs = [(0, len(middle_a), 0, len(middle_b))] if edits is None else _joined(edits)
    for a1, a2, b1, b2 in runs[:_MOST_PLACES]:
        yield Place(
            lead=_last("".join(b[max(first + b1 - CONTEXT, 0) : first + b1])),
            removed="".join(middle_a[a1:a2]),
            added="".join(middle_b[b1:b2]),
            tail=_first("".join(b[first + b2 : first + b2 + CONTEXT])),
        )


def _common(a: list[str], b: list[str]) -> int:
    """Return how many pieces both begin with."""
    for place, (one, other) in enumerate(zip(a, b, strict=False)):
        if one != other:
            return place
    return min(len(a), len(b))


Run = tuple[int, int, int, int]
"""From where to where the old pieces differ, and the new ones."""


def _edits(a: list[str], b: list[str]) -> list[Run] | None:
    """Return the fewest pieces that went and came (Myers 1986); None if they are too many."""
    furthest, steps = {1: 0}, 0
    rounds: list[dict[int, int]] = []
    for edits in range(_MOST_EDITS):
        rounds.append(dict(furthest))
        for lane in range(-edits, edits + 1, 2):
            start = x = _enter(furthest, lane, edits)
            while x < len(a) and x - lane < len(b) and a[x] == b[x - lane]:
                x += 1
            furthest[lane] = x
            steps += x - start + 1
            if x >= len(a) and x - lane >= len(b):
                return _traced(rounds, len(a), len(b))
        if steps > _MOST_STEPS:
            return None
    return None


def _enter(furthest: dict[int, int], lane: int, edits: int) -> int:
    """Return where a lane is entered: from the lane above by what came, or below by what went."""
    if _comes(furthest, lane, edits):
        return furthest[lane + 1]
    return furthest[lane - 1] + 1


def _comes(furthest: dict[int, int], lane: int, edits: int) -> bool:
    return lane == -edits or (lane != edits and furthest[lane - 1] < furthest[lane + 1])


def _traced(rounds: list[dict[int, int]], x: int, y: int) -> list[Run]:
    """Walk back from the end of both, and return the edits in their order."""
    runs: list[Run] = []
    for edits in range(len(rounds) - 1, 0, -1):
        lane, furthest = x - y, rounds[edits]
        came = _comes(furthest, lane, edits)
        before = lane + 1 if came else lane - 1
        x = furthest[before]
        y = x - before
        runs.append((x, x, y, y + 1) if came else (x, x + 1, y, y))
    return runs[::-1]


def _joined(edits: Iterable[Run]) -> list[Run]:
    """Return the runs that differ; those with next to nothing between them as one."""
    runs: list[Run] = []
    for a1, a2, b1, b2 in edits:
        if runs and a1 - runs[-1][1] < _NEAR and b1 - runs[-1][3] < _NEAR:
            runs[-1] = (runs[-1][0], a2, runs[-1][2], b2)
        else:
            runs.append((a1, a2, b1, b2))
    return runs


def _told_place(before: str, after: str, place: TextChange) -> Place:
    return Place(
        lead=_last(after[: place.after_start][-CONTEXT - 1 :]),
        removed=before[place.before_start : place.before_end],
        added=after[place.after_start : place.after_end],
        tail=_first(after[place.after_end : place.after_end + CONTEXT + 1]),
    )


def _last(text: str) -> str:
    return text if len(text) <= CONTEXT else f"…{text[-CONTEXT:]}"


def _first(text: str) -> str:
    return text if len(text) <= CONTEXT else f"{text[:CONTEXT]}…"
