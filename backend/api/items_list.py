"""Lists that leads page through: the items of a queue, and the history of an item's leases."""

from __future__ import annotations

from typing import Annotated, Any

from litestar import Controller, Request, get
from litestar.di import NamedDependency
from litestar.params import FromPath, QueryParameter

from backend.api.access import needs
from backend.api.desk import Desk
from backend.api.queries import said_once, whole_number
from backend.domain.refusals import InvalidField
from backend.services.items import item_page, lease_page
from backend.services.steady import steadily
from shared.vocabulary import ItemList, Role
from shared.wire.item import PAGE_LIMIT, ItemPage, LeasePage

_USUAL = 50
"""How many lines a page has if nobody says."""

# Read as text, so that what does not fit is refused in the house's words.
After = Annotated[
    str | None, QueryParameter(name="after", description="`after` of the page before")
]
Limit = Annotated[
    str | None, QueryParameter(name="limit", description=f"1 to {PAGE_LIMIT}; {_USUAL} if not said")
]
Wanted = Annotated[
    str | None,
    QueryParameter(name="list", description=f"{', '.join(ItemList)}; waiting if not said"),
]


class ItemListController(Controller):
    """`/v1/items/{item_id}/leases`; the list of a queue's items stands with its queue."""

    tags = ("item",)

    @get(
        "/v1/items/{item_id:str}/leases",
        opt=needs(Role.LEAD),
        summary="What happened to the leases of an item",
    )
    async def leases(
        self,
        request: Request[Any, Any, Any],
        item_id: FromPath[str],
        desk: NamedDependency[Desk],
        after: After = None,
        limit: Limit = None,
    ) -> LeasePage:
        """Return who held an item, how each lease ended and by whom, oldest first."""
        said_once(request, "after", "limit")
        size = _size(limit)
        return await steadily(lambda: lease_page(desk.db, desk.who, item_id, after, size))


async def list_items(
    request: Request[Any, Any, Any],
    desk: Desk,
    queue: str,
    wanted: str | None,
    after: str | None,
    limit: str | None,
) -> ItemPage:
    """Return a page of one of a queue's lists. Raises InvalidField for what is asked wrongly."""
    said_once(request, "list", "after", "limit")
    which, size = _which(wanted), _size(limit)
    return await steadily(
        lambda: item_page(desk.db, desk.policy, desk.who, queue, which, after, size)
    )


def _which(wanted: str | None) -> ItemList:
    try:
        return ItemList.WAITING if wanted is None else ItemList(wanted)
    except ValueError:
        raise InvalidField(f"one of {', '.join(ItemList)}", field="list") from None


def _size(limit: str | None) -> int:
    return whole_number(limit, "limit", usual=_USUAL, least=1, most=PAGE_LIMIT)
