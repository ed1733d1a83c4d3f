"""What every commit does: lanes and marks, and writing items with their text and vector."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime

from pipeline.cost.day_total import DayTotal
from pipeline.errors import Fenced, Poison
from pipeline.graph.community_port import CommunityWrite
from pipeline.graph.entity_port import EntityWrite
from pipeline.graph.fact_port import FactWrite
from pipeline.graph.mark import Mark
from pipeline.graph.parts import with_identity, with_lines
from pipeline.graph.sqlite import queries
from pipeline.graph.sqlite.codec import belief_rows, json_list, micros, pack, read_entity, support_rows
from pipeline.graph.sqlite.leases import pass_lease
from pipeline.graph.sqlite.schema import check_version
from pipeline.graph.sqlite.text import put_text
from pipeline.model.episode import EpisodeRef, EpisodeState, Usage
from pipeline.text.analysis import search_text

EXTRACT = "extract"
RESOLVE_ENTITIES = "resolve_entities"
RESOLVE_FACTS = "resolve_facts"
UPDATE_COMMUNITIES = "update_communities"

_BEFORE = {RESOLVE_ENTITIES: EXTRACT, RESOLVE_FACTS: RESOLVE_ENTITIES, UPDATE_COMMUNITIES: RESOLVE_FACTS}


def group_no(connection: sqlite3.Connection, group_id: str) -> int | None:
    """The number of a group; None when nothing is stored for it."""
    row = connection.execute(queries.GROUP_NO, {"id": group_id}).fetchone()
    return int(row[0]) if row else None


def ensure_group(connection: sqlite3.Connection, group_id: str) -> int:
    """The number of a group, which is created when there is none. Every write begins here: NewerFormat when a newer
    program has changed the format of the file since it was opened."""
    check_version(connection)
    connection.execute(queries.ADD_GROUP, {"id": group_id})
    return int(connection.execute(queries.GROUP_NO, {"id": group_id}).fetchone()[0])


def lane_version(connection: sqlite3.Connection, group: int, stage: str) -> int:
    """How often the lane has committed."""
    row = connection.execute(queries.LANE_VERSION, {"group": group, "stage": stage}).fetchone()
    return int(row[0]) if row else 0


def enter_lane(
    connection: sqlite3.Connection, group_id: str, stage: str, version: int, episode: EpisodeRef | None
) -> int:
    """Begin a commit: raise the lane's version by one and answer the number of the group.

    Raises Fenced when the lane has another version than was read, or the episode bears the stage's mark already, Retryable
    while the group is held.
    """
    pass_lease(connection, group_id)
    group = ensure_group(connection, group_id)
    lane = {"group": group, "stage": stage, "version": version}
    raised = connection.execute(queries.RAISE_LANE, lane).rowcount
    if not raised and version == 0:
        raised = connection.execute(queries.START_LANE, {"group": group, "stage": stage}).rowcount
    if not raised:
        raise Fenced(f"{stage} of group {group_id!r} has committed since version {version} was read")
    if episode is not None and mark(connection, group, episode.id, stage) is not None:
        raise Fenced(f"{stage} of group {group_id!r} has committed episode {episode.id!r} before")
    return group


def mark(connection: sqlite3.Connection, group: int, episode_id: str, stage: str) -> Mark | None:
    """The mark of a stage for an episode."""
    place = {"group": group, "episode": episode_id, "stage": stage}
    row = connection.execute(queries.MARK, place).fetchone()
    if row is None:
        return None
    judged = connection.execute(queries.JUDGED, place).fetchone()
    forgotten = connection.execute(queries.FORGOTTEN, place).fetchone() is not None
    return Mark(row[0], judged=judged[0] if judged else None, forgotten=forgotten)


def put_mark(
    connection: sqlite3.Connection,
    group: int,
    episode_id: str,
    stage: str,
    output: str | None,
    judged: str | None = None,
) -> None:
    """Write a mark with what a judge decided, and drop the output that the stage before kept."""
    place = {"group": group, "episode": episode_id}
    connection.execute(queries.PUT_MARK, {**place, "stage": stage, "output": output})
    if judged is not None:
        connection.execute(queries.PUT_JUDGED, {**place, "stage": stage, "body": judged})
    if stage in _BEFORE:
        connection.execute(queries.DROP_OUTPUT, {**place, "stage": _BEFORE[stage]})


def advance(
    connection: sqlite3.Connection,
    group: int,
    episode: EpisodeRef,
    state: EpisodeState | None,
    usage: Usage,
    at: datetime | None = None,
) -> None:
    """Set the episode's state (None: as it is) and add what the stage has cost, to the group's day `at` as well."""
    place = {"group": group, "id": episode.id}
    row = connection.execute(queries.EPISODE_USAGE, place).fetchone()
    if row is not None:
        total = Usage.model_validate_json(row[0]) + usage
        connection.execute(queries.SET_EPISODE, {**place, "state": state, "usage": total.model_dump_json()})
    add_spending(connection, group, usage, at)


def add_spending(connection: sqlite3.Connection, group: int, usage: Usage, at: datetime | None) -> None:
    """Add a cost to the group's day."""
    if at is not None and usage != Usage():
        spent = day_total(connection, group).plus(usage, at)
        connection.execute(queries.PUT_SPENDING, {"group": group, "body": spent.model_dump_json()})


def day_total(connection: sqlite3.Connection, group: int) -> DayTotal:
    """What the group has cost on its newest day."""
    row = connection.execute(queries.SPENDING, {"group": group}).fetchone()
    return DayTotal.read(row[0] if row else None)


def state_by_marks(connection: sqlite3.Connection, group: int, episode_id: str) -> EpisodeState:
    """The state that the marks of an episode say."""
    marks = dict(connection.execute(queries.MARKS, {"group": group, "episode": episode_id}).fetchall())
    if RESOLVE_FACTS in marks:
        return EpisodeState.committed
    if RESOLVE_ENTITIES in marks:
        return EpisodeState.resolved
    if EXTRACT in marks:
        return EpisodeState.skipped if marks[EXTRACT] is None else EpisodeState.extracted
    return EpisodeState.received


class ItemWriter:
    """Writes items of one group inside one transaction; the group's change counter is raised once, if at all."""

    def __init__(self, connection: sqlite3.Connection, group: int, dimension: int) -> None:
        self._connection = connection
        self._group = group
        self._dimension = dimension
        self._change: int | None = None

    def entity(self, write: EntityWrite, stage: str | None) -> None:
        """Create or overwrite an entity, as far as the stage decides it; its community stays what it is.

        See `pipeline.graph.parts` for which stage decides what. A curation (stage None) is fenced against all of them
        and decides everything.
        """
        entity = write.entity
        row = self._connection.execute(
            queries.ENTITY_BODY, {"group": self._group, "id": entity.id}
        ).fetchone()
        if row is not None and stage is not None:
            stands = read_entity(row[0], entity.community_id)
            entity = with_lines(stands, entity) if stage == RESOLVE_FACTS else with_identity(stands, entity)
        no = self._put(
            queries.PUT_ENTITY,
            id=entity.id,
            type=entity.type,
            created_at=micros(entity.created_at),
            body=entity.model_dump_json(),
        )
        self._connection.execute(queries.CLEAR_KEYS, (no,))
        self._connection.executemany(queries.ADD_KEY, [(self._group, key, no) for key in entity.keys])
        put_text(
            self._connection,
            "entity",
            no,
            self._group,
            search_text(entity.name, *entity.aliases, entity.summary),
        )
        self.vector("entity", no, write.name_embedding)

    def fact(self, write: FactWrite) -> None:
        """Create or overwrite a fact with its beliefs and support."""
        fact = write.fact
        ends = {fact.source.id, fact.target.id}
        place = {"group": self._group, "ids": json_list(ends)}
        if len(self._connection.execute(queries.ENTITIES_BY_ID, place).fetchall()) != len(ends):
            raise Poison("an entity that a fact joins is not in the graph", "facts")
        no = self._put(
            queries.PUT_FACT,
            id=fact.id,
            source=fact.source.id,
            relation=fact.relation,
            target=fact.target.id,
            created_at=micros(fact.beliefs[0].known_from),
            revision=fact.revision,
            body=fact.model_dump_json(),
        )
        self._connection.execute(queries.CLEAR_BELIEFS, (no,))
        self._connection.executemany(queries.ADD_BELIEF, [(no, *row) for row in belief_rows(fact)])
        self._connection.execute(queries.CLEAR_SUPPORT, (no,))
        self._connection.executemany(
            queries.ADD_SUPPORT,
            [(no, place, self._group, *row) for place, *row in support_rows(fact)],
        )
        self._connection.execute(queries.CLEAR_HYPEREDGE, (no,))
        if fact.hyperedge is not None:
            self._connection.execute(queries.ADD_HYPEREDGE, (self._group, fact.hyperedge, no))
        put_text(
            self._connection,
            "fact",
            no,
            self._group,
            search_text(fact.fact, fact.source.name, fact.target.name, fact.relation),
        )
        self.vector("fact", no, write.fact_embedding)

    def community(self, write: CommunityWrite) -> None:
        """Create or overwrite a community's name and summary."""
        community = write.community
        no = self._put(
            queries.PUT_COMMUNITY,
            id=community.id,
            created_at=micros(community.created_at),
            body=community.model_dump_json(),
        )
        put_text(
            self._connection, "community", no, self._group, search_text(community.name, community.summary)
        )
        self.vector("community", no, write.name_embedding)

    def vector(self, kind: str, no: int, vector: Sequence[float] | None) -> None:
        """Write the vector of an item; None keeps the one that it has."""
        if vector is None:
            return
        row = {"kind": kind, "no": no, "group": self._group, "change": self.raise_changes()}
        self._connection.execute(queries.PUT_VECTOR, {**row, "data": pack(vector, self._dimension)})

    def raise_changes(self) -> int:
        """The group's change counter, raised by this transaction."""
        if self._change is None:
            row = self._connection.execute(queries.RAISE_GROUP_CHANGES, {"group": self._group}).fetchone()
            self._change = int(row[0])
        return self._change

    def _put(self, query: str, **values: object) -> int:
        return int(self._connection.execute(query, {"group": self._group, **values}).fetchone()[0])
