"""One log line a request, and the id that joins it to the answer.

A line tells method, path template, status and duration; never a path as sent, a header, a body or
a key: what others write has no place in a log that people read on a terminal.
"""

from __future__ import annotations

import logging
import re
import sys
import time
import traceback
import uuid
from collections.abc import MutableMapping
from typing import Any, cast

import structlog
from litestar.types import ASGIApp, Message, Receive, Scope, Send

_log = structlog.get_logger(__name__)

REQUEST_ID = "fencepost.request_id"
_HEADER = b"x-request-id"
_ACCEPTABLE = re.compile(rb"[A-Za-z0-9._-]{8,64}\Z")
_METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
_LONGEST_OUTLINE = 200
_NO_STORE = (b"cache-control", b"no-store")


def request_id_of(scope: Scope) -> str:
    """Return the id of a request; every request has one."""
    return str(_open(scope).get(REQUEST_ID, ""))


def _open(scope: Scope) -> dict[str, Any]:
    """Return the scope as the plain mapping that it is: ASGI lets each layer add to it."""
    return cast("dict[str, Any]", scope)


class RequestLog:
    """The outermost layer: gives each request its id, forbids caching, writes its line."""

    def __init__(self, inner: ASGIApp) -> None:
        self._inner = inner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if _open(scope)["type"] != "http":
            await self._inner(scope, receive, send)
            return
        request_id = _chosen(scope)
        _open(scope)[REQUEST_ID] = request_id
        status = 0

        async def send_and_look(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = [pair for pair in message["headers"] if pair[0] != _NO_STORE[0]]
                message["headers"] = [*headers, _NO_STORE, (_HEADER, request_id.encode())]
            await send(message)

        begun = time.perf_counter()
        with structlog.contextvars.bound_contextvars(request_id=request_id):
            try:
                await self._inner(scope, receive, send_and_look)
            finally:
                _log.info(
                    "request",
                    method=_known_method(str(scope.get("method"))),
                    path=scope.get("path_template") or "(no such path)",
                    status=status,
                    ms=round((time.perf_counter() - begun) * 1_000, 1),
                )


def _chosen(scope: Scope) -> str:
    for name, value in scope["headers"]:
        if name == _HEADER and _ACCEPTABLE.match(value):
            return value.decode("ascii")
    return uuid.uuid4().hex


def _known_method(method: str) -> str:
    return method if method in _METHODS else "(other)"


def outline(error: BaseException) -> list[str]:
    """Return what was raised where, innermost cause last, and no message: those may quote a row."""
    lines = []
    while True:
        state = getattr(error, "sqlstate", None) or ""
        lines.append(f"{type(error).__module__}.{type(error).__qualname__} {state}".rstrip())
        frames = traceback.extract_tb(error.__traceback__)
        lines += [f"{_short(frame.filename)}:{frame.lineno} {frame.name}" for frame in frames]
        inner = error.__cause__ or error.__context__
        if inner is None or len(lines) > _LONGEST_OUTLINE:
            return lines
        error = inner


def _short(filename: str) -> str:
    return "/".join(filename.split("/")[-3:])


def outline_exceptions(
    _logger: Any, _name: str, line: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """Replace the traceback of a line by its outline. A structlog processor."""
    given = line.pop("exc_info", None)
    if given is True:
        given = sys.exc_info()[1]
    if isinstance(given, tuple):
        given = given[1]
    if isinstance(given, BaseException):
        line["fault"] = outline(given)
    return line


def escape_controls(
    _logger: Any, _name: str, line: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """Make every text of a line printable: a log is read on terminals. A structlog processor."""
    return {key: _printable(value) for key, value in line.items()}


def _printable(value: Any) -> Any:
    if isinstance(value, list):
        return [_printable(member) for member in value]
    if not isinstance(value, str) or value.isprintable():
        return value
    return "".join(
        letter if letter.isprintable() or letter == "\n" else ascii(letter)[1:-1]
        for letter in value
    )


class ForeignLogs(logging.Handler):
    """Tells what libraries log in our own form: the sentence, never what was put into it.

    A library's message may hold the text of an exception, and that may quote a row.
    """

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line."""
        sentence, _, _ = str(record.msg).partition("\n")
        said = {"says": sentence[:_LONGEST_OUTLINE], "exc_info": record.exc_info}
        _log.log(record.levelno, "library", library=record.name, **said)


def configure_logging() -> None:
    """Write one JSON object a line to standard error; called by whoever starts a server."""
    root = logging.getLogger()
    if not any(isinstance(handler, ForeignLogs) for handler in root.handlers):
        root.addHandler(ForeignLogs(logging.WARNING))
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            outline_exceptions,
            escape_controls,
            structlog.processors.JSONRenderer(),
        ],
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
        cache_logger_on_first_use=False,
    )
