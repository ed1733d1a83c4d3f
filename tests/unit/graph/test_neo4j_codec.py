"""Rows of Neo4j to the model, and the model to properties."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from neo4j.time import DateTime

from pipeline.errors import SettingError
from pipeline.graph.entity_port import EntityWrite
from pipeline.graph.fact_port import FactWrite
from pipeline.graph.neo4j import codec
from pipeline.graph.neo4j.codec import (
    UNBOUNDED_FUTURE,
    UNBOUNDED_PAST,
    index_key,
    micros,
    moment,
    scope_token,
    tag,
)
from pipeline.graph.neo4j.properties import (
    entity_parameters,
    episode_properties,
    evidence_parameters,
    fact_parameters,
    slot_id,
    triplet_id,
    type_labels,
    vector,
)
from pipeline.identity import stable_id
from pipeline.model.entity import Entity, SummaryLine
from pipeline.model.episode import Episode, EpisodeState, Source, Speaker, Usage
from pipeline.model.fact import Belief, EntityRef, Fact, Support
from pipeline.text.analysis import terms
from pipeline.timeline.evidence import Evidence

AT = datetime(2024, 5, 1, 12, 30, 15, 123456, tzinfo=UTC)
TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
MOMENTS = st.datetimes(
    min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30), timezones=st.just(UTC)
)  # fmt: skip


def entity_row(parameters: dict[str, Any], group: str) -> dict[str, Any]:
    """What the database would answer for an entity that was written so."""
    found = parameters["properties"]
    return {
        "id": parameters["uuid"],
        "group_id": group,
        "name": found["name"],
        "type": found["fs_full_type"] or found["fs_type"],
        "aliases": found["fs_aliases"],
        "keys": found["fs_keys"],
        "summary": found["summary"],
        "description": found["fs_description"],
        "lines": found["fs_lines"],
        "attributes": found["fs_attributes"],
        "created_at": DateTime.from_native(parameters["created_at"]),
        "community": None,
    }


@given(TEXT, st.none() | TEXT, st.lists(TEXT, max_size=3), st.dictionaries(TEXT, JSON, max_size=3), MOMENTS)
def test_entities_round_trip(
    name: str, kind: str | None, aliases: list[str], attributes: dict[str, Any], at: datetime
) -> None:
    before = Entity(
        id="i",
        group_id="g",
        name=name,
        type=kind,
        aliases=tuple(aliases),
        keys=tuple(aliases),
        summary=name,
        description=name,
        lines=(SummaryLine(fact_id="f", text=name),),
        attributes=attributes,
        created_at=at,
    )
    after = codec.entity(entity_row(entity_parameters(EntityWrite(before), 3), "g"))
    assert after == before
    assert json.dumps(after.attributes) == json.dumps(before.attributes)


def test_an_entity_of_another_program_reads_with_empty_parts() -> None:
    row = dict.fromkeys(
        ("type", "aliases", "keys", "summary", "description", "lines", "attributes", "community")
    )
    found = codec.entity(
        {**row, "id": "i", "group_id": "g", "name": "n", "created_at": DateTime.from_native(AT)}
    )
    assert found == Entity(id="i", group_id="g", name="n", created_at=AT)


@given(JSON, st.dictionaries(TEXT, TEXT | st.integers(-(2**60), 2**60) | st.booleans(), max_size=3), MOMENTS)
def test_episodes_round_trip(content: Any, metadata: dict[str, Any], at: datetime) -> None:
    before = Episode(
        id="e",
        group_id="g",
        source=Source.json,
        content=content,
        reference_time=at,
        sequence=7,
        speaker=Speaker(name="Ana"),
        metadata=metadata,
    )
    found = episode_properties(before, None, AT)
    row = {
        "episode": found["fs_episode"],
        "state": found["fs_state"],
        "usage": found["fs_usage"],
        "created_at": DateTime.from_native(found["created_at"]),
        "reason": None,
    }
    after = codec.stored_episode(row)
    assert after.episode == before
    assert (after.state, after.usage, after.created_at) == (EpisodeState.received, Usage(), AT)
    assert {type(v) for v in after.episode.metadata.values()} == {type(v) for v in metadata.values()}


def test_communities_read() -> None:
    row = {"id": "c", "group_id": "g", "name": "n", "summary": "s", "members": ["b", "a"]}
    found = codec.community({**row, "created_at": DateTime.from_native(AT)})
    assert (found.id, found.members, found.created_at) == ("c", ("b", "a"), AT)


def a_fact(*beliefs: Belief, **changes: Any) -> Fact:
    given_: dict[str, Any] = {
        "id": "f",
        "group_id": "g",
        "source": EntityRef(id="s", name="Ana Müller"),
        "target": EntityRef(id="t", name="Acme"),
        "relation": "WORKS_AT",
        "fact": "Ana works at Acme",
        "attributes": {"a": [{"b": 1.5}]},
        "beliefs": beliefs,
        "support": (
            Support(episode_id="e1", known_from=AT),
            Support(episode_id="e2", known_from=AT, known_to=AT),
        ),
    }
    return Fact(**{**given_, **changes})


def test_an_open_fact_counts_for_searches_now_and_a_closed_one_does_not() -> None:
    day = timedelta(days=1)
    opened = Belief(known_from=AT, valid_at=AT)
    closed = Belief(known_from=AT + day, valid_at=AT, invalid_at=AT + day)
    future = Belief(known_from=AT + day, valid_at=AT, invalid_at=AT + 9 * day)
    gone = Belief(known_from=AT + day, holds=False)
    token = scope_token("g")

    def properties(*beliefs: Belief) -> dict[str, Any]:
        found = fact_parameters(FactWrite(a_fact(*beliefs)), 3, AT + day)["properties"]
        return dict(found)

    assert properties(opened)["fs_scope"] == f"{token} {token}n"
    assert properties(opened, future)["fs_scope"] == f"{token} {token}n"
    assert properties(opened, closed)["fs_scope"] == token
    assert properties(opened, gone)["fs_scope"] == token
    found = properties(opened, gone)
    assert (found["fs_valid_from"], found["fs_valid_to"]) == (UNBOUNDED_FUTURE, UNBOUNDED_PAST)
    assert found["fs_belief_valid"] == [micros(AT), UNBOUNDED_FUTURE]
    assert found["fs_belief_invalid"] == [UNBOUNDED_FUTURE, UNBOUNDED_PAST]
    assert (found["valid_at"], found["expired_at"], found["created_at"]) == (AT, AT + day, AT)
    assert (found["episodes"], found["fs_text"]) == (["e1"], "ana work at acm ana muller acm work at")
    assert codec.fact({"fact": found["fs_fact"]}) == a_fact(opened, gone)
    assert "fact_embedding" not in found
    unknown = properties(Belief(known_from=AT))
    assert (unknown["fs_valid_from"], unknown["fs_valid_to"]) == (UNBOUNDED_PAST, UNBOUNDED_FUTURE)


def test_evidence_is_found_under_the_triplet_of_its_fact() -> None:
    item = Evidence(
        id="v",
        episode_id="e",
        subject="s",
        relation="R",
        object="o",
        reference_time=AT,
        sequence=1,
        recorded_at=AT,
    )
    found = evidence_parameters(item)["properties"]
    assert found["fs_triplet"] == triplet_id("s", "R", "o") == stable_id("triplet", "s", "R", "o")
    assert found["fs_slot"] == slot_id("s", "R") == stable_id("slot", "s", "R")
    assert Evidence.model_validate_json(found["fs_json"]) == item
    other = fact_parameters(FactWrite(a_fact(Belief(known_from=AT))), 3, AT)["properties"]
    assert other["fs_triplet"] == triplet_id("s", "WORKS_AT", "t")


@given(MOMENTS)
def test_microseconds_are_exact(at: datetime) -> None:
    assert datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=micros(at)) == at
    assert UNBOUNDED_PAST < micros(at) < UNBOUNDED_FUTURE


def test_moments_come_back_in_utc() -> None:
    zone = timezone(timedelta(hours=5, minutes=30))
    assert moment(DateTime.from_native(AT.astimezone(zone))) == AT
    assert moment(DateTime.from_native(AT.astimezone(zone))).utcoffset() == timedelta(0)
    assert moment(AT) == AT


def test_tags_tell_json_types_apart() -> None:
    assert tag("k", 1.0) == tag("k", 1) == '["k",1]'
    assert len({tag("k", v) for v in (1, True, "1", 1.5, "true")}) == 5
    assert tag('a","b', "c") != tag("a", 'b","c')


@given(TEXT, TEXT)
def test_index_keys_fit_and_tell_texts_apart(one: str, two: str) -> None:
    assert index_key(one) == one
    long_one, long_two = one + "x" * 5000, two + "x" * 5000
    assert len(index_key(long_one).encode()) < 2000
    assert (index_key(long_one) == index_key(long_two)) == (long_one == long_two)


def test_no_text_of_an_episode_is_indexed_whole_at_any_length() -> None:
    """A filter property of a vector index that is too long would stop the whole database."""
    long = "ж" * 40_000
    who = Entity(id="i", group_id="g", name=long, type=long, keys=(long,), created_at=AT)
    written = entity_parameters(EntityWrite(who), 3)
    assert codec.entity(entity_row(written, "g")) == who
    talk = Episode(
        id="e", group_id="g", source=Source.text, content=long, reference_time=AT, sequence=1, thread_id=long
    )
    known = fact_parameters(FactWrite(a_fact(Belief(known_from=AT), relation=long)), 3, AT)["properties"]
    indexed = [
        written["properties"]["fs_type"],
        *written["keys"],
        *written["labels"],
        episode_properties(talk, None, AT)["fs_thread"],
        known["name"],
        known["fs_triplet"],
    ]
    assert all(len(text.encode()) <= 4000 for text in indexed)
    assert codec.fact({"fact": known["fs_fact"]}).relation == long


def test_a_group_is_one_term_of_letters_and_digits() -> None:
    token = scope_token("a `}) OR * group")
    assert terms(token) == [token]
    assert token != scope_token("another")


@pytest.mark.parametrize(
    ("kind", "labels"),
    [
        (None, []),
        ("", []),
        ("\0", []),
        ("Entity", []),
        ("Episodic", []),
        ("Lane", []),
        ("Person`) //", ["Person`) //"]),
        ("x" * 999, ["x" * 200]),
    ],
)
def test_types_as_labels(kind: str | None, labels: list[str]) -> None:
    assert type_labels(Entity(id="i", group_id="g", name="n", type=kind, created_at=AT)) == labels


def test_a_vector_has_the_length_of_the_index() -> None:
    assert vector(None, 3) is None
    assert vector((1, 2, 3), 3) == [1.0, 2.0, 3.0]
    with pytest.raises(SettingError, match=r"2.*3"):
        vector([1.0, 2.0], 3)
