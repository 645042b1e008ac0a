"""The health of all queues as rows: cards with their thresholds, a table, lease counts."""

from __future__ import annotations

from dataclasses import dataclass

from shared.wire.cockpit import Health, QueueHealth
from tui.state.countdown import clock_words
from tui.widgets.paint import Content, fit, glue, roomiest, words

GOOD, WATCH, BAD, NOTE = "✓", "!", "✕", "◌"
_ROLES = {GOOD: "$approve", WATCH: "$review", BAD: "$reject", NOTE: "$held"}
_NEAR = 0.8


@dataclass(frozen=True, slots=True)
class Card:
    """One figure: what it is, how it stands (glyph), the figure, and against what."""

    title: str
    glyph: str
    figure: str
    against: tuple[str, ...]
    """Against what the figure stands, in words; the longest first, for where there is room."""


def cards(health: Health) -> tuple[Card, ...]:
    """Return the five cards."""
    return (
        _waiting(health),
        _oldest(health),
        _in_review(health),
        _not_applied(health),
        _no_score(health),
    )


def _waiting(health: Health) -> Card:
    waiting = sum(queue.waiting for queue in health.queues)
    done = health.decided_last_hour
    much = waiting > max(done, 1)
    plain = f"{done}/h decided"
    nobodys = sum(queue.unclaimable for queue in health.queues)
    if nobodys:
        told = (f"{nobodys} unclaimable, {plain}", f"{nobodys} unclaimable", f"{nobodys} nobody's")
        return Card("Waiting", WATCH, str(waiting), told)
    if not much:
        return Card("Waiting", GOOD, str(waiting), (plain,))
    against = (f"more than {plain}", f"> {plain}", f"> {done}/h done")
    return Card("Waiting", WATCH, str(waiting), against)


def _oldest(health: Health) -> Card:
    worst = max(health.queues, key=_urgency, default=None)
    if worst is None or worst.oldest_ms is None:
        return Card("Oldest", GOOD, "none", ("nothing waits",))
    glyph = standing(worst)
    against = f"{_AGAINST[glyph]}SLA {clock_words(worst.sla_ms / 1000)}"
    figure = clock_words(worst.oldest_ms / 1000)
    return Card("Oldest", glyph, figure, (f"{against} {worst.title}", against))


def _in_review(health: Health) -> Card:
    lapsed = sum(queue.lapsed for queue in health.queues)
    moving = sum(queue.escalating for queue in health.queues)
    total = sum(queue.in_review for queue in health.queues)
    glyph = WATCH if lapsed or moving else GOOD
    against = (f"{lapsed} lapsed {moving} escalating", f"{lapsed} lapsed {moving} esc.")
    return Card("In review", glyph, str(total), against)


def _not_applied(health: Health) -> Card:
    late, dead = health.not_applied, health.dead
    limit = clock_words(health.not_applied_after_ms / 1000)
    oldest = health.not_applied_oldest_ms
    age = f", oldest {clock_words(oldest / 1000)}" if late and oldest is not None else ""
    glyph = BAD if late or dead else GOOD
    plain = f">{limit}, {dead} gave up"
    return Card("Not applied", glyph, str(late), (plain + age, plain, f">{limit}, {dead} dead"))


def _no_score(health: Health) -> Card:
    glyph = NOTE if health.held else GOOD
    return Card("No score", glyph, str(health.held), ("waiting for one",))


def _urgency(queue: QueueHealth) -> float:
    return (queue.oldest_ms or 0) / queue.sla_ms if queue.sla_ms > 0 else 0.0


def standing(queue: QueueHealth) -> str:
    """Return how the oldest item of a queue stands against its SLA."""
    if queue.sla_ms <= 0:
        return GOOD
    share = _urgency(queue)
    return BAD if share > 1 else WATCH if share > _NEAR else GOOD


_AGAINST = {GOOD: "", WATCH: "near ", BAD: "over "}
_WORDS = {GOOD: "in time", WATCH: "near", BAD: "over"}


def card_rows(shown: tuple[Card, ...], width: int) -> list[Content]:
    """Return the cards side by side, three rows high."""
    room = width // max(len(shown), 1)
    return [
        glue(*(fit(words(f" {card.title}", "$muted"), room) for card in shown)),
        glue(*(fit(words(f" {card.glyph} {card.figure}", f"bold {_ROLES[card.glyph]}"), room)
               for card in shown)),
        glue(*(fit(_reason(card, room), room) for card in shown)),
    ]  # fmt: skip


def _reason(card: Card, room: int) -> Content:
    """Return the longest words that the card holds whole."""
    choices = (words(f" {text}", "$muted") for text in card.against)
    return roomiest(room, *choices)


_COUNTS = (("waiting", 8), ("in review", 10), ("lapsed", 7), ("escalating", 11))
_MORE_COUNTS = (("parked", 8), ("unclaimable", 13), ("present", 9))
"""Shown where there is room for all of them; on a card there is always the word."""
_AGES = (("oldest", 9), ("SLA", 9), ("standing", 10))
_LEAST_NAME = 6
_ROOMY_NAME = 16


def table_rows(health: Health, width: int) -> list[Content]:
    """Return the queues as a table."""
    columns = _columns(width)
    widths = [room for _, room in columns]
    name = max(min(width - sum(widths), 24), _LEAST_NAME)
    head = [fit(words("queue", "$muted"), name)]
    head += [words(text.rjust(room), "$muted") for text, room in columns]
    rows = [fit(glue(*head), width)]
    for queue in health.queues:
        cells = [_cell(queue, text) for text, _ in columns[:-1]]
        glyph = standing(queue)
        role = _ROLES[glyph]
        row = [fit(words(queue.title, "bold"), name)]
        row += [words(text.rjust(room)) for text, room in zip(cells, widths[:-1], strict=True)]
        row.append(words(f"{glyph} {_WORDS[glyph]}".rjust(widths[-1]), f"bold {role}"))
        rows.append(fit(glue(*row), width))
    return rows


def _columns(width: int) -> tuple[tuple[str, int], ...]:
    whole = (*_COUNTS, *_MORE_COUNTS, *_AGES)
    roomy = width >= _ROOMY_NAME + sum(room for _, room in whole)
    return whole if roomy else (*_COUNTS, *_AGES)


def _cell(queue: QueueHealth, column: str) -> str:
    if column == "oldest":
        return "–" if queue.oldest_ms is None else clock_words(queue.oldest_ms / 1000)
    if column == "SLA":
        return clock_words(queue.sla_ms / 1000)
    return str(getattr(queue, column.replace(" ", "_")))
