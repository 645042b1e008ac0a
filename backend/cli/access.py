"""Which server to speak to, and with which key."""

from __future__ import annotations

from pathlib import Path

from backend import settings
from backend.cli.failure import Failure

_LONGEST_KEY = 1024


def server_from(server: str | None) -> str:
    """Return the server's address: as given, else FENCEPOST_SERVER, else on this machine."""
    chosen = settings.read()
    return server or chosen.server or f"http://127.0.0.1:{chosen.port}"


def key_from(key_file: Path | None) -> str:
    """Return the key in `key_file`, else FENCEPOST_KEY. Raises Failure if there is none.

    A key is never an argument: those are seen by everybody on the machine.
    """
    if key_file is None:
        key = settings.read().key
        if not key:
            raise Failure("a key is needed: --key-file FILE, or FENCEPOST_KEY.", 2)
        return key
    try:
        with key_file.open(encoding="ascii") as file:
            key = file.read(_LONGEST_KEY).strip()
    except UnicodeDecodeError:
        key = ""
    except OSError as error:
        raise Failure(f"{key_file}: {error.strerror}", 2) from None
    if not key or any(sign.isspace() for sign in key):
        raise Failure(f"{key_file} holds no key.", 2)
    return key
