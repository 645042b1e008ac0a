"""Attachments: true to their digest, shown by a revision, read by its holder or in the open."""

from __future__ import annotations

import asyncio
from typing import Any

import asyncpg
import msgspec
import pytest

from backend.domain.refusals import (
    EvidenceChanged,
    InvalidField,
    TooLarge,
)
from backend.services.blobs import put_blob
from backend.services.submit import submit
from shared.vocabulary import Role
from shared.wire.evidence import BLOB_LIMIT
from tests.services.deeds import stranger
from tests.services.showings import (
    PNG,
    VIOLENT,
    digest_of,
    held,
    opened,
    picture,
    revised,
    shop,
    submitted,
    submitted_case,
)
from tests.support.desk import Desk
from tests.support.gateway import row

OTHER = b"other bytes"


# Storing


async def test_bytes_are_stored_once_under_their_digest(desk: Desk) -> None:
    who = await shop(desk)
    digest = digest_of(PNG)
    first = await put_blob(desk.db, who, digest, "image/png", PNG)
    assert (first.created, first.size, first.media_type) == (True, len(PNG), "image/png")
    again = await put_blob(desk.db, who, digest, "image/gif", PNG)
    assert (again.created, again.media_type) == (False, "image/png")
    assert await desk.value("SELECT bytes FROM blob") == PNG


async def test_the_same_bytes_many_times_at_once_are_stored_once(desk: Desk) -> None:
    who = await shop(desk)
    sent = [put_blob(desk.db, who, digest_of(PNG), "image/png", PNG) for _ in range(8)]
    receipts = await asyncio.gather(*sent)
    assert sum(receipt.created for receipt in receipts) == 1


async def test_bytes_that_are_not_those_of_the_digest_are_refused_by_us_and_by_the_table(
    desk: Desk,
) -> None:
    who = await shop(desk)
    for digest, data in (
        (digest_of(OTHER), PNG),
        (digest_of(PNG).upper(), PNG),
        ("x" * 64, PNG),
        ("", PNG),
        (digest_of(b""), b""),
    ):
        with pytest.raises(InvalidField) as refused:
            await put_blob(desk.db, who, digest, "image/png", data)
        assert refused.value.field == "sha256"
    with pytest.raises(asyncpg.CheckViolationError):
        await desk.admin.execute(
            "INSERT INTO blob (tenant_id, sha256, media_type, size, bytes, created_by)"
            " VALUES (1, sha256('a'), 'text/plain', 1, 'b', $1)",
            who.principal_id,
        )
    assert await desk.value("SELECT count(*) FROM blob") == 0


async def test_an_attachment_has_a_largest_size(desk: Desk) -> None:
    who = await shop(desk)
    largest = bytes(BLOB_LIMIT)
    assert (await put_blob(desk.db, who, digest_of(largest), "image/png", largest)).created
    more = bytes(BLOB_LIMIT + 1)
    with pytest.raises(TooLarge):
        await put_blob(desk.db, who, digest_of(more), "image/png", more)


async def test_what_was_erased_does_not_come_back(desk: Desk) -> None:
    who = await shop(desk)
    digest = await picture(desk, who)
    await desk.admin.execute("UPDATE blob SET bytes = NULL, erased_at = clock()")
    with pytest.raises(InvalidField):
        await put_blob(desk.db, who, digest, "image/png", PNG)
    with pytest.raises(InvalidField):
        await submitted(desk, attachments=[digest])


# Attaching


async def test_attachments_are_shown_in_their_order_and_covered_by_the_hash(desk: Desk) -> None:
    who, ana = await shop(desk), await desk.person("ana")
    first, second = await picture(desk, who), await picture(desk, who, OTHER)
    await submitted(desk, attachments=[second, first])
    lease = await desk.lease(ana)
    assert opened(lease).attachments == (second, first)
    places = await desk.admin.fetch("SELECT place, sha256 FROM attachment ORDER BY place")
    assert [(row["place"], row["sha256"].hex()) for row in places] == [(1, second), (2, first)]
    await revised(desk, who, text="one", attachments=[first, second])
    with pytest.raises(EvidenceChanged):
        await desk.decide(ana, lease)
    assert opened(await held(desk, ana)).attachments == (first, second)


async def test_a_case_has_attachments_too(desk: Desk) -> None:
    who, ana = await shop(desk), await desk.person("ana")
    digest = await picture(desk, who)
    await submitted_case(desk, attachments=[digest])
    assert opened(await desk.lease(ana, "cases")).attachments == (digest,)


async def test_what_is_missing_is_named_and_nothing_is_stored(desk: Desk) -> None:
    who = await shop(desk)
    digest = await picture(desk, who)
    lacking = digest_of(b"never sent")
    for attach in (submitted, submitted_case):
        with pytest.raises(InvalidField) as refused:
            await attach(desk, attachments=[digest, lacking])
        assert refused.value.field == "attachments[1]"
    with pytest.raises(InvalidField) as twice:
        await submitted(desk, attachments=[digest, digest])
    assert twice.value.field == "attachments[1]"
    assert await desk.value("SELECT count(*) FROM content") == 0
    assert await desk.value("SELECT count(*) FROM attachment") == 0


async def test_the_attachments_of_others_are_missing(desk: Desk) -> None:
    other = await stranger(desk, Role.PRODUCER)
    digest = await picture(desk, other)
    with pytest.raises(InvalidField):
        await submitted(desk, attachments=[digest])


async def test_the_same_attachments_again_are_the_same_body_and_others_are_not(desk: Desk) -> None:
    who = await shop(desk)
    first, second = await picture(desk, who), await picture(desk, who, OTHER)
    await submitted(desk, attachments=[first])
    for attachments, same in (([first], True), ([second], False), ([], False)):
        again = row("c-1", VIOLENT, text="one", attachments=attachments)
        (receipt,) = await submit(desk.db, desk.policy, who, [again])
        assert receipt.same_body is same


def test_a_body_without_attachments_has_the_bytes_it_always_had() -> None:
    assert b"attachments" not in row("c-1").body
    told: dict[str, Any] = msgspec.json.decode(row("c-1", attachments=["0" * 64]).body)
    assert told["attachments"] == ["0" * 64]
