from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.served import Served, served


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    """One real server for all tests of a module."""
    with served() as running:
        yield running
