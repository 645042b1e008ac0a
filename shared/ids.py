"""The identifiers of the house, kept apart by type so that one is never passed for another.

Numbers inside the database, strings on the wire: a client never does arithmetic on an id.
"""

from __future__ import annotations

import re
from typing import NewType

ContentId = NewType("ContentId", str)
"""The producer's own id of a content: 1-64 characters, unique within its tenant."""

ItemId = NewType("ItemId", str)
DecisionId = NewType("DecisionId", str)
PrincipalId = NewType("PrincipalId", str)

LeaseToken = NewType("LeaseToken", str)
"""The fence: a UUID that rotates whenever an item changes hands."""

VerdictToken = NewType("VerdictToken", str)
"""The retry key of a verdict: a UUID made by the client, once for each verdict it means."""

ClaimKey = NewType("ClaimKey", str)
"""The retry key of a claim: a UUID made by the client, once for each claim it means."""

CONTENT_ID_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._:~-]{0,63}$"
"""What a `content_id` may look like; the database holds the same rule as a CHECK."""

NAME_PATTERN = r"^[a-z][a-z0-9_-]{0,39}$"
"""What a queue, category, reason, scorer or rule may be called."""

_CONTENT_ID = re.compile(CONTENT_ID_PATTERN.removesuffix("$") + r"\Z")


def is_content_id(value: str) -> bool:
    """Tell whether `value` may be the id of a content."""
    return _CONTENT_ID.match(value) is not None
