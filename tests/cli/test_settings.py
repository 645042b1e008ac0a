"""The settings: what an operator says of a pooler, and what follows from it."""

from __future__ import annotations

import pytest

from backend.cli.serve import listen_url
from backend.settings import SettingsError, read

POOLER, SERVER = (
    "postgresql://fencepost_runtime@pooler/f",
    "postgresql://fencepost_runtime@server/f",
)


@pytest.mark.parametrize(
    ("variables", "kept"),
    [
        ({}, 100),
        ({"FENCEPOST_LISTEN_URL": SERVER}, 0),
        ({"FENCEPOST_STATEMENT_CACHE": "0"}, 0),
        ({"FENCEPOST_LISTEN_URL": SERVER, "FENCEPOST_STATEMENT_CACHE": "7"}, 7),
    ],
    ids=["alone", "pooler", "none", "as said"],
)
def test_behind_a_pooler_no_statement_is_kept_prepared(
    variables: dict[str, str], kept: int
) -> None:
    assert read({"DATABASE_URL": POOLER, **variables}).statements_kept == kept


def test_a_process_listens_where_it_is_told_to() -> None:
    beside = read({"DATABASE_URL": POOLER, "FENCEPOST_LISTEN_URL": SERVER})
    assert listen_url(beside, POOLER) == SERVER
    assert listen_url(read({"DATABASE_URL": SERVER}), SERVER) == SERVER
    embedded = read({"FENCEPOST_LISTEN_URL": SERVER})
    assert listen_url(embedded, "postgresql://own") == "postgresql://own"


def test_an_address_to_listen_at_must_be_one() -> None:
    with pytest.raises(SettingsError, match="FENCEPOST_LISTEN_URL"):
        read({"FENCEPOST_LISTEN_URL": "server:5432"})
