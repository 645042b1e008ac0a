"""Our own four themes. A role is a colour with a meaning, and never the only carrier of it.

Blue stands against red instead of green against red, so that the roles stay apart for people who
see colours differently; every text role has a contrast of at least 4.5 to 1 (a test counts it).
"""

from __future__ import annotations

from textual.theme import Theme

ROLES = ("text", "muted", "approve", "review", "reject", "escalate", "held")
"""Roles that colour text on `background`, `surface` and `panel`."""

_DARK = {
    "background": "#0e1216", "surface": "#141a20", "panel": "#1b232b", "line": "#33404c",
    "text": "#d5dde5", "muted": "#93a0ad", "approve": "#5b9dff", "review": "#f6d55c",
    "reject": "#ff6f61", "escalate": "#6ff0d6", "held": "#b9a5ff", "cap": "#0e1216",
    "hit": "#ff6f61",
}  # fmt: skip
_LIGHT = {
    "background": "#fbfbf9", "surface": "#f4f4f1", "panel": "#e9eae6", "line": "#b9beb8",
    "text": "#1d2329", "muted": "#525c66", "approve": "#1348c8", "review": "#6a5602",
    "reject": "#6a0f1d", "escalate": "#8f0f7b", "held": "#4a35a8", "cap": "#fbfbf9",
    "hit": "#6a0f1d",
}  # fmt: skip
_CONTRAST = {
    "background": "#000000", "surface": "#000000", "panel": "#101010", "line": "#9a9a9a",
    "text": "#ffffff", "muted": "#d0d0d0", "approve": "#8ab8ff", "review": "#ffe477",
    "reject": "#ff9085", "escalate": "#8dfbe5", "held": "#d0c2ff", "cap": "#000000",
    "hit": "#ff9085",
}  # fmt: skip
_MONO = {
    "background": "#101010", "surface": "#101010", "panel": "#1c1c1c", "line": "#4a4a4a",
    "text": "#dcdcdc", "muted": "#a6a6a6", "approve": "#f4f4f4", "review": "#f4f4f4",
    "reject": "#f4f4f4", "escalate": "#f4f4f4", "held": "#f4f4f4", "cap": "#101010",
    "hit": "#f4f4f4",
}  # fmt: skip
PALETTES = {"dark": _DARK, "light": _LIGHT, "high-contrast": _CONTRAST, "mono": _MONO}


def themes() -> list[Theme]:
    """Return the themes, named `fencepost-dark` and so on."""
    return [_theme(name, palette) for name, palette in PALETTES.items()]


def theme_name(name: str) -> str:
    """Return the registered name of one of ours."""
    return f"fencepost-{name}"


def _theme(name: str, palette: dict[str, str]) -> Theme:
    return Theme(
        name=theme_name(name),
        primary=palette["approve"],
        secondary=palette["muted"],
        warning=palette["review"],
        error=palette["reject"],
        success=palette["approve"],
        accent=palette["escalate"],
        foreground=palette["text"],
        background=palette["background"],
        surface=palette["surface"],
        panel=palette["panel"],
        dark=name != "light",
        variables={
            **palette,
            "scrollbar": palette["muted"],
            "scrollbar-hover": palette["text"],
            "scrollbar-active": palette["text"],
            "scrollbar-background": palette["surface"],
            "scrollbar-background-hover": palette["surface"],
            "scrollbar-background-active": palette["surface"],
            "scrollbar-corner-color": palette["surface"],
        },
    )
