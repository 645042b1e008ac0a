"""Statements of `sql/queries/blob.sql`: attachments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import msgspec

from backend.db.statements import many, maybe, run, statements

_SQL = statements("blob")


class BlobRow(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of bytes that are here."""

    media_type: str
    size: int


class DigestRow(msgspec.Struct, frozen=True, kw_only=True):
    """The digest of bytes that are here, hexadecimal."""

    sha256: str


class BytesRow(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes and what they are."""

    media_type: str
    data: bytes


class LeasedBytesRow(msgspec.Struct, frozen=True, kw_only=True):
    """What the holder of an item gets; no bytes: the item does not show them."""

    queue: str
    media_type: str | None
    data: bytes | None


class AttachedRow(msgspec.Struct, frozen=True, kw_only=True):
    """A content that shows some bytes; `queue` is that of its newest round, if it had one."""

    content_pk: int
    kind: str
    queue: str | None


class Attached(msgspec.Struct, frozen=True, kw_only=True):
    """One attachment of one revision; places count from 1."""

    content_pk: int
    revision: int
    place: int
    sha256: bytes


def attached(content_pk: int, revision: int, digests: Sequence[str]) -> list[Attached]:
    """Return the attachments of a revision, in their order."""
    return [
        Attached(
            content_pk=content_pk, revision=revision, place=place, sha256=bytes.fromhex(digest)
        )
        for place, digest in enumerate(digests, 1)
    ]


async def insert_blob(
    conn: Any, *, tenant_id: int, sha256: bytes, media_type: str, data: bytes, principal_id: int
) -> BlobRow | None:
    """Store bytes under their digest; None if there is a row of that digest."""
    return await maybe(
        _SQL["insert_blob"],
        BlobRow,
        conn,
        tenant_id=tenant_id,
        sha256=sha256,
        media_type=media_type,
        size=len(data),
        bytes=data,
        principal_id=principal_id,
    )


async def find_blob(conn: Any, *, tenant_id: int, sha256: bytes) -> BlobRow | None:
    """Read what is known of bytes; None if they are not here, or not any more."""
    return await maybe(_SQL["find_blob"], BlobRow, conn, tenant_id=tenant_id, sha256=sha256)


async def blobs_here(conn: Any, *, tenant_id: int, digests: Sequence[bytes]) -> set[str]:
    """Return those of `digests` whose bytes are here, hexadecimal."""
    rows = await many(
        _SQL["blobs_here"], DigestRow, conn, tenant_id=tenant_id, digests=list(digests)
    )
    return {row.sha256 for row in rows}


async def attach(conn: Any, *, tenant_id: int, rows: Sequence[Attached]) -> None:
    """Say which revisions show which bytes."""
    await run(
        _SQL["attach"],
        conn,
        tenant_id=tenant_id,
        contents=[row.content_pk for row in rows],
        revisions=[row.revision for row in rows],
        places=[row.place for row in rows],
        digests=[row.sha256 for row in rows],
    )


async def read_leased_blob(
    conn: Any, *, tenant_id: int, item_id: int, fence_token: UUID, principal_id: int, sha256: bytes
) -> LeasedBytesRow | None:
    """Read bytes for the live holder of an item; None if he is not."""
    return await maybe(
        _SQL["read_leased_blob"],
        LeasedBytesRow,
        conn,
        tenant_id=tenant_id,
        item_id=item_id,
        fence_token=fence_token,
        principal_id=principal_id,
        sha256=sha256,
    )


async def find_attached(
    conn: Any, *, tenant_id: int, content_id: str, sha256: bytes
) -> AttachedRow | None:
    """Find a content that shows these bytes or ever did."""
    return await maybe(
        _SQL["find_attached"],
        AttachedRow,
        conn,
        tenant_id=tenant_id,
        content_id=content_id,
        sha256=sha256,
    )


async def read_blob(conn: Any, *, tenant_id: int, sha256: bytes) -> BytesRow | None:
    """Read bytes; None if they are not here, or not any more."""
    return await maybe(_SQL["read_blob"], BytesRow, conn, tenant_id=tenant_id, sha256=sha256)
