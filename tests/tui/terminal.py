"""The real program on a real pseudo-terminal, against a loopback server in this process."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx
import pyte

from tests.tui.fake_server import FakeServer

ROOT = Path(__file__).parents[2]
KEY = "fp_test_reviewer_c2VjcmV0LXNlY3JldC1zZWNyZXQ"
_ON_A_TERMINAL = (
    "import fcntl,os,sys,termios;"
    "fcntl.ioctl(0,termios.TIOCSCTTY,0);os.execv(sys.argv[1],sys.argv[1:])"
)


class Loopback:
    """Serves a FakeServer on 127.0.0.1; `pause` holds answers back."""

    def __init__(self, fake: FakeServer) -> None:
        handler = _handler(fake)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _handler(fake: FakeServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            assert self.headers["authorization"] == f"Bearer {KEY}"
            url = f"http://loopback{self.path}"
            reply = fake.handle(httpx.Request(self.command, url, content=body))
            self.send_response(reply.status_code)
            self.send_header("content-length", str(len(reply.content)))
            self.end_headers()
            self.wfile.write(reply.content)

        do_GET = do_POST = answer  # noqa: N815  (as the base class calls them)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return Handler


class Terminal:
    """A pseudo-terminal with the program in it; every byte that it writes is kept."""

    def __init__(
        self, server: str, folder: Path, *arguments: str, size: tuple[int, int] = (120, 40),
        view: str = "review", environment: dict[str, str] | None = None,
    ) -> None:  # fmt: skip
        folder.mkdir(parents=True, exist_ok=True)
        key = folder / "key"
        key.write_text(KEY + "\n")
        key.chmod(0o600)
        self.size = size
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        command = [
            sys.executable, "-c", _ON_A_TERMINAL, sys.executable, "-P", "-m", "tui", view,
            "--server", server, "--key-file", str(key), *arguments,
        ]  # fmt: skip
        self.process = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, close_fds=True,
            start_new_session=True, env={**_environment(folder), **(environment or {})},
        )  # fmt: skip
        os.close(slave)
        self.output = bytearray()
        self._screen = pyte.Screen(*size)
        self._stream = pyte.ByteStream(self._screen)
        self._fed = 0
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        while True:
            try:
                data = os.read(self._master, 65536)
            except OSError:
                return
            if not data:
                return
            self.output += data

    def type(self, keys: str) -> None:
        """Write to the terminal at once, as a paste would."""
        os.write(self._master, keys.encode())

    def press(self, *keys: str, gap: float = 0.08) -> None:
        """Write keys at a human pace."""
        for key in keys:
            self.type(key)
            time.sleep(gap)

    def wait_for(self, condition: Callable[[], object], seconds: float = 20.0) -> None:
        """Wait until something is true; fail with the screen if it never is."""
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, "\n".join(self.display())
            time.sleep(0.02)

    def wait_for_text(self, text: str, seconds: float = 20.0) -> None:
        """Wait until `text` is on the screen."""
        self.wait_for(lambda: text in "\n".join(self.display()), seconds)

    def screen(self) -> pyte.Screen:
        """Return what a terminal makes of the output so far."""
        fresh = bytes(self.output[self._fed :])
        begun = fresh.rfind(b"\x1b")
        if begun >= 0 and begun > len(fresh) - _LONGEST:
            fresh = fresh[:begun]  # may be half a sequence
        self._fed += len(fresh)
        self._stream.feed(_PRIVATE.sub(b"", fresh))
        return self._screen

    def display(self) -> list[str]:
        """Return the rows of the screen."""
        rows: list[str] = self.screen().display
        return rows

    def hang_up(self) -> None:
        """Close the window."""
        os.close(self._master)
        self._master = -1

    def end(self) -> int:
        """Wait for the end of the program; return its exit code, or minus the signal."""
        return self.process.wait(timeout=10)

    def close(self) -> None:
        """Leave nothing behind."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        if self._master >= 0:
            os.close(self._master)
        self._reader.join(timeout=5)


_LONGEST = 48
"""More bytes than any sequence of ours has."""
_PRIVATE = re.compile(rb"\x1b\[[<>=?][0-9;]*[a-z$]*[a-zA-Z]")
"""Sequences of modes and keyboards, which the emulator would misread."""


def _environment(folder: Path) -> dict[str, str]:
    return {
        "HOME": str(folder), "XDG_STATE_HOME": str(folder / "state"), "TERM": "xterm-256color",
        "COLORTERM": "truecolor", "LANG": "C.UTF-8", "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT), "TZ": "UTC",
    }  # fmt: skip
