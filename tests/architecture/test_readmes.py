"""A room's README names only what is there, and every command it shows exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.tree import PACKAGES, ROOT, files, short

NAME = re.compile(r"`([\w.-]+(?:/[\w.*-]+)*/?)`")
LINK = re.compile(r"\]\((?!#)([^)\s]+)\)")
KINDS = (".py", ".sql", ".toml", ".tcss", ".md", ".lock", ".jsonl", ".json", "/")
READMES = [ROOT / "README.md", *files("README.md")]


def named(text: str) -> set[str]:
    """The files and folders that a text names in code quotes."""
    return {name for name in NAME.findall(text) if name.endswith(KINDS)}


def is_there(name: str, room: Path) -> bool:
    """Whether a file of this name is in the room, or below it, or counted from the root."""
    name = name.replace("NNNN_subject", "*")  # how a new migration is to be named
    places = (room, ROOT, *(ROOT / package for package in PACKAGES))
    return any(list(place.glob(name.rstrip("/"))) for place in places) or (
        "/" not in name.rstrip("/") and bool(list(room.rglob(name.rstrip("/"))))
    )


@pytest.mark.parametrize("readme", READMES, ids=short)
def test_a_readme_names_only_what_is_there(readme: Path) -> None:
    text = readme.read_text(encoding="utf-8")
    assert [name for name in sorted(named(text)) if not is_there(name, readme.parent)] == []


@pytest.mark.parametrize("readme", READMES, ids=short)
def test_a_readme_links_only_to_what_is_there(readme: Path) -> None:
    links = [link.partition("#")[0] for link in LINK.findall(readme.read_text(encoding="utf-8"))]
    assert [link for link in links if not (readme.parent / link).exists()] == []


@pytest.mark.parametrize("room", ["backend", "shared", "sql", "tui"])
def test_each_room_has_a_readme(room: str) -> None:
    assert (ROOT / room / "README.md").exists()


def test_a_name_of_nothing_is_noticed() -> None:
    assert named("see `gone.py` and `backend/db/`, not `SELECT`") == {"gone.py", "backend/db/"}
    assert not is_there("gone.py", ROOT)
