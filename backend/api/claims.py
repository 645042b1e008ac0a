"""Claims across queues, and waiting until there is something to claim."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from litestar import Controller, Request, get, post
from litestar.di import NamedDependency
from litestar.params import FromQuery, QueryParameter

from backend.api.access import needs
from backend.api.bodies import Body
from backend.api.desk import Desk
from backend.api.queries import said_once, whole_number
from backend.domain.refusals import InvalidField
from backend.services.available import Lookout, available
from backend.services.claim_any import claim_any
from backend.services.steady import steadily
from shared.vocabulary import Role
from shared.wire.queue import Available, ClaimAnyAnswer, ClaimAnyRequest

LONGEST_WAIT_MS = 30_000
_MOST_QUEUES = 50
# Read as text, so that what does not fit is refused in the house's words.
Wait = Annotated[
    str | None,
    QueryParameter(name="wait_ms", description=f"0 to {LONGEST_WAIT_MS}; not at all if not said"),
]
_CLAIM = Body(ClaimAnyRequest)
_CLAIMERS = (Role.REVIEWER, Role.LEAD)


class ClaimController(Controller):
    """`/v1/claim` and `/v1/available`."""

    tags = ("queue",)

    @post(
        "/v1/claim",
        opt=needs(*_CLAIMERS) | {"body": ClaimAnyRequest},
        status_code=200,
        summary="Claim the next item of several queues",
    )
    async def claim_any(
        self, request: Request[Any, Any, Any], desk: NamedDependency[Desk]
    ) -> ClaimAnyAnswer:
        """Lease from the queue furthest behind its promise; the same claim key, the same lease."""
        asked = await _CLAIM.read(request)
        return await steadily(
            lambda: claim_any(desk.db, desk.policy, desk.who, asked, tell=desk.tell)
        )

    @get(
        "/v1/available",
        opt=needs(*_CLAIMERS),
        summary="Wait until there is something to claim",
    )
    async def available(
        self,
        request: Request[Any, Any, Any],
        desk: NamedDependency[Desk],
        queue: FromQuery[list[str] | None] = None,
        wait_ms: Wait = None,
    ) -> Available:
        """Answer once a claim would find something in one of these queues, or after `wait_ms`.

        Without a queue: in any that the asker may work in. Nothing is leased.
        """
        said_once(request, "wait_ms")
        wait = whole_number(wait_ms, "wait_ms", usual=0, least=0, most=LONGEST_WAIT_MS)
        if queue is not None and len(queue) > _MOST_QUEUES:
            raise InvalidField(f"at most {_MOST_QUEUES} queues", field="queue")
        lookout: Lookout = request.app.state.lookout
        waiting = asyncio.create_task(
            steadily(lambda: available(lookout, desk.policy, desk.who, queue, wait / 1_000))
        )
        return await _unless_gone(request, waiting)


async def _unless_gone(
    request: Request[Any, Any, Any], waiting: asyncio.Task[Available]
) -> Available:
    """Return what is waited for; give up, with an answer to nobody, once the asker has gone."""
    gone = asyncio.create_task(_gone(request))
    try:
        await asyncio.wait({waiting, gone}, return_when=asyncio.FIRST_COMPLETED)
        if waiting.done():
            return await waiting
        return Available(queues=(), figures=())
    finally:
        for task in (waiting, gone):
            task.cancel()
        await asyncio.gather(waiting, gone, return_exceptions=True)


async def _gone(request: Request[Any, Any, Any]) -> None:
    """Return once the asker has hung up."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
