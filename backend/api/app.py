"""The application: every route, its guard, its errors; built by a factory, opened by nobody."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import PackageNotFoundError, version

from litestar import Litestar
from litestar.datastructures import State
from litestar.di import Provide
from litestar.types import ControllerRouterHandler

from backend.api.access import guard, refuse_undeclared
from backend.api.bodies import SMALL
from backend.api.content import ContentController
from backend.api.desk import open_desk
from backend.api.errors import EXCEPTION_HANDLERS
from backend.api.health import HealthController
from backend.api.items import ItemController
from backend.api.logs import RequestLog
from backend.api.me import MeController
from backend.api.openapi import openapi_config
from backend.api.queues import QueueController
from backend.db.connection import Database
from backend.services.keys import Keyring
from backend.services.news import Tell, nobody
from backend.services.policies import ActivePolicy
from backend.settings import Settings
from shared.vocabulary import KeyEnv

CONTROLLERS: Sequence[ControllerRouterHandler] = (
    ContentController,
    QueueController,
    ItemController,
    MeController,
    HealthController,
)


def create_app(
    db: Database,
    settings: Settings,
    closing: asyncio.Event | None = None,
    *,
    routes: Sequence[ControllerRouterHandler] = CONTROLLERS,
    tell: Tell = nobody,
) -> Litestar:
    """Return the application over an open database, which stays its owner's to close.

    `closing` is set when the server begins to stop; streams wait on it. Raises UndeclaredRouteError
    if any of `routes` does not say who may call it.
    """
    keyring = Keyring(db, KeyEnv(settings.env))

    @asynccontextmanager
    async def finish_notes(_: Litestar) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await keyring.close()

    app = Litestar(
        route_handlers=list(routes),
        guards=[guard],
        dependencies={"desk": Provide(open_desk)},
        exception_handlers=EXCEPTION_HANDLERS,
        lifespan=[finish_notes],
        openapi_config=openapi_config(_version()),
        request_max_body_size=SMALL,
        logging_config=None,
        debug=False,
        state=State(
            {
                "db": db,
                "keyring": keyring,
                "policies": ActivePolicy(db),
                "closing": closing or asyncio.Event(),
                "tell": tell,
            }
        ),
    )
    refuse_undeclared(app.routes)
    # Around the router, so that a path that is no route is logged and answered like any other.
    app.asgi_handler = RequestLog(app.asgi_handler)
    return app


def _version() -> str:
    try:
        return version("fencepost")
    except PackageNotFoundError:
        return "0"
