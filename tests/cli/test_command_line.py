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


@pytest.mark.parametrize(
    "address",
    [
        "nonsense",
        "mysql://localhost/x",
        "postgresql://localhost:many/x",
        "postgresql://[::1/x",
        "postgresql:///x?host=/tmp&port=many",
    ],
)
@pytest.mark.parametrize("name", ["DATABASE_URL", "FENCEPOST_ADMIN_URL"])
def test_what_is_no_address_of_a_database_is_said_by_its_name(name: str, address: str) -> None:
    secret = address.replace("//", "//anna:swordfish@", 1)
    for given in (address, secret):
        done = fencepost("migrate", "--status", **{name: given})
        assert done.returncode == 1
        assert done.stderr.count("\n") == 1
        assert name in done.stderr
        assert "swordfish" not in done.stderr


@pytest.mark.parametrize("server", ["ftp://x", "http://[::1", "http://x:many", "x", "http://a@x"])
def test_what_is_no_address_of_a_server_is_said(server: str) -> None:
    done = fencepost("submit", "rows.jsonl", "--server", server, FENCEPOST_KEY="fp_live_x_y")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "address" in done.stderr


def test_a_key_that_others_can_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.write_text("fp_live_x_y")
    path.chmod(0o640)
    done = fencepost("submit", "rows.jsonl", "--key-file", str(path))
    assert done.returncode == 2
    assert "chmod 600" in done.stderr
    assert "fp_live" not in done.stderr


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_closed_standard_stream_is_given_to_nothing_else(closed: str) -> None:
    held = (
        "import os, sys, backend.cli; sys.argv = ['fencepost', '--version']\n"
        "try: backend.cli.main()\n"
        "except SystemExit: pass\n"
        "assert os.open('/dev/null', os.O_RDONLY) > 2\n"
        "assert None not in (sys.stdin, sys.stdout, sys.stderr)\n"
        "assert all(map(os.get_inheritable, (0, 1, 2)))"
    )
    done = subprocess.run(
        ["sh", "-c", f'exec "$0" -c "$1" {closed}', sys.executable, held], timeout=60, check=False
    )
    assert done.returncode == 0


def test_a_policy_is_told_all_its_faults(tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text('version = "x"\n[routes]\ndefault = "nowhere"\n', encoding="utf-8")
    done = fencepost("policy", "check", str(policy))
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "categories" in done.stderr
    assert "queues" in done.stderr
    assert done.stderr.splitlines()[-1].endswith("4 faults, see above.")
    policy.write_text("version = ", encoding="utf-8")
    alone = fencepost("policy", "check", str(policy))
    assert alone.stderr.splitlines()[-1].endswith("1 fault, see above.")


@pytest.mark.parametrize("name", ["standard", "hate-offensive"])
def test_the_policies_that_come_with_it_are_fine(name: str) -> None:
    done = fencepost("policy", "check", name)
    assert done.returncode == 0, done.stderr
    assert "is fine" in done.stdout
    assert fencepost("policy", "show", name).stdout.startswith("#")
