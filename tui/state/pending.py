"""A verdict on its way: all that is needed to send it again, and not a word of the content."""

from __future__ import annotations

import msgspec

from shared.wire.queue import VerdictRequest

RENDERER = "fencepost-tui/2"
"""Which rendering the reviewer saw; raised when sanitiser or layout change what is shown."""


class Pending(msgspec.Struct, frozen=True, kw_only=True):
    """One verdict that was meant, with the keys that make sending it twice harmless."""

    item_id: str
    content_id: str
    queue: str
    request: VerdictRequest


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """What a reviewer has written about an item but not sent."""

    item_id: str
    lease_token: str
    note: str = ""
    question: str = ""
    """What the producer would be asked, if the item were parked."""
