"""Contents that were submitted before: told as they stand, and another body noted once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from backend.db.content import (
    FoundContent,
    advance_chains,
    find_contents,
    find_resubmissions,
    lock_chains,
)
from backend.db.event import insert_events
from backend.domain.identity import Identity
from backend.domain.ledger import Event, Fact, chain
from backend.domain.submission import CheckedContent
from shared.vocabulary import Band, ContentState, EventType
from shared.wire.content import Receipt


class Known(msgspec.Struct, frozen=True):
    """A content that exists, as it stood when it was submitted again."""

    found: FoundContent

    @property
    def is_case(self) -> bool:
        """Whether it came as a case."""
        return self.found.is_case

    def same_body(self, checked: CheckedContent) -> bool:
        """Tell whether this is the body as submitted, or as it was last revised.

        Of an erased one nothing is known.
        """
        found, revised = self.found, self.found.revised_nonce
        if found.nonce is None or checked.fingerprint(found.nonce) == found.fingerprint:
            return True
        return revised is not None and checked.fingerprint(revised) == found.revised_fingerprint

    def receipt(self, checked: CheckedContent) -> Receipt:
        """Return what a producer is told who submits it again."""
        found = self.found
        return Receipt(
            content_id=found.content_id,
            state=ContentState(found.state),
            created=False,
            same_body=self.same_body(checked),
            band=None if found.band is None else Band(found.band),
            queue=found.queue,
            item_id=None if found.item_pk is None else str(found.item_pk),
        )


async def look_up(conn: Any, who: Identity, again: Sequence[CheckedContent]) -> dict[str, Known]:
    """Return what exists under the ids of `again`, each of which must exist.

    A body that differs from the stored one is noted in the content's trail by its fingerprint, once
    however often it is sent; nothing else changes.
    """
    ids = sorted({checked.content_id for checked in again})
    known = {
        found.content_id: Known(found) for found in await find_contents(conn, who.tenant_id, ids)
    }
    others = _other_bodies(again, known)
    if others:
        await _note(conn, who, others)
    return known


def _other_bodies(
    again: Sequence[CheckedContent], known: Mapping[str, Known]
) -> dict[tuple[int, str], str]:
    """Return (content, fingerprint in hexadecimal) -> content_id for the bodies that differ."""
    others = {}
    for checked in again:
        one = known[checked.content_id]
        nonce = one.found.nonce
        if nonce is not None and not one.same_body(checked):
            key = (one.found.content_pk, checked.fingerprint(nonce).hex())
            others[key] = checked.content_id
    return others


async def _note(conn: Any, who: Identity, others: Mapping[tuple[int, str], str]) -> None:
    names = {content_pk: content_id for (content_pk, _), content_id in others.items()}
    # Under the lock of the content, so that two who send the same body make one note of it.
    tips = await lock_chains(conn, sorted(names))
    noted = await find_resubmissions(
        conn,
        [content_pk for content_pk, _ in others],
        [fingerprint for _, fingerprint in others],
    )
    told = {(row.content_pk, row.fingerprint) for row in noted}
    unheard = defaultdict(list)
    for content_pk, fingerprint in others:
        if (content_pk, fingerprint) not in told:
            unheard[content_pk].append(fingerprint)
    added: list[tuple[int, Event]] = []
    for tip in tips:
        facts = [
            Fact(
                type=EventType.CONTENT_RESUBMITTED,
                at=tip.at,
                principal=str(who.principal_id),
                data={"fingerprint": fingerprint, "key": who.key_id},
            )
            for fingerprint in unheard[tip.content_pk]
        ]
        events = chain(names[tip.content_pk], tip.seq + 1, tip.chain_head, facts, tenant=who.tenant)
        added += [(tip.content_pk, event) for event in events]
    if added:
        await _append(conn, added)


async def _append(conn: Any, added: Sequence[tuple[int, Event]]) -> None:
    await insert_events(conn, added)
    last = dict(added)
    await advance_chains(
        conn, list(last), [event.seq for event in last.values()], [e.hash for e in last.values()]
    )
