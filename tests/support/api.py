"""The application in this process and loop, spoken to over HTTP without a socket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import httpx
from litestar import Litestar

from backend.api.app import create_app
from backend.db.connection import Database
from backend.settings import Settings
from shared.problems import PROBLEM_MEDIA_TYPE
from shared.vocabulary import KeyEnv, Role
from tests.support.gateway import key_for

JSON = {"content-type": "application/json"}
NDJSON = {"content-type": "application/x-ndjson"}


class Api:
    """One server and the keys of its callers, by role."""

    def __init__(self, app: Litestar, http: httpx.AsyncClient, keys: dict[Role, str]) -> None:
        self.app = app
        self.http = http
        self.keys = keys

    def bearer(self, role: Role | None) -> dict[str, str]:
        """Return the header of a caller; none for nobody."""
        return {} if role is None else {"authorization": f"Bearer {self.keys[role]}"}

    async def post(
        self,
        path: str,
        content: bytes,
        *,
        role: Role | None = Role.PRODUCER,
        headers: dict[str, str] | None = None,
    ) -> httpx.Response:
        """Post a body, JSON unless `headers` say otherwise."""
        said = {**JSON, **self.bearer(role), **(headers or {})}
        return await self.http.post(path, content=content, headers=said)

    async def get(self, path: str, *, role: Role | None = Role.PRODUCER) -> httpx.Response:
        """Get a path."""
        return await self.http.get(path, headers=self.bearer(role))


@asynccontextmanager
async def serving(app: Litestar) -> AsyncIterator[httpx.AsyncClient]:
    """Run the application's lifespan and yield a client for it.

    A fault of the application is an answer here, as it is for every client.
    """
    started, stop = asyncio.Event(), asyncio.Event()

    async def live() -> None:
        # In a task of its own, since a fixture is set up and torn down in different ones.
        async with app.lifespan():
            started.set()
            await stop.wait()

    living = asyncio.create_task(live())
    await asyncio.wait(
        [living, asyncio.create_task(started.wait())], return_when=asyncio.FIRST_COMPLETED
    )
    transport = httpx.ASGITransport(app=cast("Any", app), raise_app_exceptions=False)
    try:
        async with httpx.AsyncClient(transport=transport, base_url="http://fencepost.test") as http:
            yield http
    finally:
        stop.set()
        await living


@asynccontextmanager
async def api_of(database: Database) -> AsyncIterator[Api]:
    """Serve a database in which a policy is in force, with a key for each usual role."""
    keys = {
        role: await key_for(database, role) for role in (Role.PRODUCER, Role.REVIEWER, Role.LEAD)
    }
    app = create_app(database, Settings(env=KeyEnv.TEST.value))
    async with serving(app) as http:
        yield Api(app, http, keys)


def problem(response: httpx.Response, status: int, code: str, field: str = "") -> dict[str, Any]:
    """Assert that a response is this problem, whole, and return it."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == PROBLEM_MEDIA_TYPE
    assert response.headers["cache-control"] == "no-store"
    told: dict[str, Any] = response.json()
    assert told["code"] == code, told
    assert told["status"] == status
    assert told["type"] == f"urn:fencepost:problem:{code}"
    assert told["title"]
    assert told["request_id"] == response.headers["x-request-id"]
    assert told.get("field", "") == field, told
    return told
