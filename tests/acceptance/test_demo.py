"""`fencepost demo --headless` is the whole story; and whatever happens to it, nothing stays."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.processes import ROOT, is_alive, until
from tests.support.served import command, environment, home_folder

pytestmark = pytest.mark.slow


@pytest.fixture
def place() -> Iterator[Path]:
    """The only folder for temporary files that the demo knows."""
    with home_folder() as home:
        temporary = home / "tmp"
        temporary.mkdir()
        temporary.chmod(0o777)
        yield temporary


def start(place: Path, *more: str, **options: Any) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command("demo", "--headless", *more),
        cwd=ROOT,
        env=environment(TMPDIR=str(place), HOME=str(place.parent)),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        **options,
    )


def left_over(place: Path) -> list[str]:
    """Processes that name the folder, and what is in it."""
    found = [str(path) for path in place.iterdir()]
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if os.fsencode(place) in line and is_alive(int(entry.name)):
                found.append(line.decode())
    return found


def read_until(child: subprocess.Popen[str], what: str) -> None:
    assert child.stdout is not None
    for line in child.stdout:
        if what in line:
            return
    pytest.fail(f"it never said {what!r}")


def servers_of(child: subprocess.Popen[str]) -> list[int]:
    """The process of the demo's HTTP server."""
    path = Path(f"/proc/{child.pid}/task/{child.pid}/children")
    return [
        int(pid)
        for pid in path.read_text().split()
        if b"--with-parent" in Path(f"/proc/{pid}/cmdline").read_bytes()
    ]


@pytest.mark.core
def test_the_headless_demo_agrees_with_itself(place: Path) -> None:
    began = time.monotonic()
    child = start(place)
    said, _ = child.communicate(timeout=170)
    assert child.returncode == 0, said
    assert "310 contents" in said
    assert "60 of 60 verdicts" in said
    assert said.splitlines()[-1] == "everything agrees."
    assert time.monotonic() - began < 150, "60 seconds are promised on a machine of its own"
    assert left_over(place) == []


@pytest.mark.full
def test_without_the_applier_the_demo_fails(place: Path) -> None:
    child = start(place, "--without-applier")
    said, _ = child.communicate(timeout=170)
    assert child.returncode == 1, said
    assert "0 of 60 verdicts" in said
    assert "DISAGREE" in said
    assert left_over(place) == []


@pytest.mark.parametrize(
    ("moment", "sig"),
    [
        pytest.param("starting a database", signal.SIGINT, marks=pytest.mark.full),
        pytest.param("starting a database", signal.SIGTERM, marks=pytest.mark.full),
        ("submitted", signal.SIGTERM),
        pytest.param("submitted", signal.SIGHUP, marks=pytest.mark.full),
    ],
    ids=str,
)
def test_a_signal_at_any_moment_leaves_nothing(
    place: Path, moment: str, sig: signal.Signals
) -> None:
    child = start(place)
    read_until(child, moment)
    child.send_signal(sig)
    said, _ = child.communicate(timeout=60)
    assert child.returncode == 128 + sig, said
    assert said.splitlines()[-1] == "fencepost: stopped; nothing is left behind."
    assert left_over(place) == []


@pytest.mark.fault
@pytest.mark.full
def test_a_crash_of_its_server_ends_it_and_leaves_nothing(place: Path) -> None:
    child = start(place)
    read_until(child, "submitted")
    (server,) = servers_of(child)
    os.kill(server, signal.SIGKILL)
    said, _ = child.communicate(timeout=60)
    assert child.returncode == 1
    assert "the demo's server ended (exit code -9)" in said.splitlines()[-1]
    assert left_over(place) == []


@pytest.mark.fault
@pytest.mark.full
async def test_a_kill_of_the_demo_itself_leaves_no_process(place: Path) -> None:
    child = start(place)
    read_until(child, "submitted")
    child.kill()
    child.wait(60)
    assert child.stdout is not None
    child.stdout.close()
    await until(lambda: not [one for one in left_over(place) if " " in one or "\0" in one], "gone")


@pytest.mark.full
def test_a_folder_of_ones_own_is_kept_and_can_be_used_again(place: Path) -> None:
    data = place.parent / "kept"
    child = start(place, "--data", str(data))
    said, _ = child.communicate(timeout=170)
    assert child.returncode == 0, said
    again = start(place, "--data", str(data))
    read_until(again, "submitted   310 contents")
    again.terminate()
    again.communicate(timeout=60)
    assert left_over(place) == []
    assert (data / "pg").exists()


def test_an_ordinary_user_can_run_it(place: Path) -> None:
    """As root we become one; otherwise we are one already."""
    identity: dict[str, Any] = {}
    if os.geteuid() == 0:
        user = pwd.getpwnam("nobody")
        identity = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    place.parent.chmod(0o777)
    found = usable_python(place.parent, identity)
    if found is None:
        pytest.skip("an ordinary user can run no Python that has our packages")
    python, path = found
    done = subprocess.run(
        [python, "-m", "backend", "demo", "--headless"],
        cwd="/",
        env=environment(TMPDIR=str(place), HOME=str(place.parent), PYTHONPATH=path),
        capture_output=True,
        text=True,
        timeout=170,
        check=False,
        **identity,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert left_over(place) == []


def usable_python(folder: Path, identity: dict[str, Any]) -> tuple[str, str] | None:
    """Find an interpreter that this user may run, and a path on which it can load what we load.

    Where the checkout is closed to him, that is a copy in `folder`.
    """
    here = os.pathsep.join([str(ROOT), sysconfig.get_path("purelib")])
    for path in (here, None):
        for python in (sys.executable, "/usr/bin/python3"):
            tried = path or readable_copy(folder)
            with contextlib.suppress(OSError):
                done = subprocess.run(
                    [python, "-c", "import backend.cli.demo, uvloop, asyncpg"],
                    cwd="/",
                    env=environment(PYTHONPATH=tried),
                    check=False,
                    capture_output=True,
                    **identity,
                )
                if done.returncode == 0:
                    return python, tried
    return None


def readable_copy(folder: Path) -> str:
    """Copy what the product needs to where anybody can read it; return the path to load it from."""
    copy = folder / "copy"
    if not copy.exists():
        for_checks = ("__pycache__", "mypy*", "*ruff*", "hypothesis*", "faker*", "librt*", "pip*")
        ignore = shutil.ignore_patterns(*for_checks)
        shutil.copytree(sysconfig.get_path("purelib"), copy, ignore=ignore)
        for package in ("backend", "shared", "sql", "tui"):
            shutil.copytree(ROOT / package, copy / package, ignore=ignore)
    return str(copy)
