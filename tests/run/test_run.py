"""`./run` sets up once and says what is missing in one line."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.tree import ROOT

PARTS = (
    "run", "pyproject.toml", "requirements.lock", "README.md", "LICENSE",
    "backend", "shared", "sql", "tui",
)  # fmt: skip
NO_INDEX = "http://127.0.0.1:9/"  # nothing answers there


def start(
    folder: Path, *arguments: str, python: str = sys.executable, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run `run` of a checkout with no index of packages in reach."""
    return subprocess.run(
        [python, str(folder / "run"), *arguments],
        env=offline() | variables,
        check=False,
        capture_output=True,
        text=True,
    )


def offline() -> dict[str, str]:
    """Our environment, without an environment of Python's and without an index of packages."""
    index = {"PIP_INDEX_URL": NO_INDEX, "PIP_EXTRA_INDEX_URL": "", "PIP_RETRIES": "0"}
    return {k: v for k, v in os.environ.items() if k != "FENCEPOST_VENV"} | index


def copy_to(folder: Path) -> Path:
    """Copy what a checkout needs to be set up."""
    folder.mkdir(parents=True)
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / part)
    return folder


@pytest.fixture(scope="module")
def checkout() -> Iterator[Path]:
    """A checkout in a path with a space, its environment made without a network."""
    base = Path(tempfile.mkdtemp(prefix="run test "))
    folder = copy_to(base / "a checkout")
    made = start(folder, "python", "-c", "print('made')")
    assert made.stdout == "made\n", made.stderr
    yield folder
    shutil.rmtree(base, ignore_errors=True)


@pytest.mark.slow
def test_the_command_runs_from_a_path_with_a_space(checkout: Path) -> None:
    done = start(checkout, "fencepost", "--version")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_the_second_time_takes_no_time(checkout: Path) -> None:
    started = time.monotonic()
    done = start(checkout, "python", "-S", "-c", "")
    assert (done.returncode, done.stderr) == (0, "")
    assert time.monotonic() - started < 1.5


def test_the_exit_code_is_the_commands(checkout: Path) -> None:
    assert start(checkout, "python", "-c", "raise SystemExit(7)").returncode == 7


@pytest.mark.fault
def test_an_unfinished_environment_is_not_used(checkout: Path) -> None:
    stamp = checkout / ".venv" / "fencepost.stamp"
    kept = stamp.read_text()
    stamp.unlink()
    missing = {"XDG_CACHE_HOME": str(checkout / "empty"), "PIP_FIND_LINKS": ""}
    done = start(checkout, "python", "-c", "print('used')", **missing)
    assert done.returncode == 1
    assert "setting up failed" in done.stderr
    assert not stamp.exists()
    assert "used" not in done.stdout
    again = start(checkout, "python", "-c", "print('used')")
    assert again.stdout == "used\n", again.stderr
    assert stamp.read_text() == kept


def test_a_change_of_the_lock_brings_the_environment_up_to_date(checkout: Path) -> None:
    with (checkout / "requirements.lock").open("a") as lock:
        lock.write("# changed\n")
    done = start(checkout, "python", "-c", "print('used')")
    assert "up to date" in done.stderr
    assert done.stdout == "used\n"


def test_two_at_once_make_it_once(checkout: Path) -> None:
    with (checkout / "requirements.lock").open("a") as lock:
        lock.write("# changed again\n")
    command = [sys.executable, str(checkout / "run"), "python", "-c", "print('used')"]
    pair = [
        subprocess.Popen(command, env=offline(), stdout=-1, stderr=-1, text=True) for _ in range(2)
    ]
    said = [child.communicate() for child in pair]
    assert [out for out, _ in said] == ["used\n", "used\n"]
    assert sum("up to date" in errors for _, errors in said) == 1


def test_an_old_python_can_parse_it() -> None:
    ast.parse((ROOT / "run").read_text(), feature_version=(3, 6))


def pretend(preparation: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `run` in a Python that was made to look poorer than it is."""
    script = (
        f"import runpy, sys; {preparation};"
        f" sys.argv = {['run', *arguments]!r}; runpy.run_path({str(ROOT / 'run')!r})"
    )
    return subprocess.run(
        [sys.executable, "-c", script],
        env={"PATH": "/nowhere", "FENCEPOST_VENV": "/tmp/never made"},
        check=False,
        capture_output=True,
        text=True,
    )


def test_an_old_python_gets_one_clear_line() -> None:
    done = pretend("sys.version_info = (3, 8, 1)", "test")
    assert done.returncode == 1
    assert done.stderr == "run: Python 3.11 or newer is needed; this one is 3.8.\n"


def test_a_python_without_venv_gets_one_clear_line() -> None:
    done = pretend("sys.modules['ensurepip'] = None", "test")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "apt-get install python3" in done.stderr


def test_an_unknown_command_is_misuse() -> None:
    done = start(ROOT, "no-such-command")
    assert done.returncode == 2
    assert done.stderr.startswith("usage: ./run COMMAND")


def test_help_needs_no_environment() -> None:
    done = start(ROOT, "--help", FENCEPOST_VENV="/nowhere/at/all")
    assert done.returncode == 0
    assert "./run COMMAND" in done.stdout


def test_a_folder_of_somebody_else_is_named_in_one_line(tmp_path: Path) -> None:
    folder = copy_to(tmp_path / "checkout")
    (folder / ".venv").mkdir()
    if os.geteuid() == 0:
        os.chown(folder / ".venv", 65534, 65534)
        expected = "belongs to nobody"
    else:
        folder.chmod(0o500)
        expected = "is not writable"
    done = start(folder, "test")
    folder.chmod(0o700)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert expected in done.stderr


@pytest.mark.fault
def test_an_ordinary_user_sets_up_from_nothing() -> None:
    """As root we become one; otherwise we are one already."""
    base = Path(tempfile.mkdtemp(prefix="run as user ", dir="/tmp"))
    folder = copy_to(base / "checkout")
    become: list[str] = []
    if os.geteuid() == 0:
        subprocess.run(["chown", "-R", "nobody", str(base)], check=True)
        become = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(base)}
    try:
        done = subprocess.run(
            [*become, str(folder / "run"), "fencepost", "--version"],
            env=environment,
            check=False,
            capture_output=True,
            text=True,
            cwd="/",
        )
    finally:
        shutil.rmtree(base, ignore_errors=True)
    assert done.returncode == 0, done.stderr
