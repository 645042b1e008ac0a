"""The trail checked as an outsider would: with nothing but SHA-256 and the rows."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import asyncpg


async def assert_every_chain_is_whole(admin: asyncpg.Connection[Any]) -> None:
    """Follow the chain of every content from its first event to the end that the content names."""
    contents = await admin.fetch("SELECT id, content_id, seq, chain_head FROM content")
    for content in contents:
        last = bytes(32)
        events = await admin.fetch(
            "SELECT * FROM event WHERE content_id = $1 ORDER BY seq", content["id"]
        )
        for place, event in enumerate(events, 1):
            told = json.loads(event["canonical"])
            assert (told["content"], told["seq"], told["type"]) == (
                content["content_id"],
                place,
                event["type"],
            )
            assert event["prev_hash"] == last
            last = hashlib.sha256(b"\x00" + last + event["canonical"]).digest()
            assert event["hash"] == last
        assert (content["seq"], content["chain_head"]) == (len(events), last)
