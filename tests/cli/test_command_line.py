from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

HEAVY = ("asyncpg", "litestar", "textual", "uvicorn", "httpx", "cyclopts", "rich", "msgspec")


def fencepost(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "backend", *arguments],
        env={"PATH": "/usr/bin:/bin", "COLUMNS": "100", **environment},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def modules_after(*arguments: str) -> set[str]:
    """What the process has loaded once the command line has run."""
    code = (
        "import sys, backend.cli\n"
        f"sys.argv = {['fencepost', *arguments]!r}\n"
        "try: backend.cli.main()\n"
        "except SystemExit: pass\n"
        "print('LOADED', *sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    return set(done.stdout.rpartition("LOADED")[2].split())


def test_the_version_answers_without_loading_anything_heavy() -> None:
    assert not modules_after("--version") & set(HEAVY)


def test_help_loads_no_server_and_no_terminal() -> None:
    assert not modules_after("--help") & {"asyncpg", "litestar", "textual", "uvicorn", "httpx"}


def test_serve_loads_no_terminal_program() -> None:
    loaded = modules_after("serve", "--port", "nonsense")
    assert "litestar" in loaded
    assert "textual" not in loaded
    assert "tui" not in loaded


def test_the_command_line_itself_imports_no_room_of_the_terminal() -> None:
    loaded = modules_after("submit", "/nonexistent")
    assert not loaded & {"litestar", "textual", "tui", "asyncpg"}


def test_the_version_is_the_one_that_is_installed() -> None:
    began = time.monotonic()
    done = fencepost("--version")
    assert done.returncode == 0
    assert done.stdout.startswith("fencepost 0.")
    assert time.monotonic() - began < 5


def test_help_names_every_command() -> None:
    text = fencepost("--help").stdout
    names = ("demo", "review", "lead", "submit", "serve", "key", "policy", "bootstrap", "migrate")
    for name in names:
        assert f" {name} " in text
    assert fencepost().stdout == text


@pytest.mark.parametrize(
    "arguments",
    [
        ("serve",),
        ("demo",),
        ("submit",),
        ("bootstrap",),
        ("migrate",),
        ("key", "create"),
        ("key", "list"),
        ("key", "revoke"),
        ("policy", "show"),
        ("policy", "check"),
        ("policy", "activate"),
    ],
    ids=" ".join,
)
def test_each_command_explains_itself(arguments: tuple[str, ...]) -> None:
    done = fencepost(*arguments, "--help")
    assert done.returncode == 0
    assert f"Usage: fencepost {' '.join(arguments)}" in done.stdout
    assert "--without-applier" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("serv",), "Did you mean serve?"),
        (("serve", "--nope"), "--nope"),
        (("serve", "--port", "70000"), "port"),
        (("serve", "--host", "0.0.0.0"), "--insecure"),
        (("key", "creat"), "create"),
        (("key", "create", "--name", "x"), "--role"),
        (("submit",), "FILE"),
        (("submit", "rows.jsonl"), "--key-file"),
        (("submit", "rows.jsonl", "--key-file", "/nonexistent"), "/nonexistent"),
        (("migrate", "--status", "--dry-run"), "exclude"),
        (("policy", "check", "nonexistent"), "neither"),
    ],
)
def test_a_misuse_is_one_clear_line_and_exit_code_2(arguments: tuple[str, ...], says: str) -> None:
    done = fencepost(*arguments)
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert says in done.stderr
    assert done.stdout == ""


def test_a_bad_variable_of_the_environment_is_named() -> None:
    done = fencepost("serve", FENCEPOST_PORT="many")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "FENCEPOST_PORT" in done.stderr


def test_a_policy_is_told_all_its_faults(tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text('version = "x"\n[routes]\ndefault = "nowhere"\n', encoding="utf-8")
    done = fencepost("policy", "check", str(policy))
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "categories" in done.stderr
    assert "queues" in done.stderr
    assert done.stderr.splitlines()[-1].endswith("4 faults, see above.")


@pytest.mark.parametrize("name", ["standard", "hate-offensive"])
def test_the_policies_that_come_with_it_are_fine(name: str) -> None:
    done = fencepost("policy", "check", name)
    assert done.returncode == 0, done.stderr
    assert "is fine" in done.stdout
    assert fencepost("policy", "show", name).stdout.startswith("#")
