"""Rows of Graphiti, good and odd ones, to the records of a group."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from neo4j.time import Date, DateTime

from factstream.graphiti.group import GroupReading
from factstream.graphiti.report import LOST, NOTES, Report
from factstream.graphiti.values import moment
from pipeline.graph.archive import (
    ContributionRecord,
    EntityRecord,
    EpisodeRecord,
    EvidenceRecord,
    FactRecord,
    MarkRecord,
    Record,
    unpacked,
)
from pipeline.model.fact import Fact, view

AT = datetime(2026, 1, 1, tzinfo=UTC)


def day(number: int, year: int = 2024) -> datetime:
    return datetime(year, 1, 1, tzinfo=UTC) + timedelta(days=number - 1)


def episode(name: str, /, **props: Any) -> dict[str, Any]:
    given = {
        "uuid": name, "group_id": "g", "name": f"the {name}", "content": f"Ana: {name}", "source": "message",
        "source_description": "chat", "valid_at": day(1), "created_at": day(2), "entity_edges": [],
    }  # fmt: skip
    saga = props.pop("saga", None)
    return {"props": {**given, **props}, "saga": saga}


def entity(name: str, /, *labels: str, vector: list[float] | None = None, **props: Any) -> dict[str, Any]:
    given = {"uuid": name, "group_id": "g", "name": name.title(), "summary": "", "created_at": day(2)}
    return {"props": {**given, **props}, "labels": ["Entity", *labels], "vector": vector}


def fact(name: str, source: str, relation: str, target: str, /, **props: Any) -> dict[str, Any]:
    vector = props.pop("vector", None)
    given = {
        "uuid": name, "group_id": "g", "name": relation, "fact": f"{source} {relation} {target}",
        "episodes": ["e1"], "valid_at": day(1), "created_at": day(3),
    }  # fmt: skip
    return {"source": source, "target": target, "props": {**given, **props}, "vector": vector}


class Told:
    """A group that was read, and what was told of it."""

    def __init__(self) -> None:
        self.report = Report()
        self.reading = GroupReading("g", 3, AT, self.report)
        self.records: list[Record] = []

    def read(
        self,
        episodes: list[dict[str, Any]],
        entities: list[dict[str, Any]],
        facts: list[dict[str, Any]] | None = None,
        mentions: list[tuple[str, str]] | None = None,
        communities: list[dict[str, Any]] | None = None,
    ) -> Told:
        self.records += self.reading.communities(communities or [])
        self.records += self.reading.episodes(episodes, {"e1"})
        self.records += self.reading.entities(entities)
        self.reading.mentions([{"episode": e, "entity": n} for e, n in mentions or []])
        if facts:
            self.records += self.reading.facts(facts)
        self.records += self.reading.rest()
        return self

    def of(self, kind: type[Any]) -> list[Any]:
        return [record for record in self.records if isinstance(record, kind)]

    @property
    def facts(self) -> dict[str, Fact]:
        return {record.fact.id: record.fact for record in self.of(FactRecord)}


def test_a_small_graph_comes_over_as_it_is() -> None:
    told = Told().read(
        [episode("e1", saga="a saga"), episode("e2", source="json", content='{"a": [1]}', created_at=day(4))],
        [
            entity("ana", "Person", summary="Ana is Ana.", age=41, vector=[1.0, 0.0, 0.0]),
            entity("acme", "Company"),
        ],
        [fact("f1", "ana", "WORKS_AT", "acme", episodes=["e1", "e2"], invalid_at=day(9), since="2019")],
        [("e1", "ana"), ("e1", "acme"), ("e2", "ana")],
        [
            {
                "props": {"uuid": "c", "name": "Both", "summary": "s", "created_at": day(5)},
                "members": ["ana", "acme"],
                "vector": None,
            }
        ],
    )
    assert told.report.lines()[-1] == "everything was carried over"
    one, other = told.of(EpisodeRecord)
    assert (one.episode.id, one.episode.thread_id, one.state) == ("e1", "a saga", "committed")
    assert one.episode.metadata == {"name": "the e1"}
    assert (other.episode.content, other.state) == ({"a": [1]}, "skipped")
    assert one.episode.sequence < other.episode.sequence
    ana, acme = (record.entity for record in told.of(EntityRecord))
    assert (ana.id, ana.type, ana.summary, ana.attributes) == ("ana", "Person", "Ana is Ana.", {"age": 41})
    assert (ana.community_id, acme.community_id, ana.keys) == ("c", "c", ("ana",))
    assert unpacked(told.of(EntityRecord)[0].vector) == [1.0, 0.0, 0.0]
    (found,) = told.facts.values()
    assert found.beliefs[-1].valid_at == day(1)
    assert found.beliefs[-1].invalid_at == day(9)
    assert found.attributes == {"since": "2019"}
    assert found.episodes_at() == ("e1", "e2")
    stated = told.of(EvidenceRecord)
    assert [r.evidence.episode_id for r in stated] == ["e1", "e2"]
    assert stated[1].evidence.recorded_at == day(4)
    assert {s.evidence_id for s in found.support} == {r.evidence.id for r in stated}
    of_ana = [r.contribution for r in told.of(ContributionRecord) if r.contribution.entity_id == "ana"]
    assert [(c.episode_id, c.told[0].ends) for c in of_ana] == [("e1", ((0, 0),)), ("e2", ((0, 0),))]
    assert {(m.episode_id, m.stage) for m in told.of(MarkRecord)} >= {
        ("e1", "resolve_facts"),
        ("e2", "extract"),
    }


def test_what_was_believed_before_a_fact_expired_is_kept() -> None:
    told = Told().read(
        [episode("e1")],
        [entity("ana"), entity("acme")],
        [fact("f1", "ana", "WORKS_AT", "acme", invalid_at=day(5), expired_at=day(8))],
    )
    found = told.facts["f1"]
    before, after = view(found, day(7)), view(found, day(8))
    assert before is not None
    assert after is not None
    assert (before.invalid_at, after.invalid_at) == (None, day(5))
    assert view(found, day(2)) is None


def test_facts_that_say_the_same_are_joined_and_others_are_left() -> None:
    told = Told().read(
        [episode("e1")],
        [entity("ana"), entity("acme")],
        [
            fact("f1", "ana", "WORKS_AT", "acme", invalid_at=day(5)),
            fact("f2", "ana", "WORKS_AT", "acme", valid_at=day(3), invalid_at=day(7)),
            fact("f3", "ana", "WORKS_AT", "acme", valid_at=day(20)),
        ],
    )
    standing = {i: f.beliefs[-1] for i, f in told.facts.items() if f.beliefs[-1].holds}
    assert {i: (b.valid_at, b.invalid_at) for i, b in standing.items()} == {
        "f1": (day(1), day(7)),
        "f3": (day(20), None),
    }
    assert told.report.counts["facts_joined"] == 1
    assert told.facts["f3"].revision == 1
    assert view(told.facts["f2"], day(4)) is not None


def test_facts_and_entities_without_an_episode_get_their_own() -> None:
    told = Told().read(
        [episode("e1")],
        [entity("ana", "Person"), entity("acme"), entity("lonely")],
        [fact("f1", "ana", "WORKS_AT", "acme", episodes=["gone"], reference_time=day(4))],
    )
    apart = {r.episode.id: r.episode for r in told.of(EpisodeRecord)}
    assert apart["graphiti-f1"].content == [
        {
            "subject": {"name": "Ana", "type": "Person"},
            "relation": "WORKS_AT",
            "object": {"name": "Acme"},
            "fact": "ana WORKS_AT acme",
            "valid_at": "2024-01-01T00:00:00Z",
        }
    ]
    assert apart["graphiti-f1"].reference_time == day(4)
    assert told.facts["f1"].episodes_at() == ("graphiti-f1",)
    assert apart["graphiti-entities"].content == {"entities": ["Lonely"]}
    owners = {c.contribution.entity_id: c.contribution.episode_id for c in told.of(ContributionRecord)}
    assert owners == {"ana": "graphiti-f1", "acme": "graphiti-f1", "lonely": "graphiti-entities"}


ODD = [
    ({"episodes": [episode("", content="x")]}, "lost_no_id"),
    ({"episodes": [episode("e" * 300)]}, "lost_too_long"),
    ({"episodes": [episode("e1", source="video")]}, "episodes_source"),
    ({"episodes": [episode("e1", content=None)]}, "episodes_empty"),
    ({"episodes": [episode("e1", created_at=None)]}, "times_missing"),
    ({"episodes": [episode("e1", valid_at=datetime(2024, 5, 1))]}, "times_naive"),
    ({"episodes": [episode("e1", valid_at="sometime")]}, "lost_time"),
    ({"entities": [entity("")]}, "lost_no_id"),
    ({"entities": [entity("ana", name=None)]}, "entities_unnamed"),
    ({"entities": [entity("ana", "Person", "Customer")]}, "entities_labels"),
    ({"entities": [entity("ana"), entity("ana2", name="ANA")]}, "entities_alike"),
    ({"entities": [entity("ana", vector=[1.0])]}, "vectors_other"),
    ({"entities": [entity("ana", where=bytearray(b"x"))]}, "values_as_text"),
    ({"mentions": [("e1", "nobody"), ("gone", "ana")]}, "lost_mention"),
    ({"facts": [fact("", "ana", "KNOWS", "bo")]}, "lost_no_id"),
    ({"facts": [fact("f", "ana", "KNOWS", "elsewhere")]}, "lost_elsewhere"),
    ({"facts": [fact("f", "ana", "KNOWS", "bo", invalid_at=day(1))]}, "lost_inverted"),
    ({"facts": [fact("f", "ana", "KNOWS", "bo", expired_at=day(5))]}, "facts_expired"),
    ({"facts": [fact("f", "ana", None, "bo")]}, "facts_unnamed"),  # type: ignore[arg-type]
    ({"facts": [fact("f", "ana", "KNOWS", "bo", fact="")]}, "facts_wordless"),
    ({"facts": [fact("f", "ana", "KNOWS", "bo", episodes=None)]}, "facts_stated_apart"),
    ({"facts": [fact("f", "ana", "KNOWS", "bo", vector=[1.0] * 9)]}, "vectors_other"),
    (
        {
            "communities": [
                {"props": {"uuid": c, "created_at": day(1)}, "members": ["ana"], "vector": None} for c in "cd"
            ]
        },
        "lost_member",
    ),
    ({"communities": [{"props": {}, "members": [], "vector": None}]}, "lost_no_id"),
]


@pytest.mark.parametrize(("given", "what"), ODD)
def test_odd_rows_are_told_and_stop_nothing(given: dict[str, Any], what: str) -> None:
    rows = {"episodes": [episode("e1")], "entities": [entity("ana"), entity("bo")], **given}
    told = Told().read(**rows)
    assert told.report.counts[what] > 0
    assert what in NOTES or what in LOST
    assert any((NOTES | LOST)[what] in line for line in told.report.lines())


def test_every_kind_of_note_has_a_text_and_a_test() -> None:
    seen = {what for _, what in ODD}
    plain = {"episodes", "entities", "facts", "communities", "mentions", "group_renamed"}
    assert {*NOTES, *LOST} - plain - seen == {"facts_joined", "entities_stated_apart"}


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (None, None),
        ("", None),
        (day(5), day(5)),
        (datetime(2024, 1, 5), day(5)),
        (DateTime(2024, 1, 5), day(5)),
        (Date(2024, 1, 5), day(5)),
        ("2024-01-05", day(5)),
        ("2024-01-05T02:00:00+02:00", day(5)),
        ("2024", day(1)),
        (7, None),
        ("soon", None),
    ],
)
def test_times_of_any_type_are_read(value: Any, read: datetime | None) -> None:
    report = Report()
    assert moment(value, report, "x") == read
    assert bool(report.counts["lost_time"]) is (read is None and value not in (None, ""))


def test_reports_of_groups_add_up(tmp_path: Any) -> None:
    path = tmp_path / "reports"
    for group, amount in (("a", 2), ("b", 3), ("a", 5)):
        report = Report(groups=[group])
        report.note("facts", group, amount)
        report.note("lost_time", f"{group}1")
        report.keep(path)
    total = Report.read(path)
    assert total.counts == {"facts": 8, "lost_time": 2}
    assert total.lines() == ["8 facts", "not carried over:", "2 times that cannot be read (a1, b1)"]
    assert Report.read(tmp_path / "none").lines() == ["everything was carried over"]
