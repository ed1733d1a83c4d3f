from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from pipeline.errors import Poison
from pipeline.extraction.triples import TriplesExtractor
from pipeline.model.episode import Episode, Source
from pipeline.model.extraction import Cardinality, Extraction
from pipeline.timeline.precision import Precision

REFERENCE = datetime(2024, 1, 10, 9, tzinfo=UTC)


def triple(**more: Any) -> dict[str, Any]:
    return {
        "subject": {"name": "Ana", "type": "Person"},
        "relation": "WORKS_AT",
        "object": {"name": "Acme"},
    } | more


async def extract(*triples: Any) -> Extraction:
    episode = Episode(
        id="e",
        group_id="g",
        source=Source.triples,
        content=list(triples),
        reference_time=REFERENCE,
        sequence=1,
    )
    return await TriplesExtractor().extract(episode, ())


async def test_everything_is_kept_as_given() -> None:
    found = await extract(
        triple(
            relation="works at",
            fact="Ana  works at Acme!",
            valid_at="2019",
            invalid_at="2020-05",
            cardinality="one",
            attributes={"since": [1, {"a": None}]},
        )
    )
    assert [(m.name, m.type) for m in found.mentions] == [("Ana", "Person"), ("Acme", None)]
    (s,) = found.statements
    assert (s.subject, s.relation, s.object, s.fact) == (0, "works at", 1, "Ana  works at Acme!")
    assert (s.valid_at, s.valid_at_precision) == (datetime(2019, 1, 1, tzinfo=UTC), Precision.year)
    assert (s.invalid_at, s.invalid_at_precision) == (datetime(2020, 5, 1, tzinfo=UTC), Precision.month)
    assert s.cardinality is Cardinality.one
    assert s.attributes == {"since": [1, {"a": None}]}
    assert found.usage.llm_calls == 0


async def test_what_is_missing_is_filled_in() -> None:
    (s,) = (await extract(triple())).statements
    assert s.fact == "Ana works at Acme"
    assert (s.valid_at, s.valid_at_precision) == (REFERENCE, Precision.second)
    assert s.invalid_at is None
    assert s.invalid_at_precision is None
    assert s.cardinality is Cardinality.many


async def test_mentions_are_one_by_key_and_type_with_attributes_merged() -> None:
    found = await extract(
        {
            "subject": {"name": "Ana", "type": "Person", "attributes": {"a": 1, "b": 1}},
            "relation": "KNOWS",
            "object": {"name": "ANA", "type": "Company"},
        },
        {
            "subject": {"name": " ana", "type": "Person", "attributes": {"b": 2}},
            "relation": "IS",
            "object": {"name": "Ana"},
        },
    )
    assert [(m.name, m.type) for m in found.mentions] == [
        ("Ana", "Person"),
        ("ANA", "Company"),
        ("Ana", None),
    ]
    assert found.mentions[0].attributes == {"a": 1, "b": 2}
    assert [(s.subject, s.object) for s in found.statements] == [(0, 1), (0, 2)]


async def test_a_self_loop_is_a_fact_about_one_entity() -> None:
    found = await extract({"subject": {"name": "Ana"}, "relation": "JOGS", "object": {"name": "Ana"}})
    assert len(found.mentions) == 1
    assert (found.statements[0].subject, found.statements[0].object) == (0, 0)


@pytest.mark.parametrize(
    ("invalid_at", "start"),
    [
        ("2023-05-01", None),
        ("2024-01-10T09:00:00Z", None),
        ("2024-01-10T09:00:01Z", REFERENCE),
        ("2025", REFERENCE),
    ],
)
async def test_an_end_in_the_past_alone_leaves_the_start_unknown(
    invalid_at: str, start: datetime | None
) -> None:
    (s,) = (await extract(triple(invalid_at=invalid_at))).statements
    assert s.valid_at == start
    assert s.valid_at_precision == (Precision.second if start else None)


@pytest.mark.parametrize(
    ("content", "field"),
    [
        ("text", "content"),
        ([{"subject": {"name": "A"}}], "content.0.relation"),
        ([triple(valid_at="soon")], "content.0.valid_at"),
    ],
)
async def test_content_that_is_no_list_of_triples_is_poison(content: Any, field: str) -> None:
    episode = Episode(
        id="e", group_id="g", source=Source.triples, content=content, reference_time=REFERENCE, sequence=1
    )
    with pytest.raises(Poison) as caught:
        await TriplesExtractor().extract(episode, ())
    assert caught.value.field == field


async def test_an_empty_list_says_nothing() -> None:
    assert (await extract()).empty
