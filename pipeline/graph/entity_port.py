"""What the resolve_entities stage asks of a store, what it is answered, and what it commits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from pipeline.graph.mark import Mark
from pipeline.graph.vector import Vector
from pipeline.model.entity import Entity
from pipeline.model.episode import EpisodeRef, Usage
from pipeline.model.provenance import Merge, Told


@dataclass(frozen=True)
class EntityQuery:
    """Which entities may be meant by the mentions of an episode.

    `keys[i]`, `texts[i]` and `vectors[i]` belong to mention i: its keys (name and aliases), its name as search
    terms, and its embedding (None: no vector candidates are wanted for this mention).
    """

    episode: EpisodeRef
    keys: tuple[tuple[str, ...], ...]
    texts: tuple[str, ...]
    vectors: tuple[Vector | None, ...]
    limit: int = 10


@dataclass(frozen=True)
class EntityView:
    """Answer: entities by key (`by_key[i]`, all types) and look-alikes (`similar[i]`, best first, at most `limit`)."""

    mark: Mark | None
    lane_version: int
    by_key: tuple[tuple[Entity, ...], ...] = ()
    similar: tuple[tuple[Entity, ...], ...] = ()


@dataclass(frozen=True)
class EntityWrite:
    """An entity to create or to overwrite, with the embedding of its name when that is new (None: keep)."""

    entity: Entity
    name_embedding: Vector | None = None


@dataclass(frozen=True)
class EntityCommit:
    """What the resolve_entities stage commits: entities, MENTIONS from the episode to `mentioned`, output, usage.

    The state becomes `resolved`. `judged` is kept under the mark. `told` has, by entity id, what each mention told of it, in the order in which the
    entity was made of them; `merges` are joins that a judge made.
    """

    episode: EpisodeRef
    lane_version: int
    entities: tuple[EntityWrite, ...]
    mentioned: tuple[str, ...]
    output: str
    usage: Usage
    at: datetime
    told: Mapping[str, tuple[Told, ...]] = field(default_factory=dict)
    merges: tuple[Merge, ...] = ()
    judged: str | None = None
