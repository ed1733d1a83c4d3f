"""How each scope is reached in Cypher: patterns, indexes, and the fields that its items are shown with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.graph.neo4j.queries_read import COMMUNITY_FIELDS, ENTITY_FIELDS, EPISODE_FIELDS, FACT_FIELDS
from pipeline.graph.search import Scope


@dataclass(frozen=True)
class Target:
    """How a scope is reached: the pattern that binds x, its indexes, and the fields it is shown with."""

    pattern: str
    kind: str
    embedding: str
    vector_index: str
    text_call: str
    fields: str


TARGETS = {
    Scope.facts: Target(
        "()-[x:RELATES_TO]->()",
        "RELATES_TO",
        "x.fact_embedding",
        "fact_embedding",
        "db.index.fulltext.queryRelationships('fact_text', text) YIELD relationship AS x, score",
        FACT_FIELDS,
    ),
    Scope.entities: Target(
        "(x:Entity)",
        "Entity",
        "x.name_embedding",
        "entity_name_embedding",
        "db.index.fulltext.queryNodes('entity_text', text) YIELD node AS x, score",
        ENTITY_FIELDS,
    ),
    Scope.episodes: Target(
        "(x:Episodic)",
        "Episodic",
        "x.content_embedding",
        "episode_content_embedding",
        "db.index.fulltext.queryNodes('episode_text', text) YIELD node AS x, score",
        EPISODE_FIELDS,
    ),
    Scope.communities: Target(
        "(x:Community)",
        "Community",
        "x.name_embedding",
        "community_name_embedding",
        "db.index.fulltext.queryNodes('community_text', text) YIELD node AS x, score",
        COMMUNITY_FIELDS,
    ),
}


def conjoined(conditions: Sequence[str]) -> str:
    """Conditions to be added to others."""
    return "".join(f" AND {each}" for each in conditions)


def has_direction(embedding: str) -> str:
    """Whether there is a vector and it is not all zeros: the cosine with such a one is an error in Neo4j."""
    return f"any(value IN {embedding} WHERE value <> 0)"
