"""What the workstation says when there is no item on it."""

from __future__ import annotations

from tui.screens.bench import Bench
from tui.state.countdown import clock_words
from tui.state.held import Why
from tui.state.session import (
    Changed,
    Claiming,
    Elsewhere,
    Idle,
    Reviewing,
    Stale,
    Submitting,
    Unshowable,
)
from tui.widgets.card import depth, old_figures
from tui.widgets.paint import Content, cap, glue, words


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
    return words(_title(session.why)), _idle(bench, session)


def idle_words(bench: Bench) -> str:
    """Return what the status row says when nothing else has happened."""
    if bench.me is None:
        return "Not signed in yet."
    if isinstance(bench.session, Idle):
        return "No item is held."
    if isinstance(bench.session, Elsewhere):
        return "Your item is open in another terminal. Nothing runs here."
    if isinstance(bench.session, (Stale, Changed)):
        lost = isinstance(bench.session, Stale)
        unsent = "This item is not yours any more." if lost else "The evidence changed."
        return unsent if bench.session.pending is None else "Not recorded."
    if isinstance(bench.session, Reviewing) and bench.session.held.resumed:
        return "Resumed: this item was still yours. Nothing is sent until you pick a reason."
    return "Ready. Nothing is sent until you pick a reason."


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
    time = f"{clock_words(left)} left" if left > 0 else f"its time ran out {clock_words(left)} ago"
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


def _title(why: Why) -> str:
    return {
        Why.START: "Welcome", Why.EMPTY: "Nothing to claim", Why.PAUSED: "Pause",
        Why.RELEASED: "Given back", Why.DISTRESS: "Given back", Why.REFUSED: "Refused",
        Why.PARKED: "Parked",
    }[why]  # fmt: skip


def _idle(bench: Bench, session: Idle) -> list[Content]:
    old = old_figures(bench.look_trouble, bench.desk.now())
    rows = [*_why(bench, session)] if old is None else [old, words(""), *_unread(bench, session)]
    if session.why is Why.DISTRESS:
        return [*rows, words(""), _key("enter", "next item, when you are ready")]
    if bench.queue_name:
        rows += [words(""), _key("enter", f"claim from {bench.title_of(bench.queue_name)}")]
    rows += [_key("Q", "another queue" if bench.queue_name else "choose a queue")]
    others = [
        view for view in (bench.me.queues if bench.me else ()) if view.queue != bench.queue_name
    ]
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
    if figures.free > figures.not_for_you:
        rows = [words(f"{figures.free - figures.not_for_you} wait in {title} now.", "bold")]
    else:
        rows = [words(f"Nothing waiting for you in {title}.", "bold")]
    if figures.held:
        when = ""
        if figures.free_in_ms is not None:
            left = clock_words(max(figures.free_in_ms, 0) / 1000)
            when = f"; the next of these leases runs out in {left}"
        rows.append(words(f"{figures.held} in review by others{when}.", "$muted"))
    if figures.not_for_you:
        rows.append(words(f"{figures.not_for_you} wait that are not for you to decide.", "$muted"))
    rows.append(words("The figures are read every 10 s; a lease begins only with a key.", "$muted"))
    return rows


def _key(key: str, title: str) -> Content:
    return glue(cap(key), words(f" {title}"))
