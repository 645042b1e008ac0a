"""A demo without eyes: a scripted reviewer works, and three accounts of it are compared.

The first is the database's, read by SQL; the second the producer's, asked for each content over
HTTP; the third what each acknowledged verdict must have led to. The script counts nothing itself.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections import Counter
from collections.abc import Sequence

from backend.cli.failure import Failure
from backend.cli.samples import cases, posts, send_first, send_rest, split
from backend.cli.scripted import Acknowledged, review
from backend.cli.stage import Stage
from backend.db.tally import (
    BandRow,
    FateRow,
    VerdictRow,
    count_bands,
    count_rows,
    count_verdicts,
    read_fates,
)
from shared.client import FencepostClient
from shared.vocabulary import ContentState, Outcome, Role
from shared.wire.content import DecisionView

_TRICKLE = 0.05  # seconds between two samples
_VERDICTS = {"posts": 40, "cases": 20}
_PATIENCE = 15.0  # seconds past the undo window
_AT_A_TIME = 8  # questions under way

_MOST_SHOWN = 12
_LEADS_TO = {
    Outcome.ALLOW: ContentState.ALLOWED,
    Outcome.LIMIT: ContentState.LIMITED,
    Outcome.REMOVE: ContentState.REMOVED,
    Outcome.NONE: ContentState.PENDING,
}


class Account:
    """What is said beside what is found; ends the demo if anything disagreed."""

    def __init__(self) -> None:
        self._disagreements: list[str] = []

    def tell(self, what: str, how: str) -> None:
        """Print one line of the account."""
        sys.stdout.write(f"  {what:<11} {how}\n")
        sys.stdout.flush()

    def agree(self, what: str, one: object, other: object) -> None:
        """Compare two sources for one thing."""
        if one != other:
            self._disagreements.append(what)
            if len(self._disagreements) <= _MOST_SHOWN:
                sys.stdout.write(f"  DISAGREE    {what}: {one} against {other}\n")

    def close(self) -> None:
        """Raise Failure unless everything agreed."""
        if self._disagreements:
            raise Failure(f"{len(self._disagreements)} of the counts disagree; see above.")
        sys.stdout.write("everything agrees.\n")


async def headless_demo(ours: Stage) -> None:
    """Play the whole way. Raises Failure if the accounts disagree at the end."""
    account = Account()
    first, rest = split(posts(ours.suffix), cases(ours.suffix))
    ids = [one.content_id for one in (*first, *rest)]
    account.tell("server", f"{ours.server.address}, on a database of its own")
    async with ours.client(Role.PRODUCER) as producer, ours.client(Role.REVIEWER) as reviewer:
        await send_first(producer, first)
        await send_rest(producer, rest, _TRICKLE)
        await _banding(ours, account, producer, ids)
        said = [one for queue, n in _VERDICTS.items() for one in await review(reviewer, queue, n)]
        await _verdicts(ours, account, ids, said)
        longest = max(queue.undo_window_ms for queue in (await reviewer.me()).queues) / 1000
        await _wait_for_effects(ours, ids, longest)
        await _effects(ours, account, producer, ids, said)
    account.close()


async def _banding(
    ours: Stage, account: Account, producer: FencepostClient, ids: Sequence[str]
) -> None:
    async with ours.db.connection() as connection:
        rows = await count_bands(connection, ids)
    views = await _ask(producer, ids)
    account.tell("submitted", f"{sum(row.contents for row in rows)} contents")
    account.tell("banded", _bands(rows))
    account.tell("queued", f"{sum(row.queued for row in rows)} for people to look at")
    account.agree("contents submitted", sum(row.contents for row in rows), len(ids))
    heard = Counter(view.band.value if view.band else "CASE" for view in views)
    account.agree("bands by SQL and by GET", {row.band: row.contents for row in rows}, dict(heard))


async def _verdicts(
    ours: Stage, account: Account, ids: Sequence[str], said: Sequence[Acknowledged]
) -> None:
    async with ours.db.connection() as connection:
        rows = await count_verdicts(connection, ids)
    account.tell("claimed", f"{sum(row.leases for row in rows)} items, one lease each")
    account.tell("verdicts", _said(rows))
    found = {(row.verdict, row.outcome): row.recorded for row in rows}
    heard = Counter((one.verdict.value, one.outcome.value) for one in said)
    account.agree("verdicts by SQL and as acknowledged", found, dict(heard))
    account.agree("verdicts asked for", sum(found.values()), sum(_VERDICTS.values()))


async def _wait_for_effects(ours: Stage, ids: Sequence[str], window: float) -> None:
    """Wait until nothing waits; the undo window is the longest that it should take."""
    began = time.monotonic()
    live = sys.stdout.isatty()
    if not live:
        sys.stdout.write(f"  waiting     {window:.0f} s, until the verdicts take effect\n")
    while (spent := time.monotonic() - began) < window + _PATIENCE:
        async with ours.db.connection() as connection:
            waiting = sum(row.waiting for row in await count_verdicts(connection, ids))
        if live:
            line = f"  waiting     {waiting} verdicts have not taken effect yet, {spent:.0f} s"
            sys.stdout.write(f"\r{line}\x1b[K" if waiting else "\r\x1b[K")
        sys.stdout.flush()
        if not waiting:
            return
        await asyncio.sleep(0.5)
    if live:
        sys.stdout.write("\n")


async def _effects(
    ours: Stage,
    account: Account,
    producer: FencepostClient,
    ids: Sequence[str],
    said: Sequence[Acknowledged],
) -> None:
    async with ours.db.connection() as connection:
        rows = await count_verdicts(connection, ids)
        fates = {fate.content_id: fate for fate in await read_fates(connection, ids)}
        total = await count_rows(connection)
    views = {view.content_id: view for view in await _ask(producer, ids)}
    recorded, applied = sum(row.recorded for row in rows), sum(row.applied for row in rows)
    account.tell("applied", f"{applied} of {recorded} verdicts, each once")
    account.agree("verdicts applied", applied, recorded)
    account.agree("decisions lost, decisions applied twice", (total.lost, total.twice), (0, 0))
    good = sum(_same(fates[content_id], views[content_id]) for content_id in ids)
    account.tell("read back", f"{good} of {len(ids)} contents as the producer is told")
    account.agree("states by SQL and by GET", good, len(ids))
    for one in said:
        _follow(account, one, fates[one.content_id], views[one.content_id])


def _follow(account: Account, one: Acknowledged, fate: FateRow, view: DecisionView) -> None:
    """Compare what was acknowledged with what became of it."""
    name, escalated = one.content_id, one.outcome is Outcome.NONE
    # An escalation takes effect too, but what it leaves in force is the decision before it.
    account.agree(f"{name}: in force", view.decision_id == one.decision_id, not escalated)
    account.agree(f"{name}: state", view.state, _LEADS_TO[one.outcome])
    account.agree(f"{name}: rows", (fate.verdicts, fate.applied), (1, 1))
    account.agree(f"{name}: rounds", fate.rounds, 2 if escalated else 1)


def _same(fate: FateRow, view: DecisionView) -> bool:
    """Tell whether the producer is told what the rows say."""
    return (
        (fate.state, fate.seq, fate.events) == (view.state.value, view.seq, view.seq)
        and fate.verdict == (view.verdict.value if view.verdict else None)
        and view.recorded is None
    )


async def _ask(producer: FencepostClient, ids: Sequence[str]) -> list[DecisionView]:
    gate = asyncio.Semaphore(_AT_A_TIME)

    async def one(content_id: str) -> DecisionView:
        async with gate:
            return await producer.decision(content_id)

    return await asyncio.gather(*map(one, ids))


def _bands(rows: Sequence[BandRow]) -> str:
    return ", ".join(
        f"{row.contents} without scores" if row.band == "CASE" else f"{row.contents} {row.band}"
        for row in rows
    )


def _said(rows: Sequence[VerdictRow]) -> str:
    return ", ".join(f"{row.recorded} {row.verdict}" for row in rows)
