"""Queues: cases go in, and reviewers look and claim."""

from __future__ import annotations

from typing import Any

from litestar import Controller, Request, Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from backend.api.access import needs
from backend.api.bodies import SINGLE, Body
from backend.api.content import receipt_response
from backend.api.desk import Desk
from backend.api.items_list import After, Limit, Wanted, list_items
from backend.domain.submission import check_case
from backend.services.claim import claim, queue_view
from backend.services.steady import steadily
from backend.services.submit import submit_case
from shared.vocabulary import Role
from shared.wire.content import Case, Receipt
from shared.wire.item import ItemPage
from shared.wire.queue import ClaimAnswer, ClaimRequest, QueueView

_CASE = Body(Case)
_CLAIM = Body(ClaimRequest)


class QueueController(Controller):
    """`/v1/queues`."""

    tags = ("queue",)

    @post(
        "/v1/queues/{queue:str}/items",
        opt=needs(Role.PRODUCER, queue_from="queue") | {"body": Case},
        request_max_body_size=SINGLE,
        summary="Submit a case for people",
    )
    async def submit_case(
        self, request: Request[Any, Any, Any], queue: FromPath[str], desk: NamedDependency[Desk]
    ) -> Response[Receipt]:
        """Put a case without scores before people: 201 if it is new, 200 if its id is known."""
        checked = check_case(await _CASE.read(request), queue)
        receipt = await steadily(
            lambda: submit_case(desk.db, desk.policy, desk.who, queue, checked, tell=desk.tell)
        )
        return receipt_response(receipt)

    @get(
        "/v1/queues/{queue:str}/items",
        opt=needs(Role.LEAD, queue_from="queue"),
        summary="A list of a queue's items",
    )
    async def items(
        self,
        request: Request[Any, Any, Any],
        queue: FromPath[str],
        desk: NamedDependency[Desk],
        wanted: Wanted = None,
        after: After = None,
        limit: Limit = None,
    ) -> ItemPage:
        """Return a page of what waits, is held, parked, stuck, or claimable by nobody present."""
        return await list_items(request, desk, queue, wanted, after, limit)

    @post(
        "/v1/queues/{queue:str}/claim",
        opt=needs(Role.REVIEWER, Role.LEAD, queue_from="queue") | {"body": ClaimRequest},
        status_code=200,
        summary="Claim the next item",
    )
    async def claim(
        self, request: Request[Any, Any, Any], queue: FromPath[str], desk: NamedDependency[Desk]
    ) -> ClaimAnswer:
        """Lease the next item; the same claim key returns the same lease."""
        asked = await _CLAIM.read(request)
        return await steadily(
            lambda: claim(
                desk.db,
                desk.policy,
                desk.who,
                queue,
                asked.claim_key,
                terminal=asked.terminal,
                tell=desk.tell,
            )
        )

    @get(
        "/v1/queues/{queue:str}",
        opt=needs(Role.REVIEWER, Role.LEAD, queue_from="queue"),
        summary="One queue, its figures and reasons",
    )
    async def view(self, queue: FromPath[str], desk: NamedDependency[Desk]) -> QueueView:
        """Return a queue that the asker may work in."""
        return await steadily(lambda: queue_view(desk.db, desk.policy, desk.who, queue))
