"""A policy: one immutable, versioned document that says what is ambiguous and who looks at it.

`parse_policy` turns its TOML text into a `Policy`, or into the list of all that is wrong with it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, TypeVar

import msgspec

from backend.domain.plan import Category
from backend.domain.policy_check import check_policy
from backend.domain.policy_model import (
    Fault,
    Policy,
    PolicyError,
    Queue,
    Scorer,
    policy_sha256,
)
from backend.domain.rank import Weights
from shared.reasons import Reason

__all__ = [
    "Category",
    "Fault",
    "Policy",
    "PolicyError",
    "Queue",
    "Scorer",
    "Weights",
    "check_policy",
    "parse_policy",
    "policy_sha256",
]

MAX_CHARACTERS = 1_000_000
_T = TypeVar("_T")

_SECTIONS = {"version", "title", "routes", "rank", "categories", "scorers", "queues", "reasons"}


class _Routes(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    default: str


def parse_policy(text: str) -> Policy:
    """Return the policy that `text` (TOML) describes.

    Raises PolicyError with every fault: first those of the text, then those of its shape, then
    those between its parts.
    """
    reader = _Reader(_toml(text))
    policy = reader.policy()
    if reader.faults:
        raise PolicyError(tuple(reader.faults))
    faults = check_policy(policy)
    if faults:
        raise PolicyError(faults)
    return policy


def _toml(text: str) -> dict[str, Any]:
    if len(text) > MAX_CHARACTERS:
        raise PolicyError((Fault("", f"longer than {MAX_CHARACTERS} characters"),))
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as fault:
        raise PolicyError((Fault("", f"not TOML: {fault}"),)) from None
    except InvalidOperation:
        raise PolicyError((Fault("", "a number beyond all bounds"),)) from None
    except (RecursionError, ValueError):  # nested without end; a whole number of 5,000 digits
        raise PolicyError((Fault("", "not TOML that can be read"),)) from None


class _Reader:
    """Reads a document piece by piece, so that one fault does not hide the next."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.document = document
        self.faults: list[Fault] = [
            Fault(name, "no such section") for name in document if name not in _SECTIONS
        ]

    def policy(self) -> Policy:
        """Return what could be read; it means something only if there are no faults."""
        routes = self._one("routes", _Routes, _Routes(default=""))
        queues = dict(self._all("queues", Queue))
        reasons = (reason for _, reason in self._all("reasons", Reason, key="code"))
        return Policy(
            version=self._text("version", required=True),
            title=self._text("title"),
            default_queue=routes.default,
            weights=self._one("rank", Weights, Weights(), optional=True),
            categories=dict(self._all("categories", Category)),
            scorers=dict(self._all("scorers", Scorer)),
            queues=queues,
            reasons=tuple(_of_today(reason, queues) for reason in reasons),
        )

    def _text(self, name: str, *, required: bool = False) -> str:
        value = self.document.get(name, None if required else "")
        if not isinstance(value, str):
            self.faults.append(Fault(name, "a text is needed"))
            return ""
        return value

    def _one(self, name: str, shape: type[_T], fallback: _T, *, optional: bool = False) -> _T:
        if name not in self.document:
            if not optional:
                self.faults.append(Fault(name, "this section is missing"))
            return fallback
        return self._convert(name, self.document[name], shape) or fallback

    def _all(
        self, section: str, shape: type[_T], *, key: str | None = None
    ) -> Iterator[tuple[str, _T]]:
        entries = self.document.get(section)
        if not isinstance(entries, dict):
            self.faults.append(Fault(section, "this section is missing or no table"))
            return
        for name, entry in entries.items():
            path = f"{section}.{name}"
            if not isinstance(entry, dict):
                self.faults.append(Fault(path, "a table is needed"))
                continue
            if key is not None and key in entry:
                self.faults.append(Fault(f"{path}.{key}", "its name says it already"))
                continue
            named = entry if key is None else {**entry, key: name}
            value = self._convert(path, named, shape)
            if value is not None:
                yield name, value

    def _convert(self, path: str, value: object, shape: type[_T]) -> _T | None:
        try:
            return msgspec.convert(_floats(value) if shape is Weights else value, shape)
        except msgspec.ValidationError as fault:
            what, _, place = str(fault).partition(" - at `$")
            self.faults.append(Fault(path + place.removesuffix("`"), what))
            return None


def _of_today(reason: Reason, queues: Mapping[str, Queue]) -> Reason:
    """Offer a reason in the heir of each queue that it says by a former name, once."""
    heirs = {old: name for name, queue in queues.items() for old in queue.formerly}
    named = [old if old in queues else heirs.get(old, old) for old in reason.queues]
    if len(set(reason.queues)) == len(named):  # what is said twice is a fault, and stays one
        named = list(dict.fromkeys(named))
    return msgspec.structs.replace(reason, queues=tuple(named))


def _floats(value: object) -> object:
    """Turn a table's decimals into floats: weights are no thresholds."""
    if not isinstance(value, dict):
        return value
    return {
        name: float(member) if isinstance(member, Decimal) else member
        for name, member in value.items()
    }
