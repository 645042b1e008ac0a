"""What producers call: submit content, one or many, and ask what became of it."""

from __future__ import annotations

from typing import Any

from litestar import Controller, Request, Response, get, post, put
from litestar.di import NamedDependency
from litestar.params import FromPath

from backend.api.access import needs
from backend.api.batch import submit_rows
from backend.api.bodies import BATCH, SINGLE, Body
from backend.api.desk import Desk
from backend.domain.submission import check_submission
from backend.services.admission import refuse_queue
from backend.services.read import decision
from backend.services.revise import revise
from backend.services.steady import steadily
from backend.services.submit import submit
from shared.vocabulary import Role
from shared.wire.content import BatchReceipt, DecisionView, Receipt, Submission
from shared.wire.evidence import EvidenceRevision, Revised

_SUBMISSION = Body(Submission)
_REVISION = Body(EvidenceRevision)


class ContentController(Controller):
    """`/v1/content`."""

    tags = ("content",)

    @post(
        "/v1/content",
        opt=needs(Role.PRODUCER) | {"body": Submission},
        request_max_body_size=SINGLE,
        summary="Submit one content",
    )
    async def submit_one(
        self, request: Request[Any, Any, Any], desk: NamedDependency[Desk]
    ) -> Response[Receipt]:
        """Submit one content: 201 if it is new, 200 with what exists if its id is known."""
        checked = check_submission(await _SUBMISSION.read(request))
        refuse_queue(desk.policy, desk.who, checked)
        (receipt,) = await steadily(
            lambda: submit(desk.db, desk.policy, desk.who, [checked], tell=desk.tell)
        )
        return receipt_response(receipt)

    @post(
        "/v1/content:batch",
        opt=needs(Role.PRODUCER) | {"body": list[Submission]},
        request_max_body_size=BATCH,
        status_code=200,
        summary="Submit up to 1,000 contents",
    )
    async def submit_batch(
        self, request: Request[Any, Any, Any], desk: NamedDependency[Desk]
    ) -> BatchReceipt:
        """Submit a JSON array or NDJSON; a bad row fails alone and names its index."""
        return await submit_rows(request, desk, _SUBMISSION)

    @get(
        "/v1/content/{content_id:str}/decision",
        opt=needs(Role.PRODUCER, Role.LEAD, Role.AUDITOR),
        summary="What became of a content",
    )
    async def decision(
        self, content_id: FromPath[str], desk: NamedDependency[Desk]
    ) -> DecisionView:
        """Return the state in force, why, and a verdict that waits to take effect."""
        return await steadily(lambda: decision(desk.db, desk.who, content_id))

    @put(
        "/v1/content/{content_id:str}/evidence",
        opt=needs(Role.PRODUCER) | {"body": EvidenceRevision},
        request_max_body_size=SINGLE,
        summary="Replace what is shown of a content",
    )
    async def revise(
        self,
        request: Request[Any, Any, Any],
        content_id: FromPath[str],
        desk: NamedDependency[Desk],
    ) -> Revised:
        """Show this from now on; the same body again changes nothing."""
        sent = await _REVISION.read(request)
        return await steadily(
            lambda: revise(desk.db, desk.policy, desk.who, content_id, sent, tell=desk.tell)
        )


def receipt_response(receipt: Receipt) -> Response[Receipt]:
    """Return a receipt: 201 for what is new, 200 for what was known."""
    return Response(receipt, status_code=201 if receipt.created else 200)
