"""What the workstation says when there is no item on it."""

from __future__ import annotations

from shared.wire.queue import QueueFigures, QueueView
from tui.screens.bench import Bench
from tui.state.countdown import clock_words
from tui.state.held import Why
from tui.state.session import Claiming, Elsewhere, Idle, Submitting, Unshowable
from tui.widgets.card import depth, old_figures
from tui.widgets.paint import Content, cap, glue, words

_LATELY = 600.0
"""Seconds for which a queue keeps an item from who left it, if its policy says nothing else."""


def idle_rows(bench: Bench) -> tuple[Content, list[Content]]:
    """Return title and rows for the place of the item."""
    session = bench.session
    if bench.me is None:
        return words("Signing in"), _signing_in(bench)
    match session:
        case Claiming():
            return words("Taking over" if session.over else "Claiming"), _claiming(bench, session)
        case Unshowable(_, why):
            rows = [words("This item is not shown.", "bold $reject"), words(why), words("")]
            return words("Not proven"), [*rows, _key("enter", "ask for it again")]
        case Submitting():
            text = "A verdict from an earlier run is being sent first, with the same token."
            return words("Sending"), [words(text)]
        case Idle() | Elsewhere():
            return _resting(bench, session)
        case _:
            return words(""), [words("")]


def _resting(bench: Bench, session: Idle | Elsewhere) -> tuple[Content, list[Content]]:
    if isinstance(session, Elsewhere):
        return words("Open in another terminal"), _elsewhere(bench, session)
    title = _empty_title(bench) if session.why is Why.EMPTY else _TITLES[session.why]
    return words(title), _idle(bench, session)


def _signing_in(bench: Bench) -> list[Content]:
    trouble = bench.sign_in_trouble
    rows = [words("Asking the server who you are …")]
    if trouble is not None:
        since = clock_words(bench.desk.now() - trouble.since)
        rows += [words(f"○ No luck for {since}: {trouble.words}", "$reject")]
        rows += [words("It is tried again until it works; ctrl+q leaves.", "$muted")]
    return rows


def _elsewhere(bench: Bench, session: Elsewhere) -> list[Content]:
    lease = session.lease
    left = session.countdown.left(bench.desk.now())
    time = f"{clock_words(left)} left" if left > 0 else f"its time ran out {clock_words(-left)} ago"
    other = lease.terminal or "no name"
    return [
        words(f"You hold {lease.content_id} in another terminal ({other}), {time}.", "bold"),
        words("Taken over, it goes on here, and the other terminal can't decide it.", "$muted"),
        words(""),
        _key("enter", "take it over here"),
        _key("ctrl+q", "leave it there"),
    ]


def _claiming(bench: Bench, session: Claiming) -> list[Content]:
    what = "your item" if session.over else f"the next item of {bench.title_of(bench.queue_name)}"
    if session.trouble is None:
        verb = "Bringing" if session.over else "Claiming"
        return [words(f"{verb} {what} …", "$muted")]
    since = clock_words(bench.desk.now() - session.trouble.since)
    return [
        words(f"○ No luck for {since}: {session.trouble.words}", "bold $reject"),
        words(
            "The same claim is repeated until it is answered; it can't take two items.", "$muted"
        ),
    ]


_TITLES = {
    Why.START: "Welcome", Why.PAUSED: "Pause", Why.RELEASED: "Given back",
    Why.DISTRESS: "Given back", Why.REFUSED: "Refused", Why.PARKED: "Parked",
}  # fmt: skip


def _empty_title(bench: Bench) -> str:
    """Return what is true now: something may have come since the claim found nothing."""
    if bench.look_trouble is not None:
        return "No item"
    if bench.figures is not None and _for_me(bench.figures):
        return "Something is waiting"
    others = (view for view in _queues(bench) if view.queue != bench.queue_name)
    if any(_for_me(view.figures) for view in others):
        return "Something is waiting elsewhere"
    return "Nothing to claim"


def _queues(bench: Bench) -> tuple[QueueView, ...]:
    return bench.me.queues if bench.me is not None else ()


def _for_me(figures: QueueFigures) -> int:
    return max(figures.free - figures.not_for_you, 0)


def _idle(bench: Bench, session: Idle) -> list[Content]:
    old = old_figures(bench.look_trouble, bench.desk.now())
    rows = [*_why(bench, session)] if old is None else [old, words(""), *_unread(bench, session)]
    if session.why is Why.DISTRESS:
        return [*rows, words(""), _key("enter", "next item, when you are ready")]
    if bench.queue_name:
        rows += [words(""), _key("enter", f"claim from {bench.title_of(bench.queue_name)}")]
    rows += [_key("Q", "another queue" if bench.queue_name else "choose a queue")]
    others = [view for view in _queues(bench) if view.queue != bench.queue_name]
    if others:
        rows += [
            words(""),
            words(
                "Other queues you may work in" if bench.queue_name else "You may work in", "bold"
            ),
        ]
        rows += [words(f"  {view.title}: {depth(view.figures)}", "$muted") for view in others]
    return rows


def _unread(bench: Bench, session: Idle) -> list[Content]:
    """Return why there is no item, without a word on what waits: that is not known now."""
    if session.why is Why.EMPTY:
        title = bench.title_of(bench.queue_name)
        return [words(f"Whether something waits in {title} is not known now.", "bold")]
    return _why(bench, session)


_WHY = {
    Why.START: "Choose a queue to begin.",
    Why.PAUSED: "You asked for a pause. No item is held, no time runs.",
    Why.RELEASED: "The item was given back.",
    Why.PARKED: "The item was parked. It comes back by itself.",
    Why.DISTRESS: "The item was given back. It is not counted, and nobody will ask.",
}


def _why(bench: Bench, session: Idle) -> list[Content]:
    if session.why is Why.EMPTY:
        return _empty(bench)
    if session.why is Why.REFUSED:
        return [words(session.words or "The server said no.", "bold $reject")]
    rows = [words(_WHY[session.why], "bold")]
    if session.why is Why.DISTRESS:
        rows.append(words("Take the time you need.", "$muted"))
    return rows


def _empty(bench: Bench) -> list[Content]:
    figures = bench.figures
    if figures is None:
        return [words("Nothing came back.", "bold")]
    title = bench.title_of(figures.queue)
    if mine := _for_me(figures):
        rows = [words(f"{mine} wait{'s' * (mine == 1)} in {title} now.", "bold")]
    else:
        rows = [words(f"Nothing waiting for you in {title}.", "bold")]
    if figures.held:
        when = ""
        if figures.free_in_ms is not None:
            left = clock_words(max(figures.free_in_ms, 0) / 1000)
            when = f"; the next of these leases runs out in {left}"
        rows.append(words(f"{figures.held} in review by others{when}.", "$muted"))
    if figures.not_for_you:
        rows.append(words(_not_for_you(bench, figures), "$muted"))
    rows.append(words("The figures are read every 10 s; a lease begins only with a key.", "$muted"))
    return rows


def _not_for_you(bench: Bench, figures: QueueFigures) -> str:
    """Say why some are not on offer; the server counts them, and only this terminal knows some."""
    number, now = figures.not_for_you, bench.desk.now()
    left = sum(queue == figures.queue and now - at < _LATELY for queue, at in bench.left)
    if left >= number:
        is_are = "is" if number == 1 else "are"
        return f"{number} that you left lately {is_are} not offered to you for a while."
    if number == 1:
        return "1 is not offered to you: you left it lately, or may not decide it."
    return f"{number} are not offered to you: you left them lately, or may not decide them."


def _key(key: str, title: str) -> Content:
    return glue(cap(key), words(f" {title}"))
