"""What changed between two texts and between two showings of a content; pure, and bounded in time.

Texts are compared word by word. Hostile ones (a million equal words, one endless word) must not
take longer than the others: work is counted, and once there has been too much, all that lies
between the common beginning and the common end counts as replaced. Places are in characters; none
stands between a letter and the marks that belong to it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, islice, pairwise
from typing import TypeAlias

import msgspec

from shared.evidence import Evidence, ShownLabel
from shared.wire.evidence import EvidenceChange, LabelChange, TextChange

MOST_WORDS = 50_000
"""More words and gaps than this, on either side between the common ends, are not even looked at."""
MOST_EDITS = 400
MOST_STEPS = 1_500_000
"""About half a second of work."""
LONGEST_ANSWER = 5 * 2**19
"""The most bytes of a change as JSON; the old text is left out rather than go beyond."""
MOST_FIELDS, LONGEST_FIELD = 200, 100

_LONGEST_WORD, _MOST_MARKS = 100, 10_000
"""Beyond this no seam is looked for between words, and then none between letters and marks."""
_WORDS = re.compile(r"\s+|\S+")
_JOINER = "\u200d"


def text_changes(before: str, after: str) -> tuple[TextChange, ...]:
    """Return the places where `after` differs from `before`, in order, as few as were found.

    Putting each place of the new text in that of the old one gives the new text.
    """
    if before == after:
        return ()
    start = _common_start(before, after)
    end = _common_end(before, after, start)
    before_end, after_end = len(before) - end, len(after) - end
    left, right = _words(before[start:before_end]), _words(after[start:after_end])
    if left is None or right is None:
        return (_place(start, before_end, start, after_end),)
    old, new = _offsets(left, start), _offsets(right, start)
    return tuple(
        _place(old[edit[0]], old[edit[1]], new[edit[2]], new[edit[3]])
        for edit in _edits(left, right)
    )


def _place(before_start: int, before_end: int, after_start: int, after_end: int) -> TextChange:
    return TextChange(
        before_start=before_start,
        before_end=before_end,
        after_start=after_start,
        after_end=after_end,
    )


def evidence_change(
    before: Evidence | None,
    after: Evidence,
    before_hash: str,
    after_hash: str,
    *,
    closely: bool = True,
) -> EvidenceChange:
    """Return what differs between what was shown and what is shown now.

    `before` is None for a hash that was never shown, or whose evidence was erased. Unless it is
    looked at `closely`, a text that differs counts as replaced from end to end.
    """
    if before is None:
        return EvidenceChange(
            known=False,
            before_hash=before_hash,
            after_hash=after_hash,
            before_revision=None,
            after_revision=after.revision,
        )
    names = _changed_fields(before, after)
    named = tuple(name for name in names if len(name) <= LONGEST_FIELD)[:MOST_FIELDS]
    old, new = before.content.text, after.content.text
    compare = text_changes if closely else _replaced
    change = EvidenceChange(
        known=True,
        before_hash=before_hash,
        after_hash=after_hash,
        before_revision=before.revision,
        after_revision=after.revision,
        labels=_label_changes(before.labels, after.labels),
        text=compare(old or "", new or ""),
        fields=named,
        fields_unnamed=len(names) - len(named),
        attachments_added=_beyond(after.attachments, before.attachments),
        attachments_removed=_beyond(before.attachments, after.attachments),
    )
    return change if old == new else _with_text(change, old)


def _replaced(before: str, after: str) -> tuple[TextChange, ...]:
    return () if before == after else (_place(0, len(before), 0, len(after)),)


def _with_text(change: EvidenceChange, old: str | None) -> EvidenceChange:
    """Add the old text, unless the answer would become too long: escapes make some six times so."""
    whole = msgspec.structs.replace(change, text_before=old)
    return whole if len(msgspec.json.encode(whole)) <= LONGEST_ANSWER else change


def _label_changes(
    before: Sequence[ShownLabel], after: Sequence[ShownLabel]
) -> tuple[LabelChange, ...]:
    old, new = ({label.category: label for label in labels} for labels in (before, after))
    pairs = [(name, old.get(name), new.get(name)) for name in {**new, **old}]
    return tuple(
        LabelChange(
            category=name,
            before=None if was is None else was.score,
            after=None if now is None else now.score,
            band_before=None if was is None else was.band,
            band_after=None if now is None else now.band,
            crossed=was is None or now is None or was.band is not now.band,
        )
        for name, was, now in pairs
        if was is None or now is None or (was.score, was.band) != (now.score, now.band)
    )


def _changed_fields(before: Evidence, after: Evidence) -> list[str]:
    old, new = before.content.fields, after.content.fields
    # As JSON: to Python, true and 1 are equal.
    return sorted(
        name for name in old.keys() | new.keys() if _member(old, name) != _member(new, name)
    )


def _member(fields: dict[str, object], name: str) -> bytes | None:
    return msgspec.json.encode(fields[name], order="sorted") if name in fields else None


def _beyond(some: Sequence[str], others: Sequence[str]) -> tuple[str, ...]:
    known = set(others)
    return tuple(digest for digest in some if digest not in known)


def _common_start(before: str, after: str) -> int:
    """Return how many characters both begin with, up to a seam of both."""
    most = min(len(before), len(after))
    same = _longest(lambda size: before[:size] == after[:size], most)
    return _cut_back(same, lambda size: (before, size, after, size))


def _common_end(before: str, after: str, start: int) -> int:
    """Return how many characters both end with, from a seam of both, all of them after `start`."""
    old, new = len(before), len(after)
    same = _longest(lambda size: before[old - size :] == after[new - size :], min(old, new) - start)
    return _cut_back(same, lambda size: (before, old - size, after, new - size))


def _longest(holds: Callable[[int], bool], most: int) -> int:
    """Return the largest size up to `most` for which `holds`, which also does for all smaller."""
    least = 0
    while least < most:
        middle = (least + most + 1) // 2
        if holds(middle):
            least = middle
        else:
            most = middle - 1
    return least


def _cut_back(size: int, places: Callable[[int], tuple[str, int, str, int]]) -> int:
    """Return the largest size, `size` at most, that cuts both texts between words.

    In what has no words of a reasonable length (Chinese, one endless word), between characters.
    """
    for shorter in range(size, max(size - _LONGEST_WORD, -1), -1):
        before, old, after, new = places(shorter)
        if _is_between_words(before, old) and _is_between_words(after, new):
            return shorter
    for shorter in range(size, max(size - _MOST_MARKS, 0), -1):
        before, old, after, new = places(shorter)
        if not _is_glued(before, old) and not _is_glued(after, new):
            return shorter
    return 0


def _is_between_words(text: str, at: int) -> bool:
    by_a_gap = at in (0, len(text)) or text[at - 1].isspace() or text[at].isspace()
    return by_a_gap and not _is_glued(text, at)


def _is_glued(text: str, at: int) -> bool:
    """Tell whether the characters around `at` are shown as one."""
    if at in (0, len(text)):
        return False
    left, right = text[at - 1], text[at]
    return (
        unicodedata.category(right)[0] == "M"
        or _JOINER in (left, right)
        or "\U0001f3fb" <= right <= "\U0001f3ff"  # the colour of a skin
        or all("\U0001f1e6" <= char <= "\U0001f1ff" for char in (left, right))  # half a flag
        or "\U000e0020" <= right <= "\U000e007f"  # a region's flag
    )


def _words(text: str) -> list[str] | None:
    """Split a text into words and the gaps between them; together they are the text.

    None if there are too many: then no more of them are looked at than may be compared.
    """
    starts = [found.start() for found in islice(_WORDS.finditer(text), MOST_WORDS + 1)]
    if len(starts) > MOST_WORDS:
        return None
    seams = [at for at in starts if not _is_glued(text, at)]
    return [text[at:end] for at, end in pairwise([*seams, len(text)])]


def _offsets(words: Sequence[str], start: int) -> list[int]:
    """Return where each word begins, and where the last one ends."""
    return list(accumulate(map(len, words), initial=start))


_Edit: TypeAlias = tuple[int, int, int, int]
"""Words [0, 1) of the old text become words [2, 3) of the new one."""


def _edits(before: Sequence[str], after: Sequence[str]) -> list[_Edit]:
    """Return the fewest edits (Myers 1986), or one for all of it where that is too much work."""
    everything = [(0, len(before), 0, len(after))]
    if not before or not after:
        return everything
    numbers: dict[str, int] = {}
    old, new = (
        [numbers.setdefault(word, len(numbers)) for word in words] for words in (before, after)
    )
    trace = _trace(old, new)
    if trace is None:
        return everything
    return _joined(_walk_back(trace, len(old), len(new)), before)


def _trace(old: Sequence[int], new: Sequence[int]) -> list[dict[int, int]] | None:
    """Return how far one gets on each diagonal with 0, 1, 2 ... edits; None: too much work."""
    farthest, trace, steps = {1: 0}, list[dict[int, int]](), 0
    for edits in range(MOST_EDITS + 1):
        trace.append(farthest.copy())
        for diagonal in range(-edits, edits + 1, 2):
            begin = x = _step(farthest, diagonal, edits)[1]
            y = x - diagonal
            while x < len(old) and y < len(new) and old[x] == new[y]:
                x, y = x + 1, y + 1
            farthest[diagonal] = x
            if x >= len(old) and y >= len(new):
                return trace
            steps += 1 + x - begin
            if steps > MOST_STEPS:
                return None
    return None


def _step(farthest: Mapping[int, int], diagonal: int, edits: int) -> tuple[int, int]:
    """Return from which diagonal the next edit leads here, and how far into the old text."""
    left, above = farthest.get(diagonal - 1, -1), farthest.get(diagonal + 1, -1)
    if diagonal == -edits or (diagonal != edits and left < above):
        return diagonal + 1, above
    return diagonal - 1, left + 1


def _walk_back(trace: Sequence[Mapping[int, int]], x: int, y: int) -> list[_Edit]:
    """Return the edits of the path that ends at (x, y), neighbours as one, first to last."""
    edits: list[_Edit] = []
    for count in range(len(trace) - 1, 0, -1):
        came_from, landed = _step(trace[count], x - y, count)
        old, new = trace[count][came_from], trace[count][came_from] - came_from
        edit = (old, landed, new, landed - (x - y))
        if edits and edit[1] == edits[-1][0] and edit[3] == edits[-1][2]:
            edit = (edit[0], edits[-1][1], edit[2], edits.pop()[3])
        edits.append(edit)
        x, y = old, new
    return edits[::-1]


def _joined(edits: Sequence[_Edit], before: Sequence[str]) -> list[_Edit]:
    """Return the edits with those as one that only a gap between two words keeps apart."""
    joined = [edits[0]]
    for edit in edits[1:]:
        last = joined[-1]
        if edit[0] - last[1] == 1 and before[last[1]].isspace():
            joined[-1] = (last[0], edit[1], last[2], edit[3])
        else:
            joined.append(edit)
    return joined
