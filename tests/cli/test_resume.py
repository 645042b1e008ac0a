from __future__ import annotations

from pathlib import Path

import pytest

from backend.cli.resume import Progress, StateFile, tail_hash


def state_after(text: bytes, offset: int) -> Progress:
    tail = text[:offset][-8:]
    return Progress(offset=offset, lines=1, tail=tail_hash(tail), tail_length=len(tail), created=3)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"a":1}\n{"a":2}\n')
    return path


def test_a_saved_state_is_found_again_and_the_file_stands_there(
    source: Path, tmp_path: Path
) -> None:
    file = StateFile(source, "http://one", tmp_path / "state")
    assert file.save(state_after(source.read_bytes(), 8))
    with source.open("rb") as stream:
        found = file.load(stream)
        assert found.created == 3
        assert stream.read() == b'{"a":2}\n'


def test_a_changed_file_begins_anew(source: Path, tmp_path: Path) -> None:
    file = StateFile(source, "http://one", tmp_path / "state")
    file.save(state_after(source.read_bytes(), 8))
    source.write_bytes(b'{"b":1}\n{"a":2}\n')
    with source.open("rb") as stream:
        assert file.load(stream) == Progress()
        assert stream.tell() == 0


def test_a_file_that_was_corrected_before_that_place_begins_anew(
    source: Path, tmp_path: Path
) -> None:
    file = StateFile(source, "http://one", tmp_path / "state")
    file.save(state_after(source.read_bytes(), 16))
    source.write_bytes(b'{"b":1}\n{"a":2}\n')
    with source.open("rb") as stream:
        assert file.load(stream) == Progress()
        assert stream.tell() == 0


def test_other_fields_to_leave_out_have_another_state(source: Path, tmp_path: Path) -> None:
    file = StateFile(source, "http://one", tmp_path / "state", drop={"x"})
    file.save(state_after(source.read_bytes(), 8))
    other = StateFile(source, "http://one", tmp_path / "state", drop={"y"})
    assert file.path != other.path


def test_another_server_has_another_state(source: Path, tmp_path: Path) -> None:
    StateFile(source, "http://one", tmp_path).save(state_after(source.read_bytes(), 8))
    with source.open("rb") as stream:
        assert StateFile(source, "http://two", tmp_path).load(stream) == Progress()


def test_a_broken_state_begins_anew(source: Path, tmp_path: Path) -> None:
    file = StateFile(source, "http://one", tmp_path)
    file.path.write_bytes(b"{")
    with source.open("rb") as stream:
        assert file.load(stream) == Progress()


def test_a_finished_file_is_forgotten(source: Path, tmp_path: Path) -> None:
    file = StateFile(source, "http://one", tmp_path)
    file.save(state_after(source.read_bytes(), 8))
    file.clear()
    file.clear()
    assert not file.path.exists()


def test_a_folder_that_cannot_be_written_to_is_no_error(source: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_bytes(b"")
    assert not StateFile(source, "http://one", blocked / "state").save(Progress())


def test_the_state_is_for_its_owner_alone(source: Path, tmp_path: Path) -> None:
    file = StateFile(source, "http://one", tmp_path / "state")
    file.save(Progress())
    assert file.path.stat().st_mode & 0o077 == 0
    assert file.path.parent.stat().st_mode & 0o077 == 0
