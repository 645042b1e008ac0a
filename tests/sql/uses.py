"""Where `backend/db` uses a named statement, found in its syntax trees: nobody keeps a list.

Four shapes are understood: `maybe|one|many|run(<statement>, ...)`, a direct call of a statement,
a statement kept in a name, and a function that takes a statement's name and passes it on.
"""

from __future__ import annotations

import ast
import importlib
import re
import typing
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

HELPERS = frozenset({"maybe", "one", "many", "run"})
_ROOM = Path(__file__).resolve().parents[2] / "backend" / "db"
_HEAD = re.compile(r"^-- name: (\w+)\(([^)]*)\)([\^$!]?)$")


class Named(msgspec.Struct, frozen=True, kw_only=True):
    """One statement as its file has it; `kind` is what aiosql is told: `^`, `$`, `!` or nothing."""

    noun: str
    name: str
    kind: str
    parameters: frozenset[str]
    comments: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.noun}.{self.name}"


class Use(msgspec.Struct, frozen=True, kw_only=True):
    """One call of a statement; `row` is the Struct of its rows, None where there is none."""

    noun: str
    name: str
    how: str
    row: type[msgspec.Struct] | None
    keywords: frozenset[str]


def named_statements() -> list[Named]:
    """Read all statements with the comments right below their names."""
    found = []
    for entry in sorted(files("sql").joinpath("queries").iterdir(), key=lambda entry: entry.name):
        noun = entry.name.removesuffix(".sql")
        lines = entry.read_text(encoding="utf-8").splitlines()
        for place, line in enumerate(lines):
            if line.startswith("-- name:"):
                found.append(_named(noun, line, lines[place + 1 :]))
    return found


def _named(noun: str, line: str, below: list[str]) -> Named:
    head = _HEAD.match(line)
    assert head is not None, f"{noun}.sql: this head is not understood: {line}"
    comments = []
    for text in below:
        if not text.startswith("--"):
            break
        comments.append(text.removeprefix("--").strip())
    parameters = frozenset(part.strip() for part in head[2].split(",") if part.strip())
    return Named(
        noun=noun, name=head[1], kind=head[3], parameters=parameters, comments=tuple(comments)
    )


def uses() -> list[Use]:
    """Find every use of a statement in `backend/db`."""
    found: list[Use] = []
    for path in sorted(_ROOM.glob("*.py")):
        if path.stem in ("__init__", "statements"):
            continue
        found += _Reader(importlib.import_module(f"backend.db.{path.stem}"), path).uses()
    return found


class _Reader:
    """Reads one module."""

    def __init__(self, module: ModuleType, path: Path) -> None:
        self.module = module
        self.tree = ast.parse(path.read_text(encoding="utf-8"))
        self.sheets = dict(_sheets(self.tree))
        self.forwarders: dict[str, tuple[str, int]] = {}

    def uses(self) -> Iterator[Use]:
        functions = [n for n in ast.walk(self.tree) if isinstance(n, _FUNCTION)]
        for function in functions:
            yield from self._in(function)
        for function in functions:
            yield from self._forwarded(function)

    def _in(self, function: _Function) -> Iterator[Use]:
        known = _assigned(function)
        for call in _calls(function):
            helper = call.func.id if isinstance(call.func, ast.Name) else ""
            target = call.args[0] if helper in HELPERS and call.args else call.func
            reference = self._reference(target, known)
            if reference is None:
                continue
            noun, name = reference
            if isinstance(name, ast.Name):
                place = [argument.arg for argument in function.args.args].index(name.id)
                self.forwarders[function.name] = (noun, place)
                continue
            yield Use(
                noun=noun,
                name=name,
                how=helper if helper in HELPERS else "value",
                row=self._row(call) if helper in HELPERS - {"run"} else None,
                keywords=frozenset(self._keywords(call, function, known)),
            )

    def _forwarded(self, function: _Function) -> Iterator[Use]:
        for call in _calls(function):
            name = call.func.id if isinstance(call.func, ast.Name) else ""
            if name not in self.forwarders:
                continue
            noun, place = self.forwarders[name]
            keywords = frozenset(self._keywords(call, function, _assigned(function)))
            yield Use(
                noun=noun, name=_text(call.args[place]), how="run", row=None, keywords=keywords
            )

    def _reference(
        self, node: ast.expr, known: Mapping[str, ast.expr]
    ) -> tuple[str, str | ast.Name] | None:
        if isinstance(node, ast.Name) and node.id in known:
            return self._reference(known[node.id], {})
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            noun = self.sheets.get(node.value.id)
            return None if noun is None else (noun, _text(node.slice))
        if isinstance(node, ast.Call) and _is_call_of(node, "statement"):
            sheet, name = node.args
            return _text(sheet), name if isinstance(name, ast.Name) else _text(name)
        return None

    def _row(self, call: ast.Call) -> type[msgspec.Struct]:
        row = call.args[1]
        assert isinstance(row, ast.Name)
        struct: type[msgspec.Struct] = getattr(self.module, row.id)
        assert issubclass(struct, msgspec.Struct)
        return struct

    def _keywords(
        self, call: ast.Call, function: _Function, known: Mapping[str, ast.expr]
    ) -> Iterator[str]:
        for keyword in call.keywords:
            if keyword.arg is not None:
                yield keyword.arg
            elif isinstance(keyword.value, ast.DictComp):
                yield from self._fields(keyword.value, function)
            else:
                assert isinstance(keyword.value, ast.Name)
                packed = known[keyword.value.id]
                assert isinstance(packed, ast.Dict)
                yield from (_text(key) for key in packed.keys if key is not None)

    def _fields(self, packed: ast.DictComp, function: _Function) -> tuple[str, ...]:
        """Return the fields of `{name: ... for name in argument.__struct_fields__}`."""
        source = packed.generators[0].iter
        assert isinstance(source, ast.Attribute)
        assert source.attr == "__struct_fields__"
        assert isinstance(source.value, ast.Name)
        hints = typing.get_type_hints(getattr(self.module, function.name))
        fields: tuple[str, ...] = hints[source.value.id].__struct_fields__
        return fields


_Function = ast.FunctionDef | ast.AsyncFunctionDef
_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)


def _sheets(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Find `_SQL = statements("noun")`."""
    for node in tree.body:
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Call)
            and _is_call_of(node.value, "statements")
            and isinstance(node.targets[0], ast.Name)
        ):
            yield node.targets[0].id, _text(node.value.args[0])


def _assigned(function: _Function) -> dict[str, ast.expr]:
    return {
        node.targets[0].id: node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }


def _calls(function: _Function) -> Iterator[ast.Call]:
    return (node for node in ast.walk(function) if isinstance(node, ast.Call))


def _is_call_of(node: ast.Call, name: str) -> bool:
    return isinstance(node.func, ast.Name) and node.func.id == name


def _text(node: Any) -> str:
    assert isinstance(node, ast.Constant), ast.dump(node)
    assert isinstance(node.value, str)
    return node.value
