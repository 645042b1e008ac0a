"""What the HTTP parser refuses before there is a request: in our words, and within bounds.

The parser itself has no limit on an address, a header or a trailer, and waits for ever for the rest
of what somebody began to send. Both are bounded here, before anybody has shown a key.
"""

from __future__ import annotations

import asyncio
import uuid
from typing import Any, cast

import structlog
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from backend.api.errors import answer
from backend.domain.refusals import Malformed, Refusal, TooLarge

_log = structlog.get_logger(__name__)

LONGEST_HEAD = 64 * 1024
"""Bytes of address and headers, or of trailers, beyond which nothing more is read."""
PATIENCE = 60.0
"""Seconds that a request may make no progress in: a whole head, then each piece of a body."""
_PIECE = 64 * 1024  # bytes of a body that count as progress: a kilobyte a second is enough
_HEAD_END = b"\r\n\r\n"


class BoundedProtocol(HttpToolsProtocol):
    """One connection, whose heads are bounded and whose sender has to go on sending."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._unread = 0
        """Bytes since the parser last came to the end of a head or a message, or to a body."""
        self._piece = 0
        self._impatient: asyncio.TimerHandle | None = None
        self._given_up = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to wait for the first request."""
        super().connection_made(transport)  # type: ignore[arg-type]
        self._wait_for_more()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._wait_no_more()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Hand bytes to the parser, unless it has come nowhere with too many of them."""
        if self._given_up:
            return
        if self._impatient is None:
            self._wait_for_more()
        before, self._unread = self._unread, -1
        super().data_received(data)
        if self._unread < 0:
            self._unread = before + len(data)
        if self._unread > LONGEST_HEAD and not self._given_up:
            self._refuse(TooLarge("send a shorter address, headers or trailers"))

    def on_headers_complete(self) -> None:
        """Hand the request on."""
        self._unread = 0
        self._wait_for_more()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take in a piece of the body."""
        self._unread = 0
        self._piece += len(body)
        if self._piece >= _PIECE:
            self._piece = 0
            self._wait_for_more()
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Wait for nothing more of this request."""
        self._unread = 0
        self._wait_no_more()
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP, with a problem like any other."""
        del msg
        self._refuse(Malformed("this is not HTTP as we read it"))

    def _unsupported_upgrade_warning(self) -> None:
        """Say nothing: the request is answered as if no other protocol had been asked for."""

    def _refuse(self, refusal: Refusal) -> None:
        """Answer and close; just close if the answer to this request has begun already."""
        self._given_up = True
        request_id = uuid.uuid4().hex
        _log.info("request.unread", request_id=request_id, status=refusal.status)
        if not self._answering():
            self.transport.write(_bytes_of(refusal, request_id))
        self.transport.close()

    def _answering(self) -> bool:
        """Whether a request is in hand whose answer is not out yet."""
        cycle = cast("RequestResponseCycle | None", self.cycle)
        return cycle is not None and not cycle.response_complete

    def _wait_for_more(self) -> None:
        self._wait_no_more()
        self._impatient = self.loop.call_later(PATIENCE, self._lose_patience)

    def _wait_no_more(self) -> None:
        if self._impatient is not None:
            self._impatient.cancel()
            self._impatient = None

    def _lose_patience(self) -> None:
        self._impatient = None
        if self._answering() and not self.cycle.more_body:
            return  # it is we who are slow
        self._given_up = True
        _log.info("request.abandoned")
        self.transport.close()


def _bytes_of(refusal: Refusal, request_id: str) -> bytes:
    response = answer(refusal, request_id)
    body: bytes = response.content
    lines = [
        f"HTTP/1.1 {refusal.status} Refused",
        f"content-type: {response.media_type}",
        f"content-length: {len(body)}",
        f"x-request-id: {request_id}",
        "cache-control: no-store",
        "connection: close",
    ]
    return "\r\n".join(lines).encode() + _HEAD_END + body
