"""The model as properties of nodes and relationships, and as parameters of the queries that write them."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from pipeline.errors import SettingError
from pipeline.graph.community_port import CommunityWrite
from pipeline.graph.entity_port import EntityWrite
from pipeline.graph.fact_port import FactWrite
from pipeline.graph.neo4j.codec import (
    UNBOUNDED_FUTURE,
    UNBOUNDED_PAST,
    index_key,
    micros,
    scope_token,
    tag,
    told_json,
)
from pipeline.graph.vector import Vector
from pipeline.identity import stable_id
from pipeline.model.entity import Entity
from pipeline.model.episode import Episode, EpisodeState, Usage
from pipeline.model.fact import Belief, Fact, last_view
from pipeline.model.provenance import Contribution, Merge
from pipeline.text.analysis import search_text
from pipeline.timeline.evidence import Evidence

Properties = dict[str, Any]

# Labels that have a meaning of their own here: a type of such a name stays a property and does not become a label.
RESERVED_LABELS = frozenset(
    {
        "Entity",
        "Episodic",
        "Community",
        "EntityKey",
        "Evidence",
        "Lane",
        "StageMark",
        "Merge",
        "FactstreamSchema",
    }
)
MAX_LABEL_CHARACTERS = 200


def vector(values: Vector | None, dimension: int) -> list[float] | None:
    """A vector as it is stored. SettingError when it has another length than the indexes."""
    if values is None:
        return None
    if len(values) != dimension:
        raise SettingError(
            f"the embedder gives vectors of dimension {len(values)}, the graph is set up for {dimension}"
        )
    return [float(value) for value in values]


def slot_id(subject: str, relation: str) -> str:
    """The id of a (subject, relation)."""
    return stable_id("slot", subject, relation)


def triplet_id(subject: str, relation: str, value: str) -> str:
    """The id of a (subject, relation, object)."""
    return stable_id("triplet", subject, relation, value)


def type_labels(entity: Entity) -> list[str]:
    """The labels of an entity beside `Entity`: its type, as far as a label can say it."""
    label = (entity.type or "").replace("\0", "")[:MAX_LABEL_CHARACTERS]
    return [label] if label and label not in RESERVED_LABELS else []


def episode_properties(episode: Episode, embedding: list[float] | None, at: datetime) -> Properties:
    """All properties of a new episode but its id and group."""
    content = episode.content
    return {
        "name": episode.id,
        "content": content if isinstance(content, str) else json.dumps(content, ensure_ascii=False),
        "source": episode.source.value,
        "source_description": episode.source_description or "",
        "valid_at": episode.reference_time,
        "created_at": at,
        "content_embedding": embedding,
        "fs_episode": episode.model_dump_json(),
        "fs_state": EpisodeState.received.value,
        "fs_usage": Usage().model_dump_json(),
        "fs_sequence": episode.sequence,
        "fs_reference": micros(episode.reference_time),
        "fs_created": micros(at),
        "fs_thread": None if episode.thread_id is None else index_key(episode.thread_id),
        "fs_tags": [tag(key, value) for key, value in sorted(episode.metadata.items())],
        "fs_text": search_text(episode.text),
        "fs_scope": scope_token(episode.group_id),
    }


def entity_parameters(write: EntityWrite, dimension: int) -> Properties:
    """One element of the parameter `entities`. Without a new embedding the stored one stays."""
    entity = write.entity
    properties: Properties = {
        "name": entity.name,
        "summary": entity.summary,
        **_type_properties(entity.type),
        "fs_aliases": list(entity.aliases),
        "fs_keys": list(entity.keys),
        "fs_description": entity.description,
        "fs_attributes": json.dumps(entity.attributes, ensure_ascii=False),
        "fs_lines": json.dumps([line.model_dump() for line in entity.lines], ensure_ascii=False),
        "fs_text": search_text(entity.name, *entity.aliases, entity.summary),
        "fs_scope": scope_token(entity.group_id),
    }
    embedding = vector(write.name_embedding, dimension)
    if embedding is not None:
        properties["name_embedding"] = embedding
    return {
        "uuid": entity.id,
        "created_at": entity.created_at,
        "created": micros(entity.created_at),
        "labels": type_labels(entity),
        "keys": list(dict.fromkeys(index_key(key) for key in entity.keys if key)),
        "properties": properties,
    }


def evidence_parameters(evidence: Evidence) -> Properties:
    """One element of the parameter `evidence`."""
    return {
        "uuid": evidence.id,
        "properties": {
            "fs_slot": slot_id(evidence.subject, evidence.relation),
            "fs_triplet": triplet_id(evidence.subject, evidence.relation, evidence.object),
            "fs_object_slot": slot_id(evidence.object, evidence.relation) if evidence.symmetric else None,
            "fs_cardinality": evidence.cardinality.value,
            "fs_episode_id": evidence.episode_id,
            "fs_recorded": micros(evidence.recorded_at),
            "fs_json": evidence.model_dump_json(),
        },
    }


def mention_id(group_id: str, episode_id: str, entity_id: str) -> str:
    """The id of a MENTIONS relationship."""
    return stable_id("mentions", group_id, episode_id, entity_id)


def contribution_parameters(group_id: str, one: Contribution) -> Properties:
    """One element of the parameter `mentions` where any episode may be meant."""
    return {
        "uuid": mention_id(group_id, one.episode_id, one.entity_id),
        "episode": one.episode_id,
        "entity": one.entity_id,
        "at": one.at,
        "place": one.place,
        "told": told_json(one.told),
    }


def created_parameters(entity: Properties) -> Properties:
    """One element of the parameter `entities` of SET_CREATED, from one of `entity_parameters`."""
    return {name: entity[name] for name in ("uuid", "created_at", "created")}


def move_parameters(group_id: str, entity_id: str, community_id: str | None) -> Properties:
    """One element of the parameter `moves`, with the id of the HAS_MEMBER relationship."""
    uuid = stable_id("has_member", group_id, community_id or "", entity_id)
    return {"entity": entity_id, "community": community_id, "uuid": uuid}


def merge_parameters(merge: Merge) -> Properties:
    """One element of the parameter `merges`."""
    return {"uuid": merge.id, "json": merge.model_dump_json()}


def fact_parameters(write: FactWrite, dimension: int, at: datetime) -> Properties:
    """One element of the parameter `facts`; `at` decides whether the fact counts as open in full-text search."""
    fact = write.fact
    shown = last_view(fact)
    starts, ends = zip(*(_interval(belief) for belief in fact.beliefs), strict=True)
    scope = scope_token(fact.group_id)
    properties: Properties = {
        # Kept whole in fs_fact; see index_key for why not here.
        "name": index_key(fact.relation),
        "fact": fact.fact,
        "episodes": list(shown.episodes),
        "valid_at": shown.valid_at,
        "invalid_at": shown.invalid_at,
        "created_at": shown.created_at,
        "expired_at": shown.expired_at,
        "fs_triplet": _triplet_of(fact),
        "fs_source": fact.source.id,
        "fs_target": fact.target.id,
        "fs_valid_from": starts[-1],
        "fs_valid_to": ends[-1],
        "fs_created": micros(shown.created_at),
        "fs_belief_from": [micros(belief.known_from) for belief in fact.beliefs],
        "fs_belief_valid": list(starts),
        "fs_belief_invalid": list(ends),
        "fs_support_episode": [support.episode_id for support in fact.support],
        "fs_support_from": [micros(support.known_from) for support in fact.support],
        "fs_support_to": [
            UNBOUNDED_FUTURE if support.known_to is None else micros(support.known_to)
            for support in fact.support
        ],
        "fs_fact": fact.model_dump_json(),
        "fs_revision": fact.revision,
        "fs_hyperedge": fact.hyperedge,
        "fs_cardinality": fact.cardinality,
        "fs_text": search_text(fact.fact, fact.source.name, fact.target.name, fact.relation),
        "fs_scope": f"{scope} {scope}n" if ends[-1] > micros(at) else scope,
    }
    embedding = vector(write.fact_embedding, dimension)
    if embedding is not None:
        properties["fact_embedding"] = embedding
    return {"uuid": fact.id, "source": fact.source.id, "target": fact.target.id, "properties": properties}


def community_parameters(write: CommunityWrite, dimension: int) -> Properties:
    """One element of the parameter `communities`."""
    community = write.community
    properties: Properties = {
        "name": community.name,
        "summary": community.summary,
        "fs_text": search_text(community.name, community.summary),
        "fs_scope": scope_token(community.group_id),
    }
    embedding = vector(write.name_embedding, dimension)
    if embedding is not None:
        properties["name_embedding"] = embedding
    return {
        "uuid": community.id,
        "created_at": community.created_at,
        "created": micros(community.created_at),
        "properties": properties,
    }


def _type_properties(kind: str | None) -> Properties:
    """The type as the vector index filters by it, and the whole of it when that had to be shortened."""
    short = None if kind is None else index_key(kind)
    return {"fs_type": short, "fs_full_type": None if short == kind else kind}


def _triplet_of(fact: Fact) -> str:
    return triplet_id(fact.source.id, fact.relation, fact.target.id)


def _interval(belief: Belief) -> tuple[int, int]:
    """When a fact was believed to hold; an interval that no moment lies in when it was believed at no time."""
    if not belief.holds:
        return UNBOUNDED_FUTURE, UNBOUNDED_PAST
    return (
        UNBOUNDED_PAST if belief.valid_at is None else micros(belief.valid_at),
        UNBOUNDED_FUTURE if belief.invalid_at is None else micros(belief.invalid_at),
    )
