"""The folder of an embedded database: whose it is, who reaches it, what is refused."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from backend.db import cluster
from backend.db.account import Account, EmbeddedError, server_account
from backend.db.binaries import find_binaries
from backend.db.embedded import server
from backend.db.folder import prepare
from tests.support.postgres import own_binaries
from tests.support.processes import mode

SOMEBODY_ELSE = Account("somebody else", 54321, 54321)


async def test_a_path_with_a_space_and_a_quote_works(open_folder: Path) -> None:
    folder = open_folder / "it's a path"
    async with server(folder, durable=False, binaries=own_binaries()) as running:
        assert running.socket.parent == folder


async def test_nothing_listens_but_a_socket_in_a_private_folder(open_folder: Path) -> None:
    async with server(open_folder / "d", durable=False, binaries=own_binaries()) as running:
        sockets = [entry for entry in running.socket.iterdir() if entry.is_socket()]
        assert mode(running.socket) == 0o700
        assert len(sockets) == 1
        assert _tcp_sockets_of(running.pid) == []


def _tcp_sockets_of(pid: int | None) -> list[str]:
    """The listening TCP sockets among the open files of a process."""
    held = {str(file.readlink()) for file in Path(f"/proc/{pid}/fd").iterdir()}
    lines = [
        line.split()
        for table in ("tcp", "tcp6")
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]
    ]
    listening = "0A"
    return [
        f"socket:[{fields[9]}]"
        for fields in lines
        if fields[3] == listening and f"socket:[{fields[9]}]" in held
    ]


async def test_a_long_path_gets_a_short_socket_folder_that_is_removed(open_folder: Path) -> None:
    folder = open_folder / ("x" * 60) / ("y" * 60)
    async with server(folder, durable=False, binaries=own_binaries()) as running:
        socket = running.socket
        assert len(str(socket)) < 80
        assert mode(socket) == 0o700
    assert not socket.exists()


def test_a_folder_that_the_account_cannot_reach_is_refused_with_the_reason(
    open_folder: Path,
) -> None:
    closed = open_folder / "closed"
    closed.mkdir(mode=0o700)
    with pytest.raises(EmbeddedError, match=f"{closed} has mode 0700"):
        prepare(closed / "data", SOMEBODY_ELSE)
    assert mode(closed) == 0o700
    assert list(closed.iterdir()) == []


@pytest.mark.parametrize("given", [0o700, 0o750, 0o755])
async def test_no_mode_of_a_folder_that_exists_is_changed(open_folder: Path, given: int) -> None:
    folder = open_folder / "data"
    folder.mkdir()
    folder.chmod(given)
    async with server(folder, durable=False, binaries=own_binaries()):
        pass
    assert (mode(folder), mode(open_folder)) == (given, 0o755)


def test_a_folder_with_something_else_in_it_is_refused(open_folder: Path) -> None:
    (open_folder / "letter.txt").write_text("dear")
    with pytest.raises(EmbeddedError, match=r"must belong to|holds something else"):
        prepare(open_folder, server_account())


async def test_data_of_another_major_version_is_refused(open_folder: Path) -> None:
    folder = open_folder / "data"
    async with server(folder, durable=False, binaries=own_binaries()):
        pass
    (folder / "pg" / "PG_VERSION").write_text("9\n")
    with pytest.raises(EmbeddedError, match="made by PostgreSQL 9"):
        async with server(folder, durable=False, binaries=own_binaries()):
            pass


async def test_an_interrupted_initdb_is_begun_again(open_folder: Path) -> None:
    folder = open_folder / "data"
    prepare(folder, server_account())
    unfinished = str(folder / "pg.new")
    cluster.as_account(["mkdir", unfinished], server_account())
    cluster.as_account(["touch", f"{unfinished}/half"], server_account())
    (folder / "lock").touch()
    async with server(folder, durable=False, binaries=own_binaries()) as running:
        assert running.pid


async def test_an_initdb_that_outlived_its_owner_is_not_in_the_way(open_folder: Path) -> None:
    folder = open_folder / "data"
    prepare(folder, server_account())
    (folder / "lock").touch()
    writing = "while :; do mkdir -p pg.new/base; : > pg.new/base/x; : > pg.new/PG_VERSION; done"
    with subprocess.Popen(
        ["sh", "-c", writing], cwd=folder, **cluster.identity(server_account())
    ) as outlived:
        async with server(folder, durable=False, binaries=own_binaries()) as running:
            assert running.pid
        outlived.kill()
    async with server(folder, durable=False, binaries=own_binaries()):
        assert not list(folder.glob("pg.new*"))


async def test_a_name_that_no_configuration_can_hold_is_refused(open_folder: Path) -> None:
    with pytest.raises(EmbeddedError, match="can't be printed"):
        async with server(open_folder / "a\nb", durable=False, binaries=own_binaries()):
            pass
    assert list(open_folder.iterdir()) == []


async def test_the_home_of_nobody_we_know_is_refused() -> None:
    with pytest.raises(EmbeddedError, match="home"):
        async with server(Path("~no-such-user/data"), durable=False, binaries=own_binaries()):
            pass


async def test_a_planted_link_is_not_followed(open_folder: Path) -> None:
    folder = open_folder / "data"
    prepare(folder, server_account())
    target = open_folder / "precious"
    target.write_text("precious")
    (folder / "lock").symlink_to(target)
    with pytest.raises(OSError, match="symbolic links"):
        async with server(folder, durable=False, binaries=own_binaries()):
            pass
    assert target.read_text() == "precious"


def test_root_gets_a_readable_copy_of_programs_and_libraries(open_folder: Path) -> None:
    system = open_folder / "system"
    found = find_binaries(
        None, server_account() or SOMEBODY_ELSE, system=system, fallback=open_folder
    )
    answer = subprocess.run(
        [found.program("initdb"), "--version"],
        check=True,
        capture_output=True,
        **cluster.identity(server_account()),
    )
    assert found.folder.is_relative_to(system)
    assert b"PostgreSQL" in answer.stdout


def test_the_copy_goes_beside_the_data_when_the_system_folder_is_closed(open_folder: Path) -> None:
    system = open_folder / "system"
    system.mkdir(mode=0o700)
    found = find_binaries(None, SOMEBODY_ELSE, system=system, fallback=open_folder)
    assert found.folder.is_relative_to(open_folder)
    assert not found.folder.is_relative_to(system)


def test_programs_that_are_too_old_are_refused(open_folder: Path) -> None:
    old = open_folder / "postgres"
    old.write_text("#!/bin/sh\necho 'postgres (PostgreSQL) 14.9'\n")
    old.chmod(0o755)
    with pytest.raises(EmbeddedError, match="15 or newer"):
        find_binaries(open_folder, None, system=open_folder, fallback=open_folder)


def test_a_user_without_a_name_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 54321)
    with pytest.raises(EmbeddedError, match="54321 has no passwd entry"):
        server_account()


def test_without_any_postgres_the_message_says_what_to_do(
    open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    monkeypatch.setenv("PATH", str(open_folder))
    with pytest.raises(EmbeddedError, match="Install PostgreSQL 15 or newer, or set DATABASE_URL"):
        find_binaries(None, None, system=open_folder, fallback=open_folder)


def test_without_the_wheel_a_postgres_on_path_is_taken(
    open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (open_folder / "postgres").write_text("#!/bin/sh\necho 'postgres (PostgreSQL) 16.4 (Debian)'\n")
    (open_folder / "postgres").chmod(0o755)
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    monkeypatch.setenv("PATH", f"{open_folder}:/usr/bin:/bin")
    found = find_binaries(None, None, system=open_folder, fallback=open_folder)
    assert (found.folder, found.major) == (open_folder, 16)
