"""What the database has to add to a history when all is over."""

from __future__ import annotations

import asyncpg

from tests.model.crowd import NOW, Crowd
from tests.model.history import Op


async def final(crowd: Crowd) -> list[Op]:
    """Return the history with what the database has to add when all is over.

    That is the fate of each item, and the leases that were granted to claims without an answer.
    """
    told = {op.token for op in crowd.history if op.kind == "claim"}
    log = await crowd.desk.admin.fetch(
        "SELECT *, extract(epoch FROM at)::float8 AS began,"
        " extract(epoch FROM expires_at - at)::float8 AS lasts"
        " FROM lease_log WHERE happening = 'grant'"
    )
    unheard = [
        Op(
            kind="claim",
            person=row["principal_id"],
            item=row["item_id"],
            token=str(row["token"]),
            invoked=row["began"],
            lasts=row["lasts"],
        )
        for row in log
        if str(row["token"]) not in told
    ]
    items = await crowd.desk.admin.fetch(
        "SELECT i.id AS item, d.* FROM item i LEFT JOIN decision d ON d.item_id = i.id"
    )
    over: float = await crowd.desk.value(NOW)
    return [*crowd.history, *unheard, *(_end(row, over) for row in items)]


def _end(row: asyncpg.Record, over: float) -> Op:
    return Op(
        kind="end",
        person=row["principal_id"] or 0,
        item=row["item"],
        token="",
        invoked=over,
        returned=over,
        verdict_token=str(row["verdict_token"] or ""),
        body=row["verdict"] or "",
        decision=row["id"],
    )
