from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.support.processes import ROOT
from tests.support.served import Served, command, environment, fencepost

pytestmark = pytest.mark.slow

CATEGORIES = "child_safety terror violence hate harassment sexual offensive spam"
LABELS = dict.fromkeys(CATEGORIES.split(), 0.01)


@pytest.fixture(scope="module")
def key(server: Served) -> Path:
    return server.key_file("cli-producer", "producer")


def row(content_id: str, **more: object) -> str:
    return json.dumps({"content_id": content_id, "text": "a post", "labels": LABELS, **more})


def send(
    server: Served, key: Path, file: str, *more: str, stdin: str = "", **changes: str
) -> subprocess.CompletedProcess[str]:
    where = ["--server", server.address, "--key-file", str(key)]
    return fencepost("submit", file, *where, *more, stdin=stdin, **changes)


def write(path: Path, *rows: str) -> str:
    path.write_text("".join(f"{one}\n" for one in rows), encoding="utf-8")
    return str(path)


def test_sending_twice_makes_nothing_new(server: Served, key: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "rows.jsonl", *(row(f"twice-{n}") for n in range(25)))
    first = send(server, key, file, "--batch", "10")
    assert (first.returncode, first.stdout) == (0, "25 rows: 25 new, 0 known before, 0 refused\n")
    second = send(server, key, file)
    assert (second.returncode, second.stdout) == (0, "25 rows: 0 new, 25 known before, 0 refused\n")


def test_a_bad_row_is_named_by_line_and_field_and_the_others_arrive(
    server: Served, key: Path, tmp_path: Path
) -> None:
    bad_score = row("bad-2", labels=LABELS | {"hate": 1.5})
    file = write(tmp_path / "r.jsonl", row("bad-1"), "", bad_score, "[1]", row("bad-3", human=1))
    done = send(server, key, file)
    assert done.returncode == 1
    assert done.stdout == "4 rows: 1 new, 0 known before, 3 refused\n"
    assert "line 3: labels.hate: " in done.stderr
    assert "line 4: not a JSON object" in done.stderr
    assert "line 5: human: " in done.stderr
    assert done.stderr.splitlines()[-1].endswith("3 rows were refused; the lines above name them.")


def test_a_dropped_field_is_not_sent(server: Served, key: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "r.jsonl", row("drop-1", human={"votes": 3}, other=1))
    done = send(server, key, file, "--drop", "human", "--drop", "other")
    assert done.returncode == 0, done.stderr


def test_rows_come_from_standard_input_too(server: Served, key: Path) -> None:
    done = send(server, key, "-", stdin=row("stdin-1") + "\n" + row("stdin-2"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("2 rows: 2 new")


def test_without_a_terminal_there_is_no_control_byte(
    server: Served, key: Path, tmp_path: Path
) -> None:
    file = write(tmp_path / "r.jsonl", row("plain-1"), "not json")
    done = send(server, key, file)
    assert "\x1b" not in done.stderr + done.stdout
    assert "\r" not in done.stderr + done.stdout


def test_on_a_terminal_a_bar_shows_share_rate_and_time_left(
    server: Served, key: Path, tmp_path: Path
) -> None:
    file = write(tmp_path / "r.jsonl", *(row(f"bar-{n}") for n in range(300)))
    ours, theirs = pty.openpty()
    options = ["--server", server.address, "--key-file", str(key), "--batch", "10"]
    child = subprocess.Popen(
        command("submit", file, *options), cwd=ROOT, env=environment(), stderr=theirs, stdout=-3
    )
    os.close(theirs)
    seen = b""
    while True:
        try:
            piece = os.read(ours, 4096)
        except OSError:  # the child has closed its end
            break
        if not piece:
            break
        seen += piece
    os.close(ours)
    assert child.wait(30) == 0
    assert b"%" in seen
    assert b"rows/s" in seen
    assert b"ETA" in seen


def interrupted(server: Served, key: Path, file: str, state: Path) -> subprocess.Popen[str]:
    """Begin to send, and press Ctrl-C once something was acknowledged."""
    options = ["--server", server.address, "--key-file", str(key), "--batch", "1"]
    child = subprocess.Popen(
        # What runs in the background is born deaf to Ctrl-C.
        ["env", "--default-signal=INT", *command("submit", file, *options)],
        cwd=ROOT,
        env=environment(XDG_STATE_HOME=str(state)),
        stderr=subprocess.PIPE,
        text=True,
    )
    give_up = time.monotonic() + 60
    while not list(state.rglob("*.json")):
        assert time.monotonic() < give_up
        assert child.poll() is None
    child.send_signal(signal.SIGINT)
    return child


def test_an_interrupted_run_goes_on_where_it_stopped(
    server: Served, key: Path, tmp_path: Path
) -> None:
    file = write(tmp_path / "r.jsonl", *(row(f"resume-{n}") for n in range(2000)))
    child = interrupted(server, key, file, tmp_path / "state")
    _, said = child.communicate(timeout=60)
    assert child.returncode == 130
    assert said.splitlines()[-1].startswith("fencepost: stopped; the same command goes on")
    done = send(server, key, file, XDG_STATE_HOME=str(tmp_path / "state"))
    assert done.returncode == 0, done.stderr
    assert "going on after line" in done.stderr
    created, known = (int(part.replace(",", "")) for part in numbers(done.stdout))
    assert created + known == 2000
    assert known <= 1, "only what was under way when it stopped may have been sent twice"
    assert not list((tmp_path / "state").rglob("*.json"))


def numbers(summary: str) -> tuple[str, str]:
    words = summary.replace(":", " ").split()
    return words[2], words[4]


def test_a_changed_file_begins_anew_after_an_interruption(
    server: Served, key: Path, tmp_path: Path
) -> None:
    file = write(tmp_path / "r.jsonl", *(row(f"changed-{n}") for n in range(2000)))
    interrupted(server, key, file, tmp_path / "state").communicate(timeout=60)
    write(tmp_path / "r.jsonl", *(row(f"other-{n}") for n in range(3)))
    done = send(server, key, file, XDG_STATE_HOME=str(tmp_path / "state"))
    assert done.stdout.startswith("3 rows: 3 new")


def test_a_wrong_key_is_one_clear_line(server: Served, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.key"
    wrong.write_text(f"fp_live_{'a' * 12}_{'b' * 43}")
    wrong.chmod(0o600)
    done = send(server, wrong, write(tmp_path / "r.jsonl", row("x-1")))
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "refused" in done.stderr


def test_a_server_that_is_not_there_is_one_clear_line(key: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "r.jsonl", row("x-1"))
    done = fencepost("submit", file, "--server", "http://127.0.0.1:9", "--key-file", str(key))
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "no answer from the server" in done.stderr


def test_the_key_may_come_from_the_environment(server: Served, key: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "r.jsonl", row("env-1"))
    done = fencepost(
        "submit", file, FENCEPOST_KEY=key.read_text().strip(), FENCEPOST_SERVER=server.address
    )
    assert done.returncode == 0, done.stderr


def test_a_reviewers_key_sends_nothing(server: Served, tmp_path: Path) -> None:
    reviewer = server.key_file("cli-reviewer", "reviewer")
    done = send(server, reviewer, write(tmp_path / "r.jsonl", row("role-1")))
    assert done.returncode == 1
    assert "role" in done.stderr
