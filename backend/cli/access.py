"""Which server to speak to, and with which key."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from urllib.parse import urlsplit

from backend import settings
from backend.cli.failure import Failure

_LONGEST_KEY = 1024


def server_from(server: str | None) -> str:
    """Return the server's address: as given, else FENCEPOST_SERVER, else on this machine.

    Raises Failure for what is no address.
    """
    chosen = settings.read()
    address = server or chosen.server or f"http://127.0.0.1:{chosen.port}"
    try:
        parts = urlsplit(address)
        is_plain = not (parts.username or parts.password or parts.query or parts.fragment)
        # Reading the port raises ValueError if it is no number.
        if parts.scheme in ("http", "https") and parts.hostname and is_plain and parts.port != 0:
            return address
    except ValueError:
        pass
    raise Failure("the server's address must be one such as http://127.0.0.1:8737.", 2)


def key_from(key_file: Path | None) -> str:
    """Return the key in `key_file`, else FENCEPOST_KEY. Raises Failure if there is none.

    A key is never an argument: those are seen by everybody on the machine. For the same reason a
    file that others can read is refused.
    """
    if key_file is None:
        key = settings.read().key
        if not key:
            raise Failure("a key is needed: --key-file FILE, or FENCEPOST_KEY.", 2)
        return key
    try:
        with key_file.open(encoding="ascii") as file:
            mode = os.fstat(file.fileno()).st_mode
            if stat.S_ISREG(mode) and mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise Failure(f"{key_file}: others can read it; run chmod 600 on it.", 2)
            key = file.read(_LONGEST_KEY).strip()
    except UnicodeDecodeError:
        key = ""
    except OSError as error:
        raise Failure(f"{key_file}: {error.strerror}", 2) from None
    if not key or any(sign.isspace() for sign in key):
        raise Failure(f"{key_file} holds no key.", 2)
    return key
