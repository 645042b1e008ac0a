"""Attachments on the reviewer's disk: proven, the owner's alone, and gone with the item."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tui.shelf import NotProvenError, Shelf, home_words


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize(
    ("data", "ending"),
    [
        (b"\x89PNG\r\n\x1a\n...", "png"),
        (b"\xff\xd8\xff\xe0", "jpg"),
        (b"GIF89a", "gif"),
        (b"RIFF....WEBPVP8", "webp"),
        (b"RIFF....AVI ", "txt"),
        (b"%PDF-1.7", "pdf"),
        (b"#!/bin/sh\nrm -rf", "txt"),
        (b"", "txt"),
    ],
)
def test_a_file_is_named_by_its_digest_and_kind_and_can_not_be_executed(
    tmp_path: Path, data: bytes, ending: str
) -> None:
    path = Shelf(tmp_path, "host-a").save(digest(data), data)
    assert path.name == f"{digest(data)[:16]}.{ending}"
    assert path.read_bytes() == data
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o077 == 0


def test_what_is_not_what_its_digest_says_is_not_written(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, "host-a")
    with pytest.raises(NotProvenError):
        shelf.save(digest(b"one"), b"another")
    assert list(tmp_path.rglob("*")) == []


def test_saving_again_follows_no_link_and_clearing_leaves_others_alone(tmp_path: Path) -> None:
    mine, theirs = Shelf(tmp_path, "host-a"), Shelf(tmp_path, "host-b")
    victim = tmp_path / "victim"
    victim.write_text("kept")
    path = mine.save(digest(b"x"), b"x")
    path.unlink()
    path.symlink_to(victim)
    mine.save(digest(b"x"), b"x")
    other = theirs.save(digest(b"y"), b"y")
    mine.clear()
    mine.clear()
    assert victim.read_text() == "kept"
    assert not mine.folder.exists()
    assert other.read_bytes() == b"y"


def test_a_link_in_place_of_the_folder_is_taken_away_and_not_followed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "file").write_text("kept")
    shelf = Shelf(tmp_path, "host-a")
    shelf.folder.symlink_to(elsewhere)
    shelf.clear()
    assert (elsewhere / "file").read_text() == "kept"


def test_a_path_is_said_from_home_and_whole_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert home_words(tmp_path / "state" / "a") == "~/state/a"
    assert home_words(Path("/elsewhere/a")) == "/elsewhere/a"
    monkeypatch.setenv("HOME", "/")
    assert home_words(Path("/elsewhere/a")) == "/elsewhere/a"
