"""Query parameters in the house's words: read as text, said once, whole numbers within bounds."""

from __future__ import annotations

from typing import Any

from litestar import Request

from backend.domain.refusals import InvalidField


def said_once(request: Request[Any, Any, Any], *names: str) -> None:
    """Raise InvalidField for a parameter that is there twice: two readers could take two values."""
    for name in names:
        if len(request.query_params.getall(name, [])) > 1:
            raise InvalidField("give it once", field=name)


def whole_number(said: str | None, field: str, *, usual: int, least: int, most: int) -> int:
    """Return a number of plain digits, `usual` if nothing was said. Raises InvalidField."""
    if said is None:
        return usual
    is_number = said.isascii() and said.isdigit() and len(said) <= len(str(most))
    if not is_number or not least <= int(said) <= most:
        raise InvalidField(f"a whole number from {least} to {most}", field=field)
    return int(said)
