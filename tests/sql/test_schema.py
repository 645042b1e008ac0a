"""`schema.sql` shows the migrated schema."""

from __future__ import annotations

from tests.support.snapshot import FILE, current, tidied


async def test_schema_sql_equals_the_migrated_schema() -> None:
    assert await current() == FILE.read_text(encoding="utf-8"), (
        "write it anew: ./run python -m tests.support.snapshot"
    )


def test_a_dump_is_tidied_of_what_is_not_schema() -> None:
    dump = "--\n-- Name: a\n--\n\n\nSET x = 1;\n\\restrict fencepost\nCREATE TABLE a ();\n\n\n"
    assert tidied(dump).splitlines()[1:] == ["", "CREATE TABLE a ();"]
