"""Decisions of the Neo4j store that need no database."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from pipeline.errors import SettingError
from pipeline.graph.neo4j.codec import scope_token
from pipeline.graph.neo4j.entity_writes import fused, lucene
from pipeline.graph.neo4j.schema import SCHEMA_VERSION, check, index_names, statements
from pipeline.graph.parts import with_identity, with_lines
from pipeline.model.entity import Entity, SummaryLine
from pipeline.text.analysis import search_text

AT = datetime(2024, 5, 1, tzinfo=UTC)
LINE = SummaryLine(fact_id="f", text="Ana lives in Lima.")
ANA = Entity(id="i", group_id="g", name="Ana", description="A doctor.", summary="A doctor.", created_at=AT)


def test_a_newer_schema_is_refused_and_an_older_or_absent_one_is_not() -> None:
    check(None, {}, 3)
    check(SCHEMA_VERSION, {"fact_embedding": 3}, 3)
    check(SCHEMA_VERSION - 1, {}, 3)
    with pytest.raises(SettingError, match=rf"version {SCHEMA_VERSION + 1}"):
        check(SCHEMA_VERSION + 1, {}, 3)


def test_another_dimension_is_refused_with_both_numbers() -> None:
    with pytest.raises(SettingError, match=r"1024.*384"):
        check(SCHEMA_VERSION, {"entity_name_embedding": 384, "fact_embedding": 1024}, 384)


def test_every_index_has_one_statement_and_the_dimension() -> None:
    made = statements(77)
    assert len(made) == len(index_names()) == len(set(index_names()))
    assert all("IF NOT EXISTS" in statement for statement in made)
    assert sum("`vector.dimensions`: 77" in statement for statement in made) == 4
    assert all(any(f" {name} " in statement for statement in made) for name in index_names())


def test_an_unchanged_entity_is_written_as_given() -> None:
    told = ANA.model_copy(update={"lines": (LINE,), "summary": "as given"})
    named = ANA.model_copy(update={"aliases": ("Annie",), "summary": "as given"})
    assert with_identity(None, named) == with_identity(ANA, named) == named
    assert with_lines(None, told) == with_lines(ANA, told) == told


def test_each_stage_changes_its_own_part_only() -> None:
    stood = ANA.model_copy(
        update={"lines": (LINE,), "summary": "A doctor. Ana lives in Lima.", "community_id": "c"}
    )
    named = ANA.model_copy(
        update={"aliases": ("Annie",), "description": "A surgeon.", "summary": "A surgeon."}
    )
    after = with_identity(stood, named)
    assert (after.aliases, after.lines) == (("Annie",), (LINE,))
    assert after.summary == "A surgeon. Ana lives in Lima."
    told = ANA.model_copy(update={"lines": (LINE,), "summary": "A doctor. Ana lives in Lima."})
    after = with_lines(named, told)
    assert (after.aliases, after.lines, after.description) == (("Annie",), (LINE,), "A surgeon.")
    assert after.summary == "A surgeon. Ana lives in Lima."


def test_what_both_methods_find_comes_first() -> None:
    found = fused([(0, "a"), (0, "b"), (2, "z")], [(0, "b"), (0, "c")])
    assert found[0] == ["b", "a", "c"]
    assert found[1] == []
    assert found[2] == ["z"]


def test_a_full_text_query_is_made_of_terms_only() -> None:
    text = search_text('Ana" OR *:* +fs_scope:x \\ ~ Müller ana')
    query = lucene("group", text)
    assert query == (
        f"+fs_scope:{scope_token('group')}^0 "
        "+(fs_text:ana fs_text:or fs_text:fs fs_text:scope fs_text:x fs_text:muller)"
    )
    assert query.count("fs_text:") < lucene("group", " ".join(map(str, range(9999)))).count("fs_text:") <= 512
