"""The one HTTP client of fencepost: a method for each endpoint, the wire's own types in and out.

Producers, the scripted reviewer and the terminal all go through here. A call that carries its own
key (or only reads) is repeated with the same bytes, a bounded number of times, while its failure is
one that may pass. The methods stand with those who call them: producer, reviewer, lead.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from shared.client.lead import LeadCalls
from shared.client.producer import ProducerCalls
from shared.client.reviewer import ReviewerCalls
from shared.client.stream import live_events
from shared.wire.live import LiveEvent


class FencepostClient(ProducerCalls, ReviewerCalls, LeadCalls):
    """Speaks to one server as one principal; use as an async context manager."""

    def live(self) -> AsyncIterator[LiveEvent]:
        """Yield where to look again, for ever; a `resync` after each loss of the connection.

        Raises Refused if this key may not listen at all; every other trouble is waited out.
        """
        return live_events(self._exchange, self._sleep)
