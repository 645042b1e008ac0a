"""The wheel holds all that the product needs, and works from anywhere."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.support.tree import ROOT

LOOK = """
import json
from importlib.resources import files
import backend, shared, sql, tui
from backend.db.migrate import load
from backend.db.statements import statement
print(json.dumps({
    "from": [module.__file__ for module in (backend, shared, sql, tui)],
    "statement": statement("setup", "guarantees").sql,
    "stylesheet": files("tui").joinpath("app.tcss").read_text(),
    "roles": files("sql").joinpath("roles.sql").read_text(),
    "policies": [entry.name for entry in files("backend").joinpath("policies").iterdir()],
    "migrations": len(load()),
}))
"""
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the source archive."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def seen(built: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """What a program sees that has the wheel installed elsewhere."""
    target = tmp_path_factory.mktemp("site")
    (wheel,) = built.glob("*.whl")
    pip = [sys.executable, "-m", "pip", "install", "--no-index", "--no-deps"]
    subprocess.run([*pip, "--target", str(target), str(wheel)], check=True, capture_output=True)
    done = subprocess.run(
        [sys.executable, "-c", LOOK],
        cwd="/",
        env={"PYTHONPATH": str(target)},
        check=True,
        capture_output=True,
        text=True,
    )
    found: dict[str, object] = json.loads(done.stdout)
    sources = found["from"]
    assert isinstance(sources, list)
    assert all(Path(source).is_relative_to(target) for source in sources)
    return found


@pytest.mark.parametrize("part", ["statement", "stylesheet", "roles", "policies", "migrations"])
def test_an_installed_wheel_reads_its_files(seen: dict[str, object], part: str) -> None:
    assert seen[part]


def test_the_wheel_leaves_out_what_is_for_readers_of_the_source(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    listing = subprocess.run(
        [sys.executable, "-m", "zipfile", "-l", str(wheel)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    names = [line.split()[0] for line in listing.splitlines()[1:]]
    assert [name for name in names if name.endswith("README.md") or "tests/" in name] == []
    assert "backend/py.typed" in names


def test_the_source_archive_can_be_set_up_by_itself(built: Path) -> None:
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as files:
        names = {name.partition("/")[2] for name in files.getnames()}
    assert {"run", "requirements.lock", "LICENSE", "tests/conftest.py", "sql/roles.sql"} <= names
