"""What a producer asks of the server."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from shared.client.calls import Calls, asking, decoded, part
from shared.wire.content import BatchReceipt, Case, DecisionView, Receipt, Submission
from shared.wire.evidence import BlobReceipt, EvidenceRevision, Revised
from shared.wire.item import Questions, Withdrawn


class ProducerCalls(Calls):
    """Submit, revise, withdraw, and hear what was decided; repeating any of it changes nothing."""

    async def submit(self, submission: Submission) -> Receipt:
        """Submit one content."""
        return await self._post("/v1/content", submission, Receipt)

    async def submit_batch(self, rows: Iterable[Submission | bytes]) -> BatchReceipt:
        """Submit up to 1,000 contents, as structs or as JSON objects already encoded."""
        parts = (row if isinstance(row, bytes) else msgspec.json.encode(row) for row in rows)
        body = b"[" + b",".join(parts) + b"]"
        return await self._call("POST", "/v1/content:batch", body, BatchReceipt)

    async def submit_case(self, queue: str, case: Case) -> Receipt:
        """Submit a case for people into `queue`."""
        return await self._post(f"/v1/queues/{part(queue)}/items", case, Receipt)

    async def decision(self, content_id: str) -> DecisionView:
        """Return the state in force of a content, and why."""
        return await self._get(f"/v1/content/{part(content_id)}/decision", DecisionView)

    async def revise(self, content_id: str, revision: EvidenceRevision) -> Revised:
        """Replace what is shown of a content; the same body again changes nothing."""
        path = f"/v1/content/{part(content_id)}/evidence"
        return await self._call("PUT", path, msgspec.json.encode(revision), Revised)

    async def put_blob(self, sha256: str, media_type: str, data: bytes) -> BlobReceipt:
        """Store an attachment under the digest of its bytes."""
        headers = {"content-type": media_type}
        answer, _ = await self._persist("PUT", f"/v1/blobs/{part(sha256)}", data, headers=headers)
        return decoded(answer, BlobReceipt)

    async def withdraw(self, content_id: str) -> Withdrawn:
        """Take a content back: nobody needs to look at it any more."""
        return await self._post(f"/v1/content/{part(content_id)}/withdraw", {}, Withdrawn)

    async def questions(self, content_id: str, after: str | None = None) -> Questions:
        """Return what reviewers asked when they parked the content, newest first, page by page."""
        path = f"/v1/content/{part(content_id)}/questions"
        return await self._get(asking(path, after=after), Questions)
