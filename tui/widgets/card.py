"""A framed dialog in the middle of the screen, and what the dialogs say."""

from __future__ import annotations

from shared.vocabulary import ItemNow
from shared.wire.queue import Me, QueueFigures
from tui.clock import moment_words
from tui.keymap import GROUPS, Binding
from tui.safe_text import safe_text
from tui.state.countdown import clock_words
from tui.state.hand import Offer
from tui.state.held import StaleFacts
from tui.state.notes import KeptNote
from tui.state.session import Changed, Stale
from tui.widgets.bars import VERDICT_ROLES
from tui.widgets.evidence import changed_labels, short_hash
from tui.widgets.paint import Content, Line, cap, fit, glue, lines, marked, words
from tui.wrap import wrap

_WIDEST = 96
_LABEL = 13
_HELP = 34
_NOTE, _NOTE_ROWS = 57, 8
_KEPT_ROWS = 5
_KEPT = "not sent; kept until you sign off; D shows it"
"""Cells and rows of a note: with these the narrowest screen still shows what to press."""


class Card(Line):
    """Shows a title and rows in a frame; hidden when there is nothing to say."""

    DEFAULT_CSS = """
    Card {
        layer: over; width: auto; height: auto; padding: 1 2; background: $panel;
        border: round $review; border-title-color: $text; display: none;
    }
    """

    def draw(self, title: Content, rows: list[Content]) -> None:
        """Show the card, at a size that fits its rows and the screen."""
        room = self.app.size
        width = min(_WIDEST, room.width - 4, max(row.cell_length for row in rows) + 6)
        height = min(len(rows) + 4, room.height - 2)
        self.styles.width, self.styles.height = width, height
        self.caption(title)
        self.show(lines(fit(row, width - 6) for row in rows[: height - 4]))
        self.display = True

    def hide(self) -> None:
        """Take the card away."""
        self.display = False


_NOW = {
    ItemNow.FREE: "waiting again; nobody has it",
    ItemNow.LEASED: "with somebody else",
    ItemNow.RESOLVED: "decided already",
    ItemNow.MOVED: "in another queue",
    ItemNow.ESCALATED: "escalated",
    ItemNow.WITHDRAWN: "withdrawn by whoever sent it",
    ItemNow.TAKEN_BACK: "taken back by a lead",
    ItemNow.PARKED: "parked until later",
}


def stale_card(stale: Stale) -> tuple[Content, list[Content]]:
    """Say what is true, what is kept, and what can be done now."""
    sent, facts = stale.pending.request, stale.facts
    rows = [
        words("Your lease ended, and the item moved on before your verdict came."),
        words("It overwrote nothing. The content is as if you had not sent it.", "$muted"),
        words(""),
        _fact(
            "You sent",
            glue(words(str(sent.verdict).upper(), _role(stale)), words(f" {sent.reason}")),
        ),
        _fact("Item", words(stale.pending.content_id)),
        _fact("It is now", words(_now_words(facts))),
    ]
    if sent.note:
        rows += _note(sent.note, "Your note")
        rows.append(_fact("Kept", words(_KEPT, "$muted")))
    rows += [words(""), _key("enter", "next item")]
    return words("Not recorded: this item moved on", "bold"), rows


def _now_words(facts: StaleFacts) -> str:
    """Return one phrase for where the item is now, with whom and since when, as far as told."""
    known = _NOW.get(ItemNow(facts.now), facts.now) if facts.now in set(ItemNow) else facts.now
    if facts.holder and facts.now == ItemNow.LEASED:
        known = f"with {facts.holder}"
    return f"{known} (since {moment_words(facts.since)})" if facts.since else known


def changed_card(changed: Changed) -> tuple[Content, list[Content]]:
    """Say what changed in the evidence while the person was reading."""
    sent = changed.pending.request
    role = f"bold {VERDICT_ROLES[sent.verdict]}"
    rows = [
        words("It changed while you were reading: you judged what no longer holds."),
        words(""),
        _fact("You sent", glue(words(str(sent.verdict).upper(), role), words(f" {sent.reason}"))),
    ]
    if sent.note:
        kept = "kept, and goes with your next verdict" if changed.fresh is not None else _KEPT
        rows.append(_fact("Your note", words(kept)))
    rows += _difference(changed)
    again = "look at it as it is now" if changed.fresh is not None else "next item"
    rows += [words(""), _key("enter", again)]
    return words("Not recorded: the evidence changed", "bold"), rows


def _difference(changed: Changed) -> list[Content]:
    if changed.fresh is None:
        return [_fact("It is now", words("no longer yours, or out of reach at the moment"))]
    new = changed.fresh
    was = changed.old.lease.evidence_hash if changed.old is not None else sent_hash(changed)
    rows = [_fact("Evidence", words(f"{short_hash(was)} → {short_hash(new.lease.evidence_hash)}"))]
    if changed.old is None:
        return rows
    old = changed.old.evidence
    if old.content != new.evidence.content:
        rows.append(_fact("Content", words("another than before: read it again", "bold $review")))
    rows += [_fact("Changed", words(text)) for text in changed_labels(old, new.evidence)]
    if old.rules != new.evidence.rules:
        rows.append(_fact("Rules", words(f"{len(old.rules)} → {len(new.evidence.rules)} fired")))
    return rows


def sent_hash(changed: Changed) -> str:
    """Return the hash that the refused verdict was bound to."""
    return changed.pending.request.evidence_hash


def kept_card(
    kept: list[KeptNote], highlight: int, *, in_hand: bool
) -> tuple[Content, list[Content]]:
    """List the notes that were not sent, and show one of them; `in_hand` tells of an item."""
    first = max(min(highlight - _KEPT_ROWS // 2, len(kept) - _KEPT_ROWS), 0)
    rows = [
        glue(
            cap(str(place + 1)) if place < 9 else words("   "),  # noqa: PLR2004
            words("▸ " if place == highlight else "  ", "bold $approve"),
            words(note.content_id, "bold reverse" if place == highlight else "bold"),
        )
        for place, note in list(enumerate(kept))[first : first + _KEPT_ROWS]
    ]
    rows += [words(""), *_note(kept[highlight].text, "Not sent"), words("")]
    if in_hand:
        rows.append(_key("1-9", "or ↑↓ and enter: take it over into this item's note"))
    else:
        rows.append(words("Claim an item to take a note over into it.", "$review"))
    rows.append(_key("esc", "back; kept until you sign off, in memory alone"))
    return words("Kept notes", "bold"), rows


def queues_card(me: Me, highlight: int, holding: str) -> tuple[Content, list[Content]]:
    """List the queues I may work in, with what waits in each."""
    rows = []
    if holding:
        rows += [words(f"Switching gives {holding} back undecided.", "$review"), words("")]
    for place, view in enumerate(me.queues):
        here = place == highlight
        rows.append(
            glue(
                cap(str(place + 1)) if place < 9 else words("   "),  # noqa: PLR2004
                words("▸ " if here else "  ", "bold $approve"),
                fit(words(view.title, "bold reverse" if here else "bold"), 24),
                words(f" {depth(view.figures)}", "$muted"),
            )
        )
    if not me.queues:
        rows.append(words("This key may not work in any queue. Ask a lead for one.", "$review"))
    rows += [words(""), _key("1-9", "or ↑↓ and enter: work there"), _key("esc", "back")]
    return words("Queues", "bold"), rows


def depth(figures: QueueFigures) -> str:
    """Return what a queue holds, in words."""
    parts = [f"{figures.free} waiting"]
    if figures.oldest_ms is not None:
        parts.append(f"oldest {clock_words(figures.oldest_ms / 1000)}")
    if figures.held:
        parts.append(f"{figures.held} in review")
    if figures.not_for_you:
        parts.append(f"{figures.not_for_you} not for you")
    return " · ".join(parts)


def help_card(
    keymap: tuple[Binding, ...], offers: tuple[Offer, ...]
) -> tuple[Content, list[Content]]:
    """Write the help from the keys that work at the moment, in two columns."""
    decide, read, go = (_help_group(keymap, group) for group in GROUPS)
    if offers and decide:
        decide[1:1] = [_help_row(offer.letter, str(offer.subject)) for offer in offers]
        decide.insert(len(offers) + 1, _help_row("1-9", "then the reason; sends it"))
    left, right = decide or go, [*read, words(""), *go] if decide else read
    height = max(len(left), len(right))
    filled = [column + [words("")] * (height - len(column)) for column in (left, right)]
    rows = [glue(fit(one, _HELP), words("  "), other) for one, other in zip(*filled, strict=True)]
    return words("Keys"), [*rows, words("shift and drag selects text", "$muted")]


def _help_group(keymap: tuple[Binding, ...], group: str) -> list[Content]:
    bindings = [binding for binding in keymap if binding.group == group]
    heading = [words(group, "bold $approve")] if bindings else []
    return heading + [_help_row(binding.shown, binding.title) for binding in bindings]


def _help_row(key: str, title: str) -> Content:
    return glue(fit(words(key, "bold"), 7), words(title))


def _role(stale: Stale) -> str:
    return f"bold {VERDICT_ROLES[stale.pending.request.verdict]}"


def _fact(name: str, value: Content) -> Content:
    return glue(fit(words(name, "$muted"), _LABEL), value)


def _note(text: str, name: str) -> list[Content]:
    """Return an unsent note in rows: whole if they are few enough."""
    safe = safe_text(f"“{text}”", lines=False)
    spans = list(wrap(safe.plain, _NOTE))
    kept = spans if len(spans) <= _NOTE_ROWS else spans[: _NOTE_ROWS - 1]
    rows = [marked(safe, start, end) for start, end in kept]
    if len(kept) < len(spans):
        rows.append(words(f"… and {len(safe.plain) - kept[-1][1]} more characters", "$review"))
    return [_fact("" if place else name, row) for place, row in enumerate(rows)]


def _key(key: str, title: str) -> Content:
    return glue(fit(cap(key), _LABEL), words(title))
