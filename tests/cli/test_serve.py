from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from shared.client import Refused
from shared.problems import ProblemCode
from shared.vocabulary import NewsKind
from tests.support.processes import ROOT, is_alive, until
from tests.support.served import (
    Served,
    command,
    environment,
    fencepost,
    home_folder,
    served,
)

pytestmark = pytest.mark.slow

SOON = 5.0
"""Seconds; the promise is 2, the rest is for a busy machine."""


def connect(server: Served) -> socket.socket:
    port = int(server.address.rpartition(":")[2])
    return socket.create_connection(("127.0.0.1", port), timeout=10)


def test_it_stops_at_once_with_open_connections_and_a_request_under_way() -> None:
    with served() as server:
        key = server.key("quick", "producer")
        idle, half_sent, under_way = connect(server), connect(server), connect(server)
        idle.sendall(b"GET /v1/me HTTP/1.1\r\nHost: x\r\n\r\n")
        answer = b""
        while not answer.endswith(b"}"):
            answer += idle.recv(4096)
        assert answer.startswith(b"HTTP/1.1 401")
        half_sent.sendall(b"GET /v1/")
        under_way.sendall(
            b"POST /v1/content HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            b"Authorization: Bearer " + key.encode() + b"\r\nContent-Length: 1000\r\n\r\n{"
        )
        postmaster = server.postmaster()
        code, seconds = server.stop()
        assert code == 0
        assert seconds < SOON
        assert not is_alive(postmaster)
        assert idle.recv(100) == b""
        for one in (idle, half_sent, under_way):
            one.close()


async def test_a_stream_outlives_the_database_and_holds_up_no_stop() -> None:
    with served() as server:
        async with server.client(server.key("watcher", "lead")) as client:
            events: Any = client.live()
            assert (await anext(events)).kind is NewsKind.RESYNC
            os.killpg(server.postmaster(), signal.SIGKILL)
            async with asyncio.timeout(60):
                assert (await anext(events)).kind is NewsKind.RESYNC
            code, seconds = await asyncio.to_thread(server.stop)
            await events.aclose()
        assert code == 0
        assert seconds < SOON
        log = server.log()
    assert log.count('"live.down"') == log.count('"live.up_again"') == 1


@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGHUP], ids=lambda sig: sig.name)
def test_it_stops_at_the_other_signals_too(sig: signal.Signals) -> None:
    with served() as server:
        code, seconds = server.stop(sig)
        assert code == 0
        assert seconds < SOON


def test_a_signal_while_it_is_still_starting_leaves_nothing() -> None:
    with home_folder() as home:
        child = subprocess.Popen(
            command("serve", "--data", str(home / "data"), "--port", "0"),
            cwd=ROOT,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        give_up = time.monotonic() + 60
        while not (home / "data").exists():
            assert time.monotonic() < give_up
            assert child.poll() is None
        child.terminate()
        said, complained = child.communicate(timeout=60)
        assert child.returncode == 128 + signal.SIGTERM
        assert said == ""
        assert complained.splitlines()[-1] == "fencepost: stopped before it served."
        assert not processes_of(home)


def processes_of(folder: Path) -> list[str]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                line = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if os.fsencode(folder) in line and is_alive(int(entry.name)):
                found.append(line.decode())
    return found


async def test_a_killed_database_is_started_again_and_nothing_is_lost() -> None:
    with served() as server:
        key = server.key("steady", "producer")
        async with server.client(key) as client:
            before = await client.me()
            postmaster = server.postmaster()
            os.killpg(postmaster, signal.SIGKILL)
            await until(lambda: "starting it again" in server.log(), "it noticed")
            await until(lambda: server.has_another(postmaster), "it started another")
            assert await client.me() == before
        assert server.stop()[0] == 0


def test_a_folder_serves_one_at_a_time() -> None:
    with served() as server:
        done = fencepost("serve", "--data", str(server.data), "--port", "0")
        assert done.returncode == 1
        assert done.stderr.count("\n") == 1
        assert "is served by process" in done.stderr


def test_a_taken_port_is_one_clear_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, home_folder() as home:
        port = str(taken.getsockname()[1])
        done = fencepost("serve", "--data", str(home / "data"), "--port", port)
        assert done.returncode == 1
        assert done.stderr == f"fencepost: can't listen on 127.0.0.1 port {port}: {BUSY}.\n"
        assert not (home / "data").exists()


BUSY = os.strerror(98)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "example.invalid"])
def test_it_speaks_no_plain_http_to_the_world(host: str) -> None:
    done = fencepost("serve", "--host", host, "--port", "0")
    assert done.returncode == 2
    assert "--insecure" in done.stderr


def test_plain_http_to_the_world_can_be_insisted_on() -> None:
    with served("--host", "0.0.0.0", "--insecure") as server:
        assert server.address.startswith("http://0.0.0.0:")


def test_a_database_that_cannot_be_reached_is_one_clear_line(tmp_path: Path) -> None:
    url = f"postgresql://nobody@/none?host={tmp_path}"
    done = fencepost("serve", "--port", "0", DATABASE_URL=url)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "can't be reached" in done.stderr
    assert "FENCEPOST_ADMIN_URL" in done.stderr


def test_a_folder_beside_a_database_address_is_refused() -> None:
    done = fencepost("serve", "--data", "/tmp/x", "--port", "0", DATABASE_URL="postgresql://x/y")
    assert done.returncode == 2
    assert "--data" in done.stderr


def test_a_policy_with_faults_stops_the_start(tmp_path: Path) -> None:
    policy = tmp_path / "p.toml"
    policy.write_text('version = "x"\n')
    with home_folder() as home:
        done = fencepost(
            "serve", "--data", str(home / "data"), "--port", "0", "--policy", str(policy)
        )
        assert done.returncode == 1
        assert "faults" in done.stderr.splitlines()[-1]


async def test_a_revoked_key_is_refused_within_a_second() -> None:
    with served() as server:
        key = server.key("brief", "reviewer")
        async with server.client(key) as client:
            assert (await client.me()).name == "brief"
            assert server.fencepost("key", "revoke", key.split("_")[2]).returncode == 0
            give_up = time.monotonic() + 10
            with pytest.raises(Refused) as refused:
                while time.monotonic() < give_up:
                    await client.me()
            assert refused.value.code is ProblemCode.UNAUTHENTICATED
        listed = server.fencepost("key", "list")
        assert "revoked" in listed.stdout
        assert key not in listed.stdout


def test_a_key_goes_into_a_file_for_its_owner_alone(server: Served, tmp_path: Path) -> None:
    out = tmp_path / "new.key"
    wanted = ["key", "create", "--name", "filed", "--role", "lead", "--out", str(out)]
    done = server.fencepost(*wanted)
    assert done.returncode == 0, done.stderr
    assert out.stat().st_mode & 0o777 == 0o600
    assert out.read_text().startswith("fp_live_")
    assert "fp_" not in done.stdout
    again = server.fencepost(*wanted)
    assert again.returncode == 2
    assert "is there already" in again.stderr


def test_a_key_is_for_one_queue_if_so_wished(server: Served) -> None:
    done = server.fencepost(
        "key", "create", "--name", "posts-only", "--role", "reviewer", "--queue", "posts"
    )
    assert done.returncode == 0, done.stderr
    assert "reviewer:posts" in server.fencepost("key", "list").stdout
    wrong = server.fencepost("key", "create", "--name", "x", "--role", "lead", "--queue", "nope")
    assert wrong.returncode == 1
    assert "queue" in wrong.stderr


def test_the_list_of_keys_says_until_when_each_is_good(server: Served) -> None:
    made = ["key", "create", "--role", "lead", "--name"]
    assert server.fencepost(*made, "passing", "--days", "30").returncode == 0
    assert server.fencepost(*made, "lasting").returncode == 0
    listed = server.fencepost("key", "list").stdout.splitlines()
    assert re.search(r"passing .* until \d{4}-\d\d-\d\d \d\d:\d\d ", "\n".join(listed))
    assert any("lasting" in line and "without end" in line for line in listed)


def test_a_test_key_opens_no_live_server(server: Served) -> None:
    done = server.fencepost("key", "create", "--name", "t", "--role", "lead", "--env", "test")
    bearer = done.stdout.strip()
    assert bearer.startswith("fp_test_")
    answer = httpx.get(f"{server.address}/v1/me", headers={"authorization": f"Bearer {bearer}"})
    assert answer.status_code == 401


def test_the_schema_stands_where_the_program_does(server: Served) -> None:
    done = server.fencepost("migrate", "--status")
    assert done.returncode == 0, done.stderr
    assert "missing" not in done.stdout
    assert server.fencepost("migrate").stdout == "nothing is missing\n"
    assert server.fencepost("migrate", "--dry-run").stdout == "nothing is missing\n"
    assert server.fencepost("bootstrap").returncode == 0


def test_another_policy_is_put_in_force_and_shown() -> None:
    with served() as server:
        assert server.fencepost("policy", "show").stdout == shown("standard")
        done = server.fencepost("policy", "activate", "hate-offensive")
        in_force, closed, *_ = done.stdout.splitlines()
        assert in_force == "version hate-offensive-1 is in force"
        assert closed == "queue cases is closed"
        assert server.fencepost("policy", "show").stdout == shown("hate-offensive")


def shown(name: str) -> str:
    return fencepost("policy", "show", name).stdout


def test_a_version_of_a_policy_never_changes(server: Served, tmp_path: Path) -> None:
    policy = tmp_path / "edited.toml"
    policy.write_text(shown("standard") + "\n# one more line\n")
    done = server.fencepost("policy", "activate", str(policy))
    assert done.returncode == 1
    assert "version of its own" in done.stderr
