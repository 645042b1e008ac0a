"""The help of the cockpit: its keys, and what the short words on the cards stand for."""

from __future__ import annotations

from tui.keymap import LEAD
from tui.widgets.card import help_card
from tui.widgets.paint import Content, glue, words

SHORT_WORDS = (
    ("!", "more waits than an hour decides, or the oldest is near its SLA"),
    ("escalating", "left undecided so often that they move up (esc.)"),
    ("unclaimable", "waits, and nobody who is present may take it (nobody's)"),
    ("gave up", "effects that failed and are not tried again (dead)"),
)


def lead_help() -> tuple[Content, list[Content]]:
    """Return the keys, and what the short words on the cards stand for."""
    title, rows = help_card(LEAD, ())
    meant = [glue(words(f"{name}: ", "bold"), words(text)) for name, text in SHORT_WORDS]
    return title, [*rows, words(""), *meant]
