"""Refusals as problem+json: one table from what is raised to what is answered.

A problem says what to do, and never repeats content, a key or SQL. What is not a refusal is a
fault of ours: the log gets its trace, the client a request id to ask about.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import msgspec
import structlog
from litestar import Request, Response
from litestar.exceptions import HTTPException
from litestar.types import ExceptionHandlersMap

from backend.api.logs import outline, request_id_of
from backend.domain.refusals import (
    Internal,
    Malformed,
    MethodNotAllowed,
    NotFound,
    Refusal,
    TooLarge,
    Unauthenticated,
    UnsupportedMediaType,
)
from shared.problems import PROBLEM_MEDIA_TYPE, ProblemCode

_log = structlog.get_logger(__name__)

_FRAMEWORK: dict[int, type[Refusal]] = {
    HTTPStatus.BAD_REQUEST: Malformed,
    HTTPStatus.UNAUTHORIZED: Unauthenticated,
    HTTPStatus.NOT_FOUND: NotFound,
    HTTPStatus.METHOD_NOT_ALLOWED: MethodNotAllowed,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: TooLarge,
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: UnsupportedMediaType,
}
"""What the framework refuses by itself, as the refusals of the house."""

_DETAILS: dict[type[Refusal], str] = {
    Malformed: "the request could not be read",
    NotFound: "check the path",
    TooLarge: "send less in one request",
}


def on_refusal(request: Request[Any, Any, Any], refusal: Refusal) -> Response[bytes]:
    """Answer a refusal."""
    return answer(refusal, request_id_of(request.scope))


def on_http_exception(request: Request[Any, Any, Any], error: HTTPException) -> Response[bytes]:
    """Answer what the framework refused, in our words."""
    kind = _FRAMEWORK.get(error.status_code)
    if kind is None:
        return on_fault(request, error)
    response = answer(kind(_DETAILS.get(kind, "")), request_id_of(request.scope))
    for name, value in (error.headers or {}).items():
        if name.lower() == "allow":
            response.set_header("allow", value)
    return response


def on_fault(request: Request[Any, Any, Any], error: Exception) -> Response[bytes]:
    """Answer a fault of ours: nothing of it leaves the house but the request id."""
    request_id = request_id_of(request.scope)
    _log.error("request.fault", request_id=request_id, fault=outline(error))
    return answer(Internal("report this with the request id"), request_id)


EXCEPTION_HANDLERS: ExceptionHandlersMap = {
    Refusal: on_refusal,
    HTTPException: on_http_exception,
    Exception: on_fault,
}


def answer(refusal: Refusal, request_id: str) -> Response[bytes]:
    """Return a refusal as a response."""
    return Response(
        msgspec.json.encode(refusal.problem(request_id)),
        status_code=refusal.status,
        media_type=PROBLEM_MEDIA_TYPE,
        headers=_headers(refusal),
    )


def _headers(refusal: Refusal) -> dict[str, str]:
    if refusal.code is ProblemCode.UNAUTHENTICATED:
        return {"www-authenticate": "Bearer"}
    wait = refusal.extra.get("retry_after_ms")
    if wait is not None:
        return {"retry-after": str(max(1, -(-int(wait) // 1_000)))}
    return {}
