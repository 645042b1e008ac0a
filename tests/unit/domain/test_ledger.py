"""The chain of events: what was written is proved, what was tampered with is found."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime, timedelta, timezone

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.ledger import EVENT_FORMAT, GENESIS, Event, Fact, chain, event_hash, follow
from shared.vocabulary import EventType
from tests.unit.domain.build import GOLDEN

AT = datetime(2026, 1, 5, 12, 0, 0, 123456, tzinfo=UTC)


def fact(**data: object) -> Fact:
    return Fact(type=EventType.DECISION_RECORDED, at=AT, actor="model", data=data)


def made(count: int) -> list[Event]:
    return chain("c-1", 1, GENESIS, [fact(n=n) for n in range(count)])


@pytest.mark.parametrize("vector", json.loads((GOLDEN / "events.json").read_bytes())["vectors"])
def test_golden_events_keep_their_bytes_and_hashes(vector: dict[str, object]) -> None:
    told = vector["facts"]
    assert isinstance(told, list)
    facts = [
        Fact(
            type=EventType(one["type"]),
            at=datetime.fromisoformat(one["at"]),
            actor=one["actor"],
            principal=one["principal"],
            data=one["data"],
        )
        for one in told
    ]
    events = chain(
        str(vector["content"]),
        int(str(vector["start_seq"])),
        bytes.fromhex(str(vector["prev_hash"])),
        facts,
        tenant=str(vector["tenant"]),
    )
    assert [event.canonical.decode() for event in events] == vector["canonical"]
    assert [event.hash.hex() for event in events] == vector["hashes"]


def test_an_event_hash_is_sha256_of_zero_previous_and_canonical_bytes() -> None:
    expected = hashlib.sha256(b"\0" + GENESIS + b"{}").digest()
    assert event_hash(GENESIS, b"{}") == expected


def test_events_follow_one_another_from_genesis() -> None:
    events = made(3)
    assert [event.seq for event in events] == [1, 2, 3]
    assert events[0].prev_hash == GENESIS
    assert events[1].prev_hash == events[0].hash
    end = follow("c-1", events)
    assert (end.seq, end.hash, end.fault) == (3, events[2].hash, None)


def test_a_chain_goes_on_where_it_was_left() -> None:
    first = made(2)
    later = chain("c-1", 3, first[-1].hash, [fact(n=2)])
    assert [*first, *later] == made(3)


def test_no_facts_make_no_events() -> None:
    assert made(0) == []
    assert follow("c-1", []).hash == GENESIS


def test_one_instant_has_one_text_whatever_its_offset() -> None:
    elsewhere = AT.astimezone(timezone(timedelta(hours=-7)))
    moved = msgspec.structs.replace(fact(), at=elsewhere)
    assert chain("c-1", 1, GENESIS, [moved]) == chain("c-1", 1, GENESIS, [fact()])
    assert b'"at":"2026-01-05T12:00:00.123456Z"' in chain("c-1", 1, GENESIS, [moved])[0].canonical


def test_a_time_without_an_offset_is_refused() -> None:
    with pytest.raises(ValueError, match="offset"):
        chain("c-1", 1, GENESIS, [msgspec.structs.replace(fact(), at=datetime(2026, 1, 5))])  # noqa: DTZ001


def test_a_float_has_no_place_in_an_event() -> None:
    with pytest.raises(ValueError, match="float"):
        chain("c-1", 1, GENESIS, [fact(score=0.5)])


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_changed_event_is_found(place: int) -> None:
    events = made(3)
    forged = events[place].canonical.replace(b'"actor":"model"', b'"actor":"rules"')
    events[place] = msgspec.structs.replace(events[place], canonical=forged)
    end = follow("c-1", events)
    assert (end.seq, end.fault) == (place, f"event {place + 1} is not what was hashed")


def test_a_changed_event_with_a_hash_of_its_own_breaks_the_next() -> None:
    events = made(3)
    forged = events[0].canonical.replace(b'"n":0', b'"n":9')
    events[0] = msgspec.structs.replace(
        events[0], canonical=forged, hash=event_hash(GENESIS, forged)
    )
    assert follow("c-1", events).fault == "event 2 does not follow the one before it"


@pytest.mark.parametrize("dropped", [0, 1])
def test_a_dropped_event_is_found(dropped: int) -> None:
    events = made(3)
    del events[dropped]
    assert follow("c-1", events).fault == f"event {dropped + 1} is missing"


def test_swapped_events_are_found() -> None:
    one, two, three = made(3)
    assert follow("c-1", [one, three, two]).fault == "event 2 is missing"


def test_a_renumbered_event_is_found() -> None:
    one, _, three = made(3)
    renumbered = msgspec.structs.replace(three, seq=2)
    assert follow("c-1", [one, renumbered]).fault is not None


def test_a_chain_of_another_content_tenant_or_type_is_found() -> None:
    events = made(1)
    assert follow("c-2", events).fault == "event 1 speaks of something else"
    assert follow("c-1", events, tenant="other").fault == "event 1 speaks of something else"
    renamed = msgspec.structs.replace(events[0], type=EventType.ITEM_QUEUED)
    assert follow("c-1", [renamed]).fault == "event 1 speaks of something else"


def test_bytes_that_are_no_json_are_found_even_with_a_true_hash() -> None:
    junk = b"\xff"
    event = Event(
        seq=1,
        type=EventType.ITEM_QUEUED,
        prev_hash=GENESIS,
        canonical=junk,
        hash=event_hash(GENESIS, junk),
    )
    assert follow("c-1", [event]).fault == "event 1 speaks of something else"


values = st.recursive(
    st.none() | st.booleans() | st.text(max_size=5) | st.integers(-(2**53) + 1, 2**53 - 1),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@given(st.lists(st.dictionaries(st.text(max_size=5), values, max_size=3), max_size=4))
def test_any_chain_holds_and_any_flipped_byte_is_found(data: list[dict[str, object]]) -> None:
    events = chain("c-1", 1, GENESIS, [fact(data=one) for one in data])
    assert follow("c-1", events).fault is None
    for place, event in enumerate(events):
        middle = len(event.canonical) // 2
        flipped = bytearray(event.canonical)
        flipped[middle] ^= 1
        broken = [*events]
        broken[place] = msgspec.structs.replace(event, canonical=bytes(flipped))
        assert follow("c-1", broken).seq == place


def test_golden_events_are_of_this_format() -> None:
    assert json.loads((GOLDEN / "events.json").read_bytes())["format"] == EVENT_FORMAT
