"""The event chain: one append-only, hash-linked list of facts for each content.

An event's canonical bytes are RFC 8785 and hold ids, codes, hashes and offsets, never text. Its
hash is SHA-256(0x00 || previous hash || canonical bytes); the first event follows `GENESIS`. Anyone
with the rows can check the chain; nobody can change, drop or swap one without breaking it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from backend.domain.model import DEFAULT_TENANT, utc_text
from shared.canonical import canonical_bytes
from shared.vocabulary import EventType

EVENT_FORMAT = 1
"""Raised whenever the same facts would give other bytes; golden vectors change only with it."""

GENESIS = bytes(32)
_PREFIX = b"\x00"


class Fact(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened to a content, before it has a place in the chain.

    `actor` is a word of the vocabulary (`model`, `reviewer`, ...) or None where nobody decided;
    `principal` is the id of who did it, None for the engine. `data` is free of floats and of text.
    """

    type: EventType
    at: datetime
    actor: str | None = None
    principal: str | None = None
    data: Mapping[str, Any] = {}


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """A fact in its place: `prev_hash` and `hash` are 32 bytes, `canonical` is what was hashed."""

    seq: int
    type: EventType
    prev_hash: bytes
    canonical: bytes
    hash: bytes


class ChainEnd(msgspec.Struct, frozen=True, kw_only=True):
    """How far a chain holds: `seq` and `hash` of its last good event, and what is wrong then."""

    seq: int
    hash: bytes
    fault: str | None = None


def event_hash(prev: bytes, canonical: bytes) -> bytes:
    """Return the hash of an event that follows the event hashed `prev`."""
    return hashlib.sha256(_PREFIX + prev + canonical).digest()


def chain(
    content_id: str,
    start_seq: int,
    prev_hash: bytes,
    facts: Iterable[Fact],
    *,
    tenant: str = DEFAULT_TENANT,
) -> list[Event]:
    """Give `facts` their places: the first gets `start_seq` (the content's seq + 1).

    `prev_hash` is the hash of the event before, or `GENESIS`. Raises ValueError for a time without
    an offset and for data that has no canonical form.
    """
    events = []
    for seq, fact in enumerate(facts, start_seq):
        canonical = canonical_bytes(
            {
                "v": EVENT_FORMAT,
                "content": content_id,
                "tenant": tenant,
                "seq": seq,
                "type": fact.type.value,
                "at": utc_text(fact.at),
                "actor": None if fact.actor is None else str(fact.actor),
                "principal": fact.principal,
                "data": fact.data if type(fact.data) is dict else dict(fact.data),
            }
        )
        event = Event(
            seq=seq,
            type=fact.type,
            prev_hash=prev_hash,
            canonical=canonical,
            hash=event_hash(prev_hash, canonical),
        )
        events.append(event)
        prev_hash = event.hash
    return events


def follow(content_id: str, events: Sequence[Event], *, tenant: str = DEFAULT_TENANT) -> ChainEnd:
    """Check a whole chain, first event first, and return how far it holds."""
    seq, last = 0, GENESIS
    for event in events:
        fault = _fault(event, content_id, tenant, seq + 1, last)
        if fault is not None:
            return ChainEnd(seq=seq, hash=last, fault=fault)
        seq, last = event.seq, event.hash
    return ChainEnd(seq=seq, hash=last)


def _fault(event: Event, content_id: str, tenant: str, seq: int, prev: bytes) -> str | None:
    if event.seq != seq:
        return f"event {seq} is missing"
    if event.prev_hash != prev:
        return f"event {seq} does not follow the one before it"
    if event_hash(prev, event.canonical) != event.hash:
        return f"event {seq} is not what was hashed"
    body = _body(event.canonical)
    told = (body.get("content"), body.get("tenant"), body.get("seq"), body.get("type"))
    if told != (content_id, tenant, seq, event.type):
        return f"event {seq} speaks of something else"
    return None


def _body(canonical: bytes) -> dict[str, Any]:
    try:
        return msgspec.json.decode(canonical, type=dict[str, Any])
    except msgspec.MsgspecError:
        return {}
