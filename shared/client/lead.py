"""What a lead asks of the server: lists to page through, and deeds with an answer for each item."""

from __future__ import annotations

from shared.client.calls import Calls, asking, part
from shared.vocabulary import ItemList
from shared.wire.cockpit import Health
from shared.wire.item import (
    BulkAnswer,
    ItemPage,
    LeasePage,
    MoveRequest,
    Reopened,
    ReopenRequest,
    TakeBackRequest,
    TakenBack,
    WakeItemsRequest,
    WithdrawItemsRequest,
)


class LeadCalls(Calls):
    """Look at queues and items, and put right what went wrong there.

    A take-back names the lease that it means and a bulk deed leaves alone what is done already,
    so both may be repeated. A reopening is sent once: after a lost answer it would be refused, for
    its own round is open then.
    """

    async def health(self) -> Health:
        """Return the figures of all queues."""
        return await self._get("/v1/health", Health)

    async def items(
        self, queue: str, wanted: ItemList, after: str | None = None, limit: int | None = None
    ) -> ItemPage:
        """Return a page of one of a queue's lists; `after` is the last page's."""
        path = f"/v1/queues/{part(queue)}/items"
        return await self._get(asking(path, list=wanted.value, after=after, limit=limit), ItemPage)

    async def leases(
        self, item_id: str, after: str | None = None, limit: int | None = None
    ) -> LeasePage:
        """Return what happened to the leases of an item, oldest first."""
        path = f"/v1/items/{part(item_id)}/leases"
        return await self._get(asking(path, after=after, limit=limit), LeasePage)

    async def take_back(self, item_id: str, request: TakeBackRequest) -> TakenBack:
        """Take the lease from its holder."""
        return await self._post(f"/v1/items/{part(item_id)}/take-back", request, TakenBack)

    async def move(self, request: MoveRequest) -> BulkAnswer:
        """Move items to another queue."""
        return await self._post("/v1/items:move", request, BulkAnswer)

    async def wake_items(self, request: WakeItemsRequest) -> BulkAnswer:
        """Bring back what is parked before its time."""
        return await self._post("/v1/items:wake", request, BulkAnswer)

    async def withdraw_items(self, request: WithdrawItemsRequest) -> BulkAnswer:
        """Withdraw items: nobody needs to look at them any more."""
        return await self._post("/v1/items:withdraw", request, BulkAnswer)

    async def reopen(self, content_id: str, request: ReopenRequest) -> Reopened:
        """Let people look again at a content that was decided."""
        path = f"/v1/content/{part(content_id)}/reopen"
        return await self._post(path, request, Reopened, attempts=1)
