"""Words that mix look-alike alphabets: the Cyrillic a in a Latin brand name."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

_ALIKE = frozenset({"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU"})
_WORD = re.compile(r"\w+")


@lru_cache(maxsize=4096)
def alphabet(character: str) -> str | None:
    """Return the alphabet of a letter if it has look-alikes in others, else None."""
    if not character.isalpha():
        return None
    script = unicodedata.name(character, "").partition(" ")[0]
    return script if script in _ALIKE else None


def mixed_words(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each word whose letters come from more than one such alphabet."""
    if text.isascii():
        return
    for word in _WORD.finditer(text):
        if word.group().isascii():
            continue
        scripts = {alphabet(character) for character in set(word.group())} - {None}
        if len(scripts) > 1:
            yield word.start(), word.end()
