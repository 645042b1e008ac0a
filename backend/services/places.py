"""How many may do at once what is costly: who comes when all places are taken does not wait."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Hashable, Iterator


class Places:
    """`most` places in one process; where it is told whose they are, so many for each."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._taken = Counter[Hashable]()

    @contextlib.contextmanager
    def one(self, whose: Hashable = None) -> Iterator[bool]:
        """Take a place until the end, and tell whether there was one."""
        is_free = self._taken[whose] < self.most
        if not is_free:
            yield False
            return
        self._taken[whose] += 1
        try:
            yield True
        finally:
            self._taken[whose] -= 1
            if not self._taken[whose]:
                del self._taken[whose]
