"""The single rows around an item: header, lease bar, status row, verdict bar."""

from __future__ import annotations

from dataclasses import dataclass

from shared.vocabulary import Verdict
from shared.wire.queue import DecisionPart, QueueFigures
from tui.clock import day_words, local_words
from tui.state.countdown import Stage, clock_words
from tui.state.events import ParkedAway
from tui.state.hand import Hand, Offer
from tui.state.held import Held, Trouble
from tui.widgets.paint import Content, cap, fit, glue, roomiest, spread, words

VERDICT_ROLES = {
    Verdict.APPROVE: "$approve",
    Verdict.UPHOLD: "$approve",
    Verdict.LIMIT: "$review",
    Verdict.REJECT: "$reject",
    Verdict.OVERTURN: "$reject",
    Verdict.ESCALATE: "$escalate",
}
_GAP = words("  ")
_ROOMY = 100


@dataclass(frozen=True, slots=True)
class Standing:
    """What the header says of the session."""

    queue: str
    name: str
    figures: QueueFigures | None
    done: int
    live: bool
    paused: bool = False
    since: float = 0.0
    """Seconds since the figures were read: the oldest has grown older by them."""


def header(standing: Standing, width: int) -> Content:
    """Return the top row: where I am, what waits, whether the server answers."""
    left = glue(
        words(" ◆ ", "$approve"), words(standing.queue or "no queue", "bold"), _GAP,
        words(standing.name, "$muted"),
    )  # fmt: skip
    right: list[Content] = []
    if standing.figures is not None:
        right += _figures(standing.figures, max(standing.since, 0.0))
    if width >= _ROOMY or standing.done:
        right += [words(str(standing.done), "bold"), words(" done  ", "$muted")]
    if standing.paused:
        right.append(words("‖ pause after this  ", "bold $review"))
    live = words("● live ", "$approve") if standing.live else words("○ offline ", "bold $reject")
    return spread(left, glue(*right, live), width)


def _figures(figures: QueueFigures, since: float) -> list[Content]:
    more = "+" if figures.free >= figures.capped_at else ""
    shown = [words(f"{figures.free}{more}", "bold"), words(" waiting  ", "$muted")]
    if figures.oldest_ms is not None:
        age = figures.oldest_ms / 1000 + since
        late = 0 < figures.sla_ms < age * 1000
        oldest = clock_words(age)
        role = "bold $reject" if late else "bold $review"
        shown += [words("oldest ", "$muted"), words(("✕ " if late else "") + oldest, role)]
        if figures.sla_ms:
            shown.append(words(f"/{clock_words(figures.sla_ms / 1000)}", "$muted"))
        shown.append(_GAP)
    return shown


def lease_bar(held: Held | None, now: float, width: int) -> Content:
    """Return the bar of the lease; it grows louder as the time runs out."""
    if held is None:
        return fit(words(""), width)
    left, stage = held.countdown.left(now), held.countdown.stage(now)
    role, tail = _lease_words(stage, held)
    clock = words(f" {clock_words(left):>7} ", f"bold {role}")
    right = words(f" {tail} ", role)
    cells = max(width - clock.cell_length - right.cell_length, 0)
    if stage is Stage.LAPSED:
        return fit(glue(clock, words("▒" * cells, role), right), width)
    filled = round(cells * held.countdown.share(now))
    pulse = " reverse" if stage is Stage.URGENT and int(left) % 2 else ""
    bar = glue(words("━" * filled, role + pulse), words("─" * (cells - filled), "$line"))
    return fit(glue(clock, bar, right), width)


def _lease_words(stage: Stage, held: Held) -> tuple[str, str]:
    match stage:
        case Stage.LAPSED:
            return "$reject", "LAPSED · yours until someone else claims · R renew"
        case Stage.URGENT if held.renewal.capped:
            return "$reject", "no more renewals: decide or give back"
        case Stage.URGENT:
            return "$reject", "any key keeps it"
        case Stage.SOON:
            return "$review", "lease"
        case Stage.CALM:
            return "$muted", "lease"


def verdict_bar(hand: Hand, frozen: bool, width: int, *, noted: bool = False) -> Content:
    """Return the bottom row: verdict letters, then what else fits; never wraps.

    `noted` tells that a note is kept and will go with the verdict.
    """
    ready = not frozen
    parts: list[Content] = [words(" ")]
    for offer in hand.offers:
        parts += [*_offer(offer, ready), words(" ")]
    right = glue(cap("?"), words(" Help "))
    note = ("c", "✓Note" if noted else "Note", "bold $review" if noted else "$muted")
    rest = (("P", "Park"), ("Q", "Queues"), ("ctrl+q", "Sign off"), ("tab", "Pane"))
    for key, name, role in (note, *((key, name, "$muted") for key, name in rest)):
        more = [cap(key), words(f" {name} ", role)]
        if glue(*parts, *more).cell_length + right.cell_length <= width:
            parts += more
    return spread(glue(*parts), right, width)


def _offer(offer: Offer, ready: bool) -> list[Content]:
    name = str(offer.subject).capitalize()
    role = VERDICT_ROLES[offer.subject] if isinstance(offer.subject, Verdict) else "$text"
    if not ready:
        return [cap(offer.letter, "$muted on $panel"), words(f" {name} ", "$muted")]
    return [cap(offer.letter, f"$cap on {role}"), words(f" {name} ", f"bold {role}")]


def idle_bar(width: int, *, verb: str = "Claim") -> Content:
    """Return the bottom row when there is no item."""
    parts = [cap("enter", "$cap on $approve"), words(f" {verb}  ", "bold")]
    left = glue(words(" "), *parts, cap("Q"), words(" Queues  "), cap("ctrl+q"), words(" Sign off"))
    return spread(left, glue(cap("?"), words(" Help ")), width)


@dataclass(frozen=True, slots=True)
class Receipt:
    """A recorded verdict, and when the answer came on the caller's clock."""

    decision: DecisionPart
    at: float
    replayed: bool = False


def receipt_words(receipt: Receipt | ParkedAway, now: float, width: int) -> Content:
    """Return the receipt; the time until it takes effect is the last to be left out."""
    if isinstance(receipt, ParkedAway):
        return _parked_words(receipt, width)
    decision = receipt.decision
    verdict = str(decision.verdict).upper()
    role = VERDICT_ROLES[decision.verdict]
    window = (decision.takes_effect_at - decision.recorded_at).total_seconds()
    left = window - (now - receipt.at)
    due = local_words(decision.takes_effect_at)
    effect = f"takes effect in {left:.0f} s" if left > 0 else f"due to take effect {due}"
    late = f" · {clock_words(decision.late_by_ms / 1000)} late" if decision.late_by_ms else ""
    again = " (already there)" if receipt.replayed else ""
    done = glue(words(" ✓ ", "bold $approve"), words(verdict, f"bold {role}"))
    item = words(f" {decision.content_id}", "bold")
    why = words(f" · {decision.reason}", "bold")
    recorded = f"recorded {local_words(decision.recorded_at)}"
    return roomiest(
        width,
        glue(done, item, why, words(f"  {recorded}{again}{late} · {effect}", "$muted")),
        glue(done, item, why, words(f"  recorded{again}{late} · {effect}", "$muted")),
        glue(done, item, words(f"  recorded{again}{late} · {effect}", "$muted")),
        glue(done, words(f" recorded{again}{late} · {effect}", "$muted")),
    )


def _parked_words(parked: ParkedAway, width: int) -> Content:
    """Return the receipt of a parking."""
    done = words(" ✓", "bold $approve")
    until = glue(words(" Parked", "bold $escalate"), words(f" until {day_words(parked.wake_at)}"))
    early = words(", or until there is new evidence", "$muted")
    item = words(f" {parked.content_id} ·", "bold")
    asked = words(" · your question was sent" if parked.asked else "")
    return roomiest(
        width,
        glue(done, item, until, early, asked),
        glue(done, item, until, asked),
        glue(done, until, asked),
    )


def sending_words(
    verdict: Verdict, reason: str, trouble: Trouble | None, now: float, width: int
) -> Content:
    """Return what is known of a verdict on its way."""
    name = words(str(verdict).upper(), f"bold {VERDICT_ROLES[verdict]}")
    if trouble is None:
        return glue(words(" … ", "$muted"), name, words(f" · {reason}  sending"))
    since = clock_words(max(now - trouble.since, 0))
    offline = glue(
        words(f" ○ Offline {since}. ", "bold $reject"), words("Your "), name,
        words(" is saved here and will be sent exactly once."),
    )  # fmt: skip
    detail = words(f" {trouble.words}; try {trouble.tries + 1} follows", "$muted")
    return roomiest(width, glue(offline, detail), offline)
