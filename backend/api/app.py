"""The application: every route, its guard, its errors; built by a factory, opened by nobody."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib.metadata import PackageNotFoundError, version

from litestar import Litestar
from litestar.datastructures import State
from litestar.di import Provide
from litestar.types import ControllerRouterHandler

from backend.api.access import guard, refuse_undeclared
from backend.api.blobs import BlobController
from backend.api.bodies import SMALL
from backend.api.bulk import BulkController
from backend.api.claims import ClaimController
from backend.api.content import ContentController
from backend.api.desk import open_desk
from backend.api.errors import EXCEPTION_HANDLERS
from backend.api.health import HealthController
from backend.api.items import ItemController
from backend.api.items_list import ItemListController
from backend.api.logs import RequestLog
from backend.api.me import MeController
from backend.api.openapi import openapi_config
from backend.api.questions import QuestionController
from backend.api.queues import QueueController
from backend.api.rounds import RoundController
from backend.api.stream import StreamController
from backend.db.connection import Database
from backend.services.available import Lookout
from backend.services.hub import Hub
from backend.services.keys import Keyring
from backend.services.news import Tell, nobody
from backend.services.policies import ActivePolicy
from backend.settings import Settings
from shared.vocabulary import KeyEnv

CONTROLLERS: Sequence[ControllerRouterHandler] = (
    ContentController,
    QuestionController,
    BlobController,
    QueueController,
    ClaimController,
    ItemController,
    BulkController,
    RoundController,
    ItemListController,
    MeController,
    HealthController,
    StreamController,
)


def create_app(
    db: Database,
    settings: Settings,
    closing: asyncio.Event | None = None,
    *,
    routes: Sequence[ControllerRouterHandler] = CONTROLLERS,
    tell: Tell = nobody,
    hub: Hub | None = None,
) -> Litestar:
    """Return the application over an open database, which stays its owner's to close.

    `closing` is set when the server begins to stop: that ends the streams of `hub`, which hears
    the news, and that handlers `tell`. Raises UndeclaredRouteError if any of `routes` does not say
    who may call it.
    """
    keyring = Keyring(db, KeyEnv(settings.env))
    closing = closing or asyncio.Event()
    hub = hub or Hub()

    app = Litestar(
        route_handlers=list(routes),
        guards=[guard],
        dependencies={"desk": Provide(open_desk)},
        exception_handlers=EXCEPTION_HANDLERS,
        lifespan=[_lifespan(keyring, hub, closing)],
        openapi_config=openapi_config(_version()),
        request_max_body_size=SMALL,
        logging_config=None,
        debug=False,
        state=State(
            {
                "db": db,
                "keyring": keyring,
                "policies": ActivePolicy(db),
                "closing": closing,
                "tell": tell,
                "hub": hub,
                "lookout": Lookout(db, hub, closing),
            }
        ),
    )
    refuse_undeclared(app.routes)
    # Around the router, so that a path that is no route is logged and answered like any other.
    app.asgi_handler = RequestLog(app.asgi_handler)
    return app


def _lifespan(
    keyring: Keyring, hub: Hub, closing: asyncio.Event
) -> Callable[[Litestar], AbstractAsyncContextManager[None]]:
    """End the streams when the server begins to stop, and let notes be written to the end."""

    @asynccontextmanager
    async def lifespan(_: Litestar) -> AsyncIterator[None]:
        ending = asyncio.create_task(_close_at(closing, hub))
        try:
            yield
        finally:
            hub.close()
            ending.cancel()
            await asyncio.gather(ending, return_exceptions=True)
            await keyring.close()

    return lifespan


async def _close_at(closing: asyncio.Event, hub: Hub) -> None:
    await closing.wait()
    hub.close()


def _version() -> str:
    try:
        return version("fencepost")
    except PackageNotFoundError:
        return "0"
