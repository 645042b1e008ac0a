"""The list of reasons under a verdict letter, docked over the evidence."""

from __future__ import annotations

from shared.vocabulary import ParkReason, Verdict
from tui.state.hand import Choice, Picker
from tui.state.parking import REASONS, TIMES, Form, Step
from tui.widgets.bars import VERDICT_ROLES
from tui.widgets.paint import Content, Line, cap, fit, glue, lines, words

ROWS = 6
"""Rows of reasons; the list is as high for one as for eighteen, so that nothing moves."""
_DIGITS = 9
_TWO_COLUMNS = 60


class PickerView(Line):
    """Shows a picker; hidden when there is none."""

    DEFAULT_CSS = """
    PickerView {
        layer: over; dock: bottom; height: 9; margin: 0 0 1 0; padding: 0 1;
        background: $panel; border: tall $muted; border-title-color: $text;
        border-subtitle-color: $muted; display: none;
    }
    """

    def draw(self, picker: Picker | None, content_id: str, seen: int, said: str = "") -> None:
        """Show `picker`, or hide; it lies over the status row, and so says what that would say."""
        self.display = picker is not None
        if picker is None:
            return
        subject = picker.offer.subject
        role = VERDICT_ROLES[subject] if isinstance(subject, Verdict) else "$text"
        decides = isinstance(subject, Verdict)
        asked = f"  {content_id}: why?" if decides else f": give it back, why?  {content_id}"
        self.styles.border = ("tall", self.app.theme_variables[role.removeprefix("$")])
        part = words(f"  seen {seen}%", "$review") if seen < 100 else words("")  # noqa: PLR2004
        self.caption(
            glue(words(str(subject).upper(), f"bold {role}"), words(asked), part),
            words(f"{_digits(picker)} · ↑↓ then enter · another letter changes · esc back"),
        )
        width = max(self.app.size.width - 4, 20)
        last = fit(words(said, "bold $review"), width) if said else _last_row(picker, width)
        self.show(lines([*_rows(picker, width), last]))

    def draw_form(self, form: Form, content_id: str, said: str = "") -> None:
        """Show the form by which an item is parked."""
        self.display = True
        self.styles.border = ("tall", self.app.theme_variables["escalate"])
        asked = "why?" if form.step is Step.REASON else "until when?"
        self.caption(
            glue(words("PARK", "bold $escalate"), words(f"  {content_id}: {asked}")),
            words(_form_keys(form)),
        )
        titles = [title for _, title in REASONS] if form.step is Step.REASON else TIMES
        rows = [glue(cap(str(place + 1)), words(f" {title}")) for place, title in enumerate(titles)]
        said = (
            said or form.words or "The lease ends; the time it is parked does not count as waiting."
        )
        rows += [words("")] * (ROWS - len(rows)) + [words(said, "$muted")]
        self.show(lines(fit(row, max(self.app.size.width - 4, 20)) for row in rows))


def _form_keys(form: Form) -> str:
    if form.step is Step.REASON:
        return "1-3 · esc back"
    asks = form.reason is ParkReason.AWAIT_PRODUCER
    return "1-6, then the question · esc back" if asks else "1-5 parks · 6 asks · esc back"


def _rows(picker: Picker, width: int) -> list[Content]:
    choices = list(enumerate(picker.offer.choices))
    columns = 2 if width >= _TWO_COLUMNS and len(choices) > ROWS else 1
    first = _first_shown(picker, ROWS * columns)
    shown = choices[first : first + ROWS * columns]
    return [
        glue(
            *(
                fit(_choice(picker, *shown[place]), width // columns)
                for place in range(row, len(shown), ROWS)
            )
        )
        for row in range(ROWS)
    ]


def _digits(picker: Picker) -> str:
    return "1-9, then enter sends" if picker.offer.conflict else "1-9 sends"


def _first_shown(picker: Picker, room: int) -> int:
    at = picker.highlight or 0
    return 0 if at < room else at - at % room


def _choice(picker: Picker, place: int, choice: Choice) -> Content:
    digit = cap(str(place + 1)) if place < _DIGITS else words("   ", "$muted on $line")
    mark = words("▸" if choice.marked else " ", "bold $review")
    picked = place in (picker.highlight, picker.chosen)
    return glue(digit, mark, words(choice.title, "bold reverse" if picked else ""))


def _last_row(picker: Picker, width: int) -> Content:
    offer = picker.offer
    if picker.chosen is not None:
        return fit(words(f"⚠ {offer.conflict}. Send it all the same? enter", "bold $review"), width)
    if offer.conflict:
        return fit(words(f"⚠ {offer.conflict}: enter is asked for", "$review"), width)
    if not offer.choices:
        return fit(words("The policy has no reason for this here.", "$review"), width)
    any_marked = any(choice.marked for choice in offer.choices)
    return fit(
        words("▸ speaks of the category that decided" if any_marked else "", "$muted"), width
    )
