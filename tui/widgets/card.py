"""A framed dialog in the middle of the screen, and what the dialogs say."""

from __future__ import annotations

from shared.wire.queue import Me, QueueFigures
from tui.keymap import GROUPS, Binding
from tui.safe_text import safe_text
from tui.state.countdown import clock_words
from tui.state.hand import Offer
from tui.state.held import Trouble
from tui.state.notes import KeptNote
from tui.widgets.paint import Content, Line, cap, fit, glue, lines, marked, words
from tui.wrap import wrap

_WIDEST = 96
_LABEL = 13
_HELP = 34
_NOTE, _NOTE_ROWS = 57, 8
_KEPT_ROWS = 5
"""Cells and rows of a note: with these the narrowest screen still shows what to press."""


class Card(Line):
    """Shows a title and rows in a frame; hidden when there is nothing to say."""

    DEFAULT_CSS = """
    Card {
        layer: over; width: auto; height: auto; padding: 1 2; background: $panel;
        border: round $review; border-title-color: $text; display: none;
    }
    """

    def draw(
        self, title: Content, rows: list[Content], foot: list[Content] | None = None, top: int = 0
    ) -> int:
        """Show the card at a size that fits its rows and the screen; return the last useful `top`.

        Of rows that don't fit, those from `top` on are shown; `foot` always is.
        """
        foot, room = foot or [], self.app.size
        longest = max(row.cell_length for row in [*rows, *foot])
        width = min(self.text_width + 6, longest + 6)
        height = min(len(rows) + len(foot) + 4, room.height - 2)
        self.styles.width, self.styles.height = width, height
        self.caption(title)
        space = height - 4 - len(foot)
        shown, last = rows, 0
        if space < len(rows):
            last = len(rows) - (space - 1)
            top = min(top, last)
            below = last - top
            more = f"↓ {below} more rows: j" if below else f"↑ {top} rows above: k"
            shown = [*rows[top : top + space - 1], words(more, "$review")]
        self.show(lines(fit(row, width - 6) for row in [*shown, *foot]))
        self.display = True
        return last

    @property
    def text_width(self) -> int:
        """Cells for a row of the widest card."""
        return min(_WIDEST, self.app.size.width - 4) - 6

    def hide(self) -> None:
        """Take the card away."""
        self.display = False


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
    rows += [words(""), *note_rows(kept[highlight].text, "Not sent"), words("")]
    if in_hand:
        rows.append(key_row("1-9", "or ↑↓ and enter: take it over into this item's note"))
    else:
        rows.append(words("Claim an item to take a note over into it.", "$review"))
    rows.append(key_row("esc", "back; kept until you sign off, in memory alone"))
    return words("Kept notes", "bold"), rows


def queues_card(
    me: Me, highlight: int, holding: str, old: Content | None = None
) -> tuple[Content, list[Content]]:
    """List the queues I may work in, with what waits in each; `old` says why that is not now."""
    rows = [old, words("")] if old is not None else []
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
    rows += [words(""), key_row("1-9", "or ↑↓ and enter: work there"), key_row("esc", "back")]
    return words("Queues", "bold"), rows


def old_figures(trouble: Trouble | None, now: float) -> Content | None:
    """Say since when the figures could not be read, and why; None if they are as they are."""
    if trouble is None:
        return None
    since = clock_words(max(now - trouble.since, 0))
    return words(f"✕ The figures could not be read for {since}: {trouble.words}", "bold $reject")


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


def fact(name: str, value: Content) -> Content:
    """Return a name and what is to be said of it."""
    return glue(fit(words(name, "$muted"), _LABEL), value)


def note_rows(text: str, name: str) -> list[Content]:
    """Return an unsent note in rows: whole if they are few enough."""
    safe = safe_text(f"“{text}”", lines=False)
    spans = list(wrap(safe.plain, _NOTE))
    kept = spans if len(spans) <= _NOTE_ROWS else spans[: _NOTE_ROWS - 1]
    rows = [marked(safe, start, end) for start, end in kept]
    if len(kept) < len(spans):
        rows.append(words(f"… and {len(safe.plain) - kept[-1][1]} more characters", "$review"))
    return [fact("" if place else name, row) for place, row in enumerate(rows)]


def key_row(key: str, title: str) -> Content:
    """Return a key and what it does."""
    return glue(fit(cap(key), _LABEL), words(title))
