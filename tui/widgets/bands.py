"""A score against its band, as a bar with two ticks; every meaning is word, glyph and colour."""

from __future__ import annotations

from decimal import Decimal

from shared.evidence import ShownLabel
from shared.vocabulary import Band
from tui.widgets.paint import Content, fit, glue, words

GLYPHS = {Band.ALLOW: "✓", Band.REVIEW: "?", Band.BLOCK: "✕", Band.HELD: "◌"}
ROLES = {
    Band.ALLOW: "$approve",
    Band.REVIEW: "$review",
    Band.BLOCK: "$reject",
    Band.HELD: "$held",
}
_STRICTNESS = {Band.HELD: 0, Band.BLOCK: 1, Band.REVIEW: 2, Band.ALLOW: 3}
_NAME, _SCORE, _BAND, _LEAST_BAR = 14, 6, 8, 8
_FEWEST, _MOST = 2, 4
"""Decimals of a score on the screen."""


def strictest_first(labels: tuple[ShownLabel, ...]) -> list[ShownLabel]:
    """Return the labels with held and blocking ones on top, then by severity, score and name."""
    return sorted(
        labels,
        key=lambda label: (
            _STRICTNESS[label.band],
            -label.severity,
            -Decimal(label.score or 0),
            label.category,
        ),
    )


def band_row(label: ShownLabel, flagged: bool, width: int) -> Content:
    """Return one category in one row of `width` cells."""
    role = ROLES[label.band]
    loud = label.band is not Band.ALLOW
    room = width - 1 - _SCORE - 1 - _BAND
    bar = max(room - _NAME - 1, _LEAST_BAR)
    return fit(
        glue(
            fit(words(label.category, "bold $text" if loud else "$muted"), max(room - bar - 1, 4)),
            words("⚑" if flagged else " ", "bold $reject"),
            *_bar(label, bar, role),
            words(" "),
            words(score_words(label.score).rjust(_SCORE), f"bold {role}" if loud else "$muted"),
            words(" "),
            _verdict_of(label, f"bold {role}" if loud else role),
        ),
        width,
    )


def _verdict_of(label: ShownLabel, style: str) -> Content:
    """Return the band; a category that nothing was scored in was not found to be harmless."""
    if label.score is None and label.band is Band.ALLOW:
        return words("no score", "$muted")
    return words(f"{GLYPHS[label.band]} {label.band}", style)


def score_words(score: str | None) -> str:
    """Return a score with two to four decimals."""
    if score is None:
        return "—"
    value = Decimal(score)
    exponent = value.as_tuple().exponent
    given = -exponent if isinstance(exponent, int) else _FEWEST
    return f"{value:.{min(max(given, _FEWEST), _MOST)}f}"


def _bar(label: ShownLabel, cells: int, role: str) -> list[Content]:
    """Return the runs of a bar: filled up to the score, ticks at low and high."""
    low, high = _place(label.low, cells), _place(label.high, cells)
    filled = -1 if label.score is None else _place(label.score, cells)
    drawn = []
    for cell in range(cells):
        if cell == high:
            drawn.append(("┃", "bold $text"))
        elif cell == low:
            drawn.append(("┆", "$text"))
        elif label.score is None:
            drawn.append(("·", "$muted"))
        else:
            drawn.append(("━", role) if cell <= filled else ("─", "$line"))
    return _runs(drawn)


def _runs(drawn: list[tuple[str, str]]) -> list[Content]:
    """Merge neighbours of one style, so that a bar is a few spans and not one a cell."""
    runs: list[tuple[str, str]] = []
    for glyph, style in drawn:
        if runs and runs[-1][1] == style:
            runs[-1] = (runs[-1][0] + glyph, style)
        else:
            runs.append((glyph, style))
    return [words(text, style) for text, style in runs]


def _place(value: str, cells: int) -> int:
    return min(max(round(Decimal(value) * (cells - 1)), 0), cells - 1)
