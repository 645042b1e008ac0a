"""What the dialogs say of an item that moved on, or whose evidence did."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shared.vocabulary import ItemNow
from shared.wire.evidence import LabelChange
from tui.clock import moment_words
from tui.difference import Difference, FactChange, Place
from tui.document import short_hash
from tui.safe_text import SafeText, safe_text
from tui.state.held import StaleFacts
from tui.state.offers import can_send, contradiction
from tui.state.pending import Pending
from tui.state.session import Changed, Stale
from tui.widgets.bands import ROLES, score_words
from tui.widgets.bars import VERDICT_ROLES
from tui.widgets.card import fact, key_row, note_rows
from tui.widgets.paint import Content, Style, fit, glue, marked, words
from tui.wrap import wrap

_KEPT = "not sent; kept until you sign off; D shows it"
_KEPT_ROW = fact("Kept", words(_KEPT, "$muted"))
_REMOVED: Style = "strike $reject"
_ADDED: Style = "bold $approve"
_BREAK = "↵"
"""A line break within a running text."""
_LONGEST = 400
"""Characters shown of what went or came at one place."""
_PLAIN = {
    ItemNow.FREE: "Nobody has it: it waits again.",
    ItemNow.RESOLVED: "It was decided{at}.",
    ItemNow.MOVED: "It was moved to another queue{at}; whoever works there decides it.",
    ItemNow.ESCALATED: "It was escalated{at}.",
    ItemNow.WITHDRAWN: "It was withdrawn{at}: nobody needs to look any more.",
    ItemNow.TAKEN_BACK: "A lead took it back{at}.",
    ItemNow.TAKEN_OVER: "You took it over in another terminal{at}; it is open there.",
    ItemNow.PARKED: "It was parked{at}, and comes back by itself.",
}
_GONE: dict[str, str] = {
    ItemNow.MOVED: "This item was moved to another queue",
    ItemNow.WITHDRAWN: "This item was withdrawn",
}


@dataclass(frozen=True, slots=True)
class Dialog:
    """A title, rows that may be scrolled, and the keys, which always show."""

    title: Content
    rows: list[Content]
    foot: list[Content]


def stale_dialog(stale: Stale) -> Dialog:
    """Say what is true, what is kept, and what can be done now."""
    facts, held = stale.facts, stale.held
    there = facts.now == ItemNow.TAKEN_OVER
    content = stale.pending.content_id if stale.pending else held.lease.content_id if held else ""
    rows = [words(now_words(facts), "bold"), fact("Item", words(content))]
    if stale.pending is not None:
        title = "Not recorded: this item moved on"
        rows.append(_sent(stale.pending, "You sent"))
        rows.append(words("It overwrote nothing. The content is as if you had not sent it."))
    else:
        title = _GONE.get(facts.now, "This item is not in your hands any more")
        rows.append(words("Nothing was sent from here, and nothing was overwritten.", "$muted"))
    if stale.note:
        goes_on = stale.note == facts.goes_on
        kept = (
            fact("It went", words("with the item to your other terminal")) if goes_on else _KEPT_ROW
        )
        rows += [*note_rows(stale.note, "Your note"), kept]
    foot = [words(""), key_row("enter", "look again" if there else "next item")]
    if facts.can_reclaim:
        foot.append(key_row("C", "claim again: it is free"))
    return Dialog(words(title, "bold"), rows, foot)


def now_words(facts: StaleFacts) -> str:
    """Return one sentence: where the item is, with whom and since when, as far as told."""
    since = moment_words(facts.since) if facts.since else ""
    if facts.now == ItemNow.LEASED:
        who = facts.holder or "Somebody else"
        return f"{who} has had it since {since}." if since else f"{who} has it."
    if facts.now in set(_PLAIN):
        return _PLAIN[ItemNow(facts.now)].format(at=f" at {since}" if since else "")
    return f"Where it is now is not known here ({facts.now})."


def changed_dialog(changed: Changed, diff: Difference, width: int) -> Dialog:
    """Say what changed in the evidence, and what can be done with a verdict that was not sent."""
    pending = changed.pending
    rows = [words(_lead(changed)), _hashes(changed)]
    if pending is not None:
        rows.append(_sent(pending, "Not sent"))
    if changed.note:
        kept = "kept, and goes with your next verdict" if changed.fresh is not None else _KEPT
        rows.append(fact("Your note", words(kept)))
    body = list(difference_rows(diff, width))
    if body:
        rows += [words(""), *body]
    elif changed.fresh is not None and changed.old is not None:
        rows.append(words("What you see is the same; only what it was made from changed."))
    title = "Not recorded: the evidence changed" if pending is not None else "The evidence changed"
    return Dialog(words(title, "bold"), rows, [words(""), *_changed_keys(changed)])


def _lead(changed: Changed) -> str:
    if changed.pending is not None:
        return "It changed while you were reading: you judged what no longer holds."
    if changed.taken:
        return "This is how the evidence changed while you held the item."
    return "It changed while you were reading. Nothing was sent."


def _hashes(changed: Changed) -> Content:
    new = changed.fresh
    if new is None:
        return fact("It is now", words("no longer yours, or out of reach at the moment"))
    was = changed.pending.request.evidence_hash if changed.pending is not None else ""
    revision = ""
    if changed.old is not None:
        was = changed.old.lease.evidence_hash
        revision = f", revision {changed.old.evidence.revision} → {new.evidence.revision}"
    return fact("Evidence", words(f"{short_hash(was)} → {short_hash(new.lease.evidence_hash)}"
                                  f"{revision}"))  # fmt: skip


def _changed_keys(changed: Changed) -> Iterator[Content]:
    if changed.fresh is None:
        yield key_row("enter", "next item")
        return
    if changed.pending is None:
        yield key_row("enter", "go on with the item as it is now")
        return
    verdict = str(changed.pending.request.verdict).upper()
    against = contradiction(changed)
    if not can_send(changed):
        yield words(f"The item does not admit {verdict} any more.", "$review")
    elif changed.asked:
        yield words(f"⚠ {against}. Send {verdict} all the same? enter", "bold $review")
    else:
        if against:
            yield words(f"⚠ {against}: enter is asked for twice", "$review")
        yield key_row("enter", f"send {verdict} on the evidence as it is now")
    yield key_row("e", "choose verdict and reason anew")
    yield key_row("esc", "back to the item as it is now; nothing is sent")


def difference_rows(diff: Difference, width: int) -> Iterator[Content]:
    """Yield what is another now: what is judged before what judged it, and little moves last."""
    yield from _text_rows(diff, width)
    for digest in diff.attachments_added:
        yield fact("Attachment", words(f"+ {short_hash(digest)}", _ADDED))
    for digest in diff.attachments_removed:
        yield fact("Attachment", words(f"− {short_hash(digest)}", _REMOVED))
    if diff.rules is not None:
        yield fact("Rules", words(f"{diff.rules[0]} → {diff.rules[1]} fired"))
    for name in diff.other:
        yield fact("Another", words(name))
    yield from _score_rows(diff.labels)


def _score_rows(labels: tuple[LabelChange, ...]) -> Iterator[Content]:
    """Yield the scores that crossed into another band, and how many others moved."""
    crossed = [label for label in labels if label.crossed]
    for label in crossed:
        yield fact("Score", _label(label))
    if rest := len(labels) - len(crossed):
        other = "other " if crossed else ""
        band = "its band" if rest == 1 else "their band"
        yield fact("Scores", words(f"{rest} {other}score{'s' * (rest > 1)} moved within {band}"))


def _text_rows(diff: Difference, width: int) -> Iterator[Content]:
    if diff.places:
        count = len(diff.places)
        yield fact("Text", words(f"{count} place{'s' * (count > 1)}", "bold"))
    for place in diff.places:
        yield from _wrapped(_place_pieces(place), width)
    for change in diff.facts:
        yield from _wrapped([(f"{change.name}: ", "$muted"), *_fact_pieces(change)], width)


def _label(label: LabelChange) -> Content:
    band = label.band_after or label.band_before
    role = ROLES[band] if band is not None else ""
    crossed = "  ⚑ crossed" if label.crossed else ""
    text = f"{label.category}: {_side(label.before, label.band_before)} → " + _side(
        label.after, label.band_after
    )
    return glue(words(text), words(crossed, f"bold {role}" if role else "bold"))


def _side(score: str | None, band: object) -> str:
    if band is None:
        return "none"
    return "no score" if score is None else f"{score_words(score)} {band}"


def _fact_pieces(change: FactChange) -> list[tuple[str, Style]]:
    if change.before is None and change.after is None:
        return [("changed", "bold $review")]
    return _both(change.before or "", change.after or "")


def _place_pieces(place: Place) -> list[tuple[str, Style]]:
    return [
        (place.lead, "$muted"), *_both(place.removed, place.added), (place.tail, "$muted"),
    ]  # fmt: skip


def _both(removed: str, added: str) -> list[tuple[str, Style]]:
    pieces = []
    if removed:
        pieces.append((f"[−{_cut(removed)}−]", _REMOVED))
    if removed and added:
        pieces.append((" ", ""))
    if added:
        pieces.append((f"[+{_cut(added)}+]", _ADDED))
    return pieces


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… {len(text) - _LONGEST} more"


def _wrapped(pieces: list[tuple[str, Style]], width: int) -> Iterator[Content]:
    """Yield pieces, each made safe by itself, as rows of one running text."""
    safe: list[tuple[int, SafeText, Style]] = []
    whole = ""
    for text, style in pieces:
        part = safe_text(text.replace("\n", _BREAK), lines=False)
        safe.append((len(whole), part, style))
        whole += part.plain
    for start, end in wrap(whole, width):
        yield fit(
            glue(*(
                marked(part, max(start - at, 0), min(end - at, len(part.plain)), style=style)
                for at, part, style in safe
                if at < end and at + len(part.plain) > start
            )),
            width,
        )  # fmt: skip


def _sent(pending: Pending, name: str) -> Content:
    request = pending.request
    role = f"bold {VERDICT_ROLES[request.verdict]}"
    return fact(name, glue(words(str(request.verdict).upper(), role), words(f" {request.reason}")))
