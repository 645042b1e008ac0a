"""Arguments, environment and key file, read once; the only reader of the environment here."""

from __future__ import annotations

import argparse
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import platformdirs

DEFAULT_SERVER = "http://127.0.0.1:8737"
THEMES = ("dark", "light", "high-contrast", "mono")
_VIEWS = {
    "review": "Open the reviewer's workstation.",
    "lead": "Open the lead's cockpit: the health of every queue.",
}
LOCAL_HOSTS = frozenset({"127.0.0.1", "localhost", "::1"})
_PLAIN_TERMINALS = ("", "dumb", "unknown")


class SettingsError(Exception):
    """Something about the start is wrong; the message is one line for the person."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How one run was asked for."""

    view: str
    """`review` or `lead`."""
    server: str
    key: str
    queue: str | None
    theme: str
    hint: str
    state_dir: Path

    def __repr__(self) -> str:
        return f"Settings(view={self.view!r}, server={self.server!r}, key=<hidden>)"


def read(arguments: list[str]) -> Settings:
    """Return the settings of this run; raises SettingsError, or SystemExit for `--help`."""
    view = arguments[0] if arguments and arguments[0] in _VIEWS else None
    asked = _parser(view).parse_args(arguments[1:] if view else arguments)
    server = asked.server or os.environ.get("FENCEPOST_SERVER") or DEFAULT_SERVER
    return Settings(
        view=view or asked.view,
        server=_server(server, insecure=asked.insecure),
        key=_key(asked.key_file),
        queue=asked.queue,
        theme="mono" if "NO_COLOR" in os.environ and asked.theme is None else asked.theme or "dark",
        hint=asked.hint or "",
        state_dir=Path(platformdirs.user_state_dir("fencepost", appauthor=False)),
    )


def undrawable() -> str | None:
    """Return what TERM says of a terminal that no screen can be drawn on, else None."""
    term = os.environ.get("TERM", "")
    return (term or "not set") if term in _PLAIN_TERMINALS else None


def _parser(view: str | None) -> argparse.ArgumentParser:
    """Return the parser of one view, or of both as long as none is named."""
    parser = argparse.ArgumentParser(
        prog=f"fencepost {view}" if view else "fencepost",
        allow_abbrev=False,  # --key would be taken for --key-file, and a key for a file name
        description=_VIEWS[view] if view else " ".join(_VIEWS.values()),
        epilog="The key comes from --key-file or from FENCEPOST_KEY, never from the command line.",
    )
    if view is None:
        parser.add_argument("view", choices=tuple(_VIEWS))
    parser.add_argument(
        "--server",
        help=f"address of the server; without it FENCEPOST_SERVER, else {DEFAULT_SERVER}",
    )
    parser.add_argument("--key-file", type=Path, help="file with the key; readable by you alone")
    asks = argparse.SUPPRESS if view == "lead" else "queue to work in; without it you are asked"
    parser.add_argument("--queue", help=asks)
    parser.add_argument("--theme", choices=THEMES, help="colours; NO_COLOR means mono")
    parser.add_argument(
        "--insecure", action="store_true", help="allow http:// to another host, readable on the way"
    )
    parser.add_argument("--hint", help=argparse.SUPPRESS)  # the demo's line under the header
    return parser


def _server(address: str, *, insecure: bool) -> str:
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise SettingsError(f"--server {address}: give an address such as {DEFAULT_SERVER}")
    if parts.scheme == "http" and parts.hostname not in LOCAL_HOSTS and not insecure:
        raise SettingsError(
            f"--server {address}: the key would travel in the clear; use https://, or --insecure"
        )
    return address.rstrip("/")


def _key(path: Path | None) -> str:
    key = _key_from(path) if path is not None else os.environ.get("FENCEPOST_KEY", "")
    key = key.strip()
    if not key:
        raise SettingsError("no key: give --key-file FILE, or set FENCEPOST_KEY")
    if not key.isascii() or not key.isprintable() or " " in key:
        raise SettingsError("the key is not one of ours: it holds a space or other signs")
    return key


def _key_from(path: Path) -> str:
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError as error:
        raise SettingsError(f"--key-file {path}: {error.strerror}") from None
    mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(mode):
        os.close(handle)
        raise SettingsError(f"--key-file {path}: not a file")
    with os.fdopen(handle) as file:
        if mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise SettingsError(
                f"--key-file {path}: others can read it (mode {stat.S_IMODE(mode):04o}); "
                f"run chmod 600 on it"
            )
        return file.read(4096)
