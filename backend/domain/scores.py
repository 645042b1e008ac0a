"""Calibrated scores: exact decimals in [0, 1], read from raw JSON and written as one text each.

A binary float never touches a score: 0.95 in a body is 0.95 at the threshold, in the database, in
the evidence and on screen.
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from json import JSONDecodeError
from json import loads as json_loads
from typing import Any

import msgspec

from backend.domain.refusals import DuplicateKey, InvalidField
from shared.ids import NAME_PATTERN

ZERO = Decimal(0)
ONE = Decimal(1)
MAX_LABELS = 1_000
MAX_PLACES = 400
"""The most decimal places of a score; every binary64 number fits."""

_NAME = re.compile(NAME_PATTERN.removesuffix("$") + r"\Z")
_labels = msgspec.json.Decoder(dict[str, Decimal])
_PLAIN = re.compile(
    rb"""\{ (?:
        [ ]* "[a-z][a-z0-9_-]{0,39}" [ ]* : [ ]*           # a name of the policy's kind
        (?: 0 (?: \.[0-9]{1,64} )?                         # 0, 0.5
          | 1 (?: \.0{1,64} )?                             # 1, 1.0
          | [0-9] (?: \.[0-9]{1,64} )? [eE]-0?[1-9][0-9]?  # 2.5e-07
        ) [ ]* (?: ,(?=[ ]*") | (?=\}) )
    )* \}\Z""",
    re.VERBOSE,
)
"""Labels as nearly everybody sends them: names that may be, scores in [0, 1] of bounded length."""


def is_name(text: str) -> bool:
    """Tell whether the policy may own this name: a category, queue, reason, rule, scorer, kind."""
    return _NAME.match(text) is not None


def score_text(score: Decimal) -> str:
    """Return the one text of a score: plain digits, no exponent, no trailing zeros."""
    text = str(score)
    if "E" in text:
        text = format(score, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def read_labels(raw: bytes | msgspec.Raw) -> dict[str, Decimal]:
    """Return category -> score from the raw JSON of `labels`, in the order sent.

    Raises InvalidField naming `labels` or `labels.<category>` for anything but an object of at most
    1,000 JSON numbers in [0, 1], and DuplicateKey when a category stands twice. A key that is no
    name is pointed at by its place (`labels[3]`), not repeated.
    """
    raw = bytes(raw)
    if raw == b"{}":
        return {}
    if _PLAIN.match(raw) is not None:
        labels = _labels.decode(raw)
        # A key that stood twice was swallowed; but then there are more keys than labels.
        if raw.count(b":") == len(labels) <= MAX_LABELS:
            return labels
    return _read_carefully(raw)


def _read_carefully(raw: bytes) -> dict[str, Decimal]:
    """Read labels pair by pair, so that the first fault is named."""
    pairs = _pairs(raw)
    if len(pairs) > MAX_LABELS:
        raise InvalidField(f"at most {MAX_LABELS} categories", field="labels")
    labels: dict[str, Decimal] = {}
    for place, (name, value) in enumerate(pairs):
        if not is_name(name):
            raise InvalidField(
                f"a category's name matches {NAME_PATTERN}", field=f"labels[{place}]"
            )
        if name in labels:
            raise DuplicateKey("each category may stand once", field=f"labels.{name}")
        labels[name] = _score(value, f"labels.{name}")
    return labels


class _Pairs(list[tuple[str, Any]]):
    """The members of an object, repetitions included."""


class _Number(str):
    """The text of a JSON number."""

    __slots__ = ()


def _pairs(raw: bytes) -> _Pairs:
    try:
        value = json_loads(
            raw.decode(),
            object_pairs_hook=_Pairs,
            parse_float=_Number,
            parse_int=_Number,
            parse_constant=_Number,
        )
    except UnicodeDecodeError:
        raise InvalidField("not valid UTF-8", field="labels") from None
    except JSONDecodeError:
        raise InvalidField("not well-formed JSON", field="labels") from None
    except RecursionError:
        raise InvalidField("nested too deeply", field="labels") from None
    if not isinstance(value, _Pairs):
        raise InvalidField("an object of category and score", field="labels")
    return value


def _score(value: object, field: str) -> Decimal:
    if not isinstance(value, _Number):
        raise InvalidField("a JSON number in [0, 1]", field=field)
    try:
        score = Decimal(value)
        within = ZERO <= score <= ONE
    except InvalidOperation:  # NaN, or an exponent beyond anything that decimals hold
        within = False
        score = ZERO
    if not within:
        raise InvalidField("a score lies in [0, 1]", field=field)
    exponent = score.as_tuple().exponent
    if not isinstance(exponent, int) or exponent < -MAX_PLACES:
        raise InvalidField(f"at most {MAX_PLACES} decimal places", field=field)
    return score
