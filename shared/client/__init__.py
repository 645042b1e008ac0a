"""The HTTP client: the one place in `shared` that knows a network."""

from shared.client.api import ATTEMPTS, FencepostClient, VerdictReply
from shared.client.errors import ClientError, Garbled, Refused, Unreachable

__all__ = [
    "ATTEMPTS",
    "ClientError",
    "FencepostClient",
    "Garbled",
    "Refused",
    "Unreachable",
    "VerdictReply",
]
