"""The import law holds, goes red when it is broken, and holds at run time too."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.tree import ROOT

LINT = Path(sys.executable).with_name("lint-imports")


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(LINT), "--no-cache"], cwd=folder, check=False, capture_output=True, text=True
    )


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The four packages and their law, elsewhere, to be broken."""
    folder = tmp_path_factory.mktemp("house")
    ignore = shutil.ignore_patterns("__pycache__")
    for package in ("backend", "shared", "sql", "tui"):
        shutil.copytree(ROOT / package, folder / package, ignore=ignore)
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


@pytest.mark.slow
def test_the_import_law_holds(copy: Path) -> None:
    done = lint_imports(copy)
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("backend/domain/rank.py", "import asyncio"),
        ("backend/domain/rank.py", "import backend.db.claim"),
        ("backend/services/claim.py", "import litestar"),
        ("backend/services/claim.py", "import asyncpg"),
        ("backend/services/claim.py", "import backend.api"),
        ("backend/api/__init__.py", "import backend.db.claim"),
        ("tui/state/__init__.py", "import textual"),
        ("tui/screens/__init__.py", "import httpx"),
        ("tui/widgets/__init__.py", "import backend.domain"),
        ("shared/ids.py", "import shared.client"),
        ("shared/ids.py", "import httpx"),
        ("shared/ids.py", "import backend.domain"),
    ],
)
def test_a_forbidden_import_turns_the_law_red(copy: Path, module: str, line: str) -> None:
    path = copy / module
    before = path.read_text(encoding="utf-8")
    path.write_text(f"{before}\n{line}\n", encoding="utf-8")
    try:
        done = lint_imports(copy)
    finally:
        path.write_text(before, encoding="utf-8")
    assert done.returncode == 1
    assert "BROKEN" in done.stdout


@pytest.mark.parametrize(
    ("module", "forbidden"),
    [
        ("backend.api.app", ("textual", "tui")),
        ("backend.workers", ("textual", "litestar", "tui")),
        ("backend.cli.serve", ("textual", "tui")),
        ("backend.cli", ("textual", "litestar", "asyncpg", "tui")),
        ("backend.domain", ("asyncio", "asyncpg", "litestar")),
        ("tui.app", ("litestar", "asyncpg", "uvicorn", "backend")),
        ("tui.__main__", ("litestar", "asyncpg", "uvicorn", "backend")),
        ("shared.client", ("litestar", "asyncpg", "textual", "backend", "tui")),
        ("shared.wire", ("httpx", "litestar", "asyncpg", "textual")),
    ],
)
def test_a_room_does_not_load_what_it_must_not_know(
    module: str, forbidden: tuple[str, ...]
) -> None:
    assert importlib.util.find_spec(module), f"{module} is gone"
    loaded = subprocess.run(
        [sys.executable, "-c", f"import sys, {module}; print(*sys.modules)"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    assert sorted(set(loaded) & set(forbidden)) == []
