"""Who may call a route: said beside the route, checked before the handler, refused if unsaid."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler, HTTPRouteHandler
from litestar.routes import BaseRoute, HTTPRoute

from backend.domain.identity import Identity
from backend.domain.refusals import Forbidden, MethodNotAllowed, NotFound, Unauthenticated
from backend.services.keys import Keyring
from backend.services.steady import steadily
from shared.vocabulary import Role

_OPT = "access"
OPENAPI_PATH = "/schema/openapi.json"

EVERYBODY = tuple(Role)
_LONGEST_HEADER = 512


class Access(msgspec.Struct, frozen=True):
    """One of `roles` is needed, in the queue that the path parameter `queue_from` names, if any.

    `public`: no key is asked for.
    """

    roles: tuple[Role, ...] = ()
    queue_from: str | None = None
    public: bool = False


class UndeclaredRouteError(Exception):
    """A route does not say who may call it, so the application is not built."""


def needs(*roles: Role, queue_from: str | None = None) -> dict[str, Any]:
    """Return the `opt` of a route for holders of one of these roles."""
    if not roles:
        raise ValueError("name the roles, or say `open_to_all`")
    return {_OPT: Access(roles=roles, queue_from=queue_from)}


def open_to_all() -> dict[str, Any]:
    """Return the `opt` of a route that needs no key."""
    return {_OPT: Access(public=True)}


def access_of(handler: BaseRouteHandler) -> Access | None:
    """Return what a route declared; None if it declared nothing."""
    declared = handler.opt.get(_OPT)
    return declared if isinstance(declared, Access) else None


def refuse_undeclared(routes: Iterable[BaseRoute]) -> None:
    """Raise UndeclaredRouteError for a route of ours that does not say who may call it.

    A queue must be named by a parameter that the path has. What the framework adds by itself
    (answers to OPTIONS, pages of the schema) is not ours, and the guard refuses it.
    """
    for route in routes:
        handlers = route.route_handlers if isinstance(route, HTTPRoute) else ()
        if not handlers:
            raise UndeclaredRouteError(f"{route.path}: only HTTP routes can be guarded")
        for handler in handlers:
            if not _added_by_framework(handler):
                _check(route, handler)


def _check(route: BaseRoute, handler: HTTPRouteHandler) -> None:
    access = access_of(handler)
    if access is None:
        raise UndeclaredRouteError(f"{handler} on {route.path} does not say who may call it")
    if access.public == bool(access.roles):
        raise UndeclaredRouteError(f"{handler} on {route.path} is either public or for some roles")
    if access.queue_from is not None and access.queue_from not in route.path_parameters:
        raise UndeclaredRouteError(f"{handler}: {route.path} has no {access.queue_from}")


def _added_by_framework(handler: HTTPRouteHandler) -> bool:
    return handler.fn.__module__.startswith("litestar.")


_NOT_FOR_THIS = "your key does not have the role that this needs"
_NOT_FOR_THIS_QUEUE = "your key may not do this in this queue, if there is one of this name"


async def guard(connection: ASGIConnection[Any, Any, Any, Any], handler: BaseRouteHandler) -> None:
    """Let in who may come in, and say who it is (`request.user`). Runs before the body is read."""
    access = access_of(handler)
    if access is None:
        _refuse_unspoken(connection)
        return
    if access.public:
        return
    keyring: Keyring = connection.app.state.keyring
    bearer = bearer_of(connection)
    who = await steadily(lambda: keyring.identify(bearer))
    queue = None if access.queue_from is None else connection.path_params[access.queue_from]
    if not _admits(access, who, queue):
        raise Forbidden(_NOT_FOR_THIS if queue is None else _NOT_FOR_THIS_QUEUE)
    connection.scope["user"] = who


def _refuse_unspoken(connection: ASGIConnection[Any, Any, Any, Any]) -> None:
    """Refuse what the framework serves by itself, the schema's JSON apart."""
    if connection.scope.get("method") == "OPTIONS":
        raise MethodNotAllowed
    if connection.scope.get("path_template") != OPENAPI_PATH:
        raise NotFound


def _admits(access: Access, who: Identity, queue: str | None) -> bool:
    if queue is None:
        return any(who.has(role) for role in access.roles)
    return any(who.may(role, queue) for role in access.roles)


def bearer_of(connection: ASGIConnection[Any, Any, Any, Any]) -> str:
    """Return the key that came with a request. Raises Unauthenticated if there is not just one."""
    headers = connection.headers.getall("authorization", [])
    # Of several, a proxy before us may have looked at another one than we would.
    header = headers[0] if len(headers) == 1 else ""
    scheme, _, bearer = header.partition(" ")
    if scheme.lower() != "bearer" or len(header) > _LONGEST_HEADER:
        raise Unauthenticated
    return bearer.strip()
