"""An exported screen made fit to keep: no link to any host, and no edge left to the renderer."""

from __future__ import annotations

import re

FONTS = '"DejaVu Sans Mono", "Liberation Mono", Menlo, Consolas, monospace'
_FONT_FACE = re.compile(r"@font-face\s*\{.*?\}", re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_FAMILY = re.compile(r"font-family:\s*[^;]*;")
_TEXT = re.compile(
    r'(<text class="[^"]*-r\d+" x=")([\d.]+)(" y="[^"]*" textLength=")([\d.]+)("[^>]*>)'
    r"([^<]*)(</text>)"
)
_SPACE = "&#160;"


def cleaned(svg: str) -> str:
    """Return `svg` without web fonts, and with blank edges of text turned into positions.

    Renderers differ on blanks at the ends of a text element; a position is the same for all.
    """
    svg = _COMMENT.sub("", _FONT_FACE.sub("", svg))
    svg = _FAMILY.sub(f"font-family: {FONTS};", svg)
    svg = _TEXT.sub(_without_edges, svg)
    return "\n".join(line.rstrip() for line in svg.splitlines() if line.strip()) + "\n"


def _without_edges(match: re.Match[str]) -> str:
    head, x, middle, length, tail, text, end = match.groups()
    cells = len(re.sub(r"&[^;]+;", "_", text))
    bare = text
    left = 0
    while bare.startswith(_SPACE):
        bare, left = bare.removeprefix(_SPACE), left + 1
    right = 0
    while bare.endswith(_SPACE):
        bare, right = bare.removesuffix(_SPACE), right + 1
    if not bare:
        return ""
    cell = float(length) / cells if cells else 0.0
    start = float(x) + left * cell
    width = float(length) - (left + right) * cell
    return f"{head}{start:.1f}{middle}{width:.1f}{tail}{bare}{end}"


def linked_hosts(svg: str) -> list[str]:
    """Return every address in `svg` that a viewer would fetch; text that is shown is none."""
    found = re.findall(r"(?:href|src)\s*=\s*[\"']?([^\"'\s>]+)|url\([\"']?([^)\"']*)", svg)
    addresses = [one or other for one, other in found]
    return [address for address in addresses if not address.startswith("#")]
