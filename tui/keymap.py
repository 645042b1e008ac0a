"""The keys, as data: screens look actions up here, and help is written from it.

The letters of the verdicts are not here: each item brings its own (`tui.state.offers`).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Binding:
    """One action: the keys that start it, and what help says of it.

    `action` names the method `do_<action>` of the screen; `keys` are Textual's names.
    """

    keys: tuple[str, ...]
    action: str
    title: str
    group: str
    shown: str


DECIDE, READ, GO = "Decide", "Read", "Go"
GROUPS = (DECIDE, READ, GO)

REVIEW = (
    Binding(("c",), "note", "write a note", DECIDE, "c"),
    Binding(("D",), "kept", "notes that were not sent", DECIDE, "D"),
    Binding(("R",), "renew", "renew the lease", DECIDE, "R"),
    Binding(("P",), "park", "park: ask, or set it aside", DECIDE, "P"),
    Binding(("p",), "pause", "pause after this item", DECIDE, "p"),
    Binding(("enter",), "go_on", "next item, without one", DECIDE, "enter"),
    Binding(("space", "pagedown"), "page_down", "page down", READ, "space"),
    Binding(("b", "pageup"), "page_up", "page up", READ, "b"),
    Binding(("j", "down"), "line_down", "line down", READ, "j ↓"),
    Binding(("k", "up"), "line_up", "line up", READ, "k ↑"),
    Binding(("g", "home"), "top", "to the beginning", READ, "g"),
    Binding(("G", "end"), "bottom", "to the end; loads more", READ, "G"),
    Binding(("tab", "shift+tab"), "switch_pane", "item or evidence", READ, "tab"),
    Binding(("w",), "wide", "item alone, or both", READ, "w"),
    Binding(("d",), "changes", "how the evidence changed", READ, "d"),
    Binding(("f",), "files", "save the attachments", READ, "f"),
    Binding(("Q",), "queues", "another queue", GO, "Q"),
    Binding(("question_mark", "f1"), "help", "this page", GO, "? F1"),
    Binding(("q", "escape"), "back", "back", GO, "q esc"),
    Binding(("ctrl+q",), "sign_off", "sign off, give back", GO, "ctrl+q"),
)
LEAD = (
    Binding(("r",), "refresh", "read the figures now", READ, "r"),
    Binding(("j", "down"), "line_down", "line down", READ, "j ↓"),
    Binding(("k", "up"), "line_up", "line up", READ, "k ↑"),
    Binding(("question_mark", "f1"), "help", "this page", GO, "? F1"),
    Binding(("q", "escape"), "back", "back", GO, "q esc"),
    Binding(("ctrl+q",), "sign_off", "leave", GO, "ctrl+q"),
)


def lookup(keymap: tuple[Binding, ...], key: str) -> str | None:
    """Return the action that `key` starts, if any."""
    return next((binding.action for binding in keymap if key in binding.keys), None)
