"""Attachments: producers send bytes, the holder of a lease or an auditor gets them back."""

from __future__ import annotations

import asyncio
from typing import Any

from litestar import Controller, Request, Response, get, put
from litestar.di import NamedDependency
from litestar.params import FromPath

from backend.api.access import needs
from backend.api.bodies import read_bytes
from backend.api.desk import Desk
from backend.domain.refusals import Busy, Malformed
from backend.services.blobs import Blob, put_blob, read_audited, read_leased
from backend.services.places import Places
from backend.services.steady import steadily
from shared.vocabulary import Role
from shared.wire.evidence import BLOB_LIMIT, BLOB_TYPES, LEASE_TOKEN_HEADER, BlobReceipt

_BYTES = {"bytes": BLOB_TYPES}
_HEADERS = {
    "content-disposition": "attachment",
    "x-content-type-options": "nosniff",
    "content-security-policy": "sandbox; default-src 'none'",
}
"""What keeps a browser from showing, or running, what a stranger has sent."""

LONGEST_UPLOAD = 60.0
"""Seconds within which the whole of an attachment must come."""

_UPLOADS = Places(4)
"""Each holds a whole attachment in memory."""
_RETRY_AFTER_MS = 1_000


class BlobController(Controller):
    """`/v1/blobs`, and where attachments are read."""

    tags = ("attachment",)

    @put(
        "/v1/blobs/{sha256:str}",
        opt=needs(Role.PRODUCER) | _BYTES,
        request_max_body_size=BLOB_LIMIT,
        summary="Send the bytes of an attachment",
    )
    async def put(
        self, request: Request[Any, Any, Any], sha256: FromPath[str], desk: NamedDependency[Desk]
    ) -> Response[BlobReceipt]:
        """Store the body under its SHA-256: 201 if it is new, 200 if it was there."""
        with _UPLOADS.one() as is_free:
            if not is_free:
                raise Busy("others are sending attachments", retry_after_ms=_RETRY_AFTER_MS)
            media_type, data = await _arrived(request)
            receipt = await steadily(lambda: put_blob(desk.db, desk.who, sha256, media_type, data))
        return Response(receipt, status_code=201 if receipt.created else 200)

    @get(
        "/v1/items/{item_id:str}/blobs/{sha256:str}",
        opt=needs(Role.REVIEWER, Role.LEAD) | _BYTES,
        summary="An attachment of the item that you hold",
    )
    async def leased(
        self,
        request: Request[Any, Any, Any],
        item_id: FromPath[str],
        sha256: FromPath[str],
        desk: NamedDependency[Desk],
    ) -> Response[bytes]:
        """Return the bytes to the holder of the live lease whose token is in the header."""
        token = request.headers.get(LEASE_TOKEN_HEADER, "")
        return _bytes(
            await steadily(
                lambda: read_leased(desk.db, desk.policy, desk.who, item_id, token, sha256)
            )
        )

    @get(
        "/v1/content/{content_id:str}/blobs/{sha256:str}",
        opt=needs(Role.LEAD, Role.AUDITOR) | _BYTES,
        summary="An attachment of a content; the look is recorded",
    )
    async def audited(
        self, content_id: FromPath[str], sha256: FromPath[str], desk: NamedDependency[Desk]
    ) -> Response[bytes]:
        """Return the bytes once the content's trail says who looked."""
        return _bytes(
            await steadily(lambda: read_audited(desk.db, desk.policy, desk.who, content_id, sha256))
        )


async def _arrived(request: Request[Any, Any, Any]) -> tuple[str, bytes]:
    """Return the media type and the bytes; who sends too slowly does not keep others out."""
    try:
        async with asyncio.timeout(LONGEST_UPLOAD):
            return await read_bytes(request, *BLOB_TYPES)
    except TimeoutError:
        raise Malformed(f"the body has to come within {LONGEST_UPLOAD:.0f} seconds") from None


def _bytes(blob: Blob) -> Response[bytes]:
    return Response(blob.data, media_type=blob.media_type, headers=_HEADERS)
