"""What the update_communities stage and its rebuilds ask of a store, are answered, and commit."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from pipeline.graph.mark import Mark
from pipeline.graph.vector import Vector
from pipeline.model.community import Community
from pipeline.model.entity import Entity
from pipeline.model.episode import EpisodeRef, Usage


@dataclass(frozen=True)
class CommunityQuery:
    """The entities that an episode's changes touched."""

    episode: EpisodeRef
    entity_ids: tuple[str, ...]
    neighbour_limit: int = 1000
    member_limit: int = 200


@dataclass(frozen=True)
class Neighbourhood:
    """An entity with its community and how many current facts join it to its neighbours.

    `neighbours` maps entity id to (number of current facts between the two, community id of the neighbour or None).
    """

    entity: Entity
    neighbours: dict[str, tuple[int, str | None]]


@dataclass(frozen=True)
class CommunityGraph:
    """Answer to a CommunityQuery: the neighbourhoods asked for, and the communities that occur in them.

    `members` has, by community id, its members (at most `member_limit`, those with most facts first).
    """

    mark: Mark | None
    lane_version: int
    neighbourhoods: dict[str, Neighbourhood] = field(default_factory=dict)
    communities: dict[str, Community] = field(default_factory=dict)
    members: dict[str, tuple[Entity, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class CommunityWrite:
    """A community to create or overwrite (name, summary); memberships are written apart."""

    community: Community
    name_embedding: Vector | None = None


@dataclass(frozen=True)
class CommunityCommit:
    """What the update_communities stage commits.

    `moves` maps entity id to its community id (None: to no community). Communities left without members are removed.
    With `episode` None it is a rebuild of the whole group: every other community of the group is removed.
    """

    group_id: str
    episode: EpisodeRef | None
    lane_version: int
    communities: tuple[CommunityWrite, ...]
    moves: dict[str, str | None]
    usage: Usage
    at: datetime


@dataclass(frozen=True)
class CommunityView:
    """Some communities as they stand, with their members (those with most current facts first); what is gone is not
    there."""

    lane_version: int
    communities: dict[str, Community] = field(default_factory=dict)
    members: dict[str, tuple[Entity, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class CommunityTexts:
    """Other names and summaries for communities that stand; members stay, and what is gone stays gone."""

    group_id: str
    lane_version: int
    communities: tuple[CommunityWrite, ...]
    usage: Usage
    at: datetime


@dataclass(frozen=True)
class GroupGraph:
    """All entities of a group and the weights of the current facts between them; for a rebuild of communities."""

    lane_version: int
    entities: tuple[Entity, ...]
    edges: tuple[tuple[str, str, int], ...]
