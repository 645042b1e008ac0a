"""The HTTP client: the one place in `shared` that knows a network."""

from shared.client.api import FencepostClient
from shared.client.calls import ATTEMPTS
from shared.client.errors import ClientError, Garbled, Refused, Unreachable
from shared.client.reviewer import VerdictReply

__all__ = [
    "ATTEMPTS",
    "ClientError",
    "FencepostClient",
    "Garbled",
    "Refused",
    "Unreachable",
    "VerdictReply",
]
