"""What the database has to add to a history when all is over."""

from __future__ import annotations

import asyncpg

from tests.model.crowd import NOW, Crowd
from tests.model.register import Op


async def final(crowd: Crowd) -> list[Op]:
    """Return the history with what the database has to add when all is over.

    That is the fate of each item, and the leases that were granted to claims without an answer.
    """
    told = {op.token for op in crowd.history if op.kind in ("claim", "take_over")}
    log = await crowd.desk.admin.fetch(
        "SELECT *, extract(epoch FROM at)::float8 AS began,"
        " extract(epoch FROM expires_at - at)::float8 AS lasts"
        " FROM lease_log WHERE token IS NOT NULL"
    )
    unheard = [
        Op(
            kind="claim" if row["happening"] == "grant" else "take_over",
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
        "SELECT i.id AS item, i.resolution, d.* FROM item i"
        " LEFT JOIN decision d ON d.item_id = i.id"
    )
    over: float = await crowd.desk.value(NOW)
    revised = await _unheard_revisions(crowd)
    withdrawn = await _unheard_withdrawals(crowd)
    ends = [_end(row, over) for row in items]
    return [*crowd.history, *unheard, *revised, *withdrawn, *ends]


async def _unheard_withdrawals(crowd: Crowd) -> list[Op]:
    """Return the withdrawals whose answers nobody got, or that met another round than was meant."""
    told = {op.item for op in crowd.history if (op.kind, op.outcome) == ("withdraw", "ok")}
    rows = await crowd.desk.admin.fetch(
        "SELECT id, extract(epoch FROM resolved_at)::float8 AS began FROM item"
        " WHERE resolution = 'withdrawn'"
    )
    return [
        Op(
            kind="withdraw",
            person=0,
            item=row["id"],
            token="",
            invoked=row["began"],
            outcome="unknown",
        )
        for row in rows
        if row["id"] not in told
    ]


async def _unheard_revisions(crowd: Crowd) -> list[Op]:
    """Return the revisions of open items whose answers nobody got."""
    told = {(op.item, op.revision) for op in crowd.history if op.kind == "revise"}
    rows = await crowd.desk.admin.fetch(
        "SELECT i.id, e.revision, extract(epoch FROM e.created_at)::float8 AS began"
        " FROM evidence e JOIN item i ON i.content_id = e.content_id"
        " WHERE e.revision > 1 AND i.enqueued_at < e.created_at"
        " AND (i.resolved_at IS NULL OR i.resolved_at > e.created_at)"
    )
    return [
        Op(
            kind="revise",
            person=0,
            item=row["id"],
            token="",
            invoked=row["began"],
            revision=row["revision"],
            outcome="unknown",
        )
        for row in rows
        if (row["id"], row["revision"]) not in told
    ]


def _end(row: asyncpg.Record, over: float) -> Op:
    return Op(
        kind="end",
        person=row["principal_id"] or 0,
        item=row["item"],
        token="",
        invoked=over,
        returned=over,
        verdict_token=str(row["verdict_token"] or ""),
        body="withdrawn" if row["resolution"] == "withdrawn" else row["verdict"] or "",
        decision=row["id"],
    )
