"""A graph of a size that a measurement asks for: people, what they do, and the episodes that said so."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline.embedding.hashing import HashingEmbedder
from pipeline.graph.entity_port import EntityWrite
from pipeline.graph.fact_port import FactWrite
from pipeline.graph.neo4j import properties
from pipeline.graph.neo4j.connection import Neo4jConnection
from pipeline.graph.neo4j.schema import SEARCHED_INDEXES, ensure_schema, statements
from pipeline.identity import entity_key, stable_id
from pipeline.model.entity import Entity
from pipeline.model.episode import Episode, Source, Speaker
from pipeline.model.fact import Belief, EntityRef, Fact, Support
from pipeline.observer import SilentObserver

DIMENSION = 384
SPREAD = 200
NOW = datetime(2024, 6, 1, tzinfo=UTC)
FACTS_AN_EPISODE = 5
EPISODES_A_THREAD = 10
CHANNELS = 20
BATCH = 1000
INDEX_SECONDS = 3600

Row = dict[str, Any]


def _words(text: str) -> list[str]:
    return text.split()


_FIRST = _words(
    "Ana Bo Carla Dev Elif Femi Goro Hana Ines Jun Kofi Lena Mina Noor Omar Pia Quim Rosa Sami Tara"
)
_LAST = _words(
    "Abel Brandt Costa Diaz Eder Fuchs Gallo Haas Ito Jansen Kaya Lund Mora Nagy Okoye Petit Ruiz Sato Tran"
)
_KINDS = {
    "WORKS_AT": ("works at", _words("Mill Bank Forge Studio Clinic Bakery Harbour Press Garden Works")),
    "LIVES_IN": ("lives in", _words("Aston Berga Calder Dunmore Elba Ferro Gorlitz Hove Imola Jarrow")),
    "LIKES": ("likes", _words("chess tennis sailing baking jazz poetry hiking pottery rowing gardens")),
    "BOUGHT": ("bought", _words("bicycle lamp kettle piano camera boat tent carpet violin drill")),
}

ENTITIES = """CYPHER 25
UNWIND $rows AS row
MERGE (e:Entity {group_id: row.group_id, uuid: row.uuid})
SET e += row.properties, e.created_at = row.created_at, e.fs_created = row.created, e:$(row.labels)
"""
FACTS = """CYPHER 25
UNWIND $rows AS row
MATCH (s:Entity {group_id: row.group_id, uuid: row.source})
MATCH (t:Entity {group_id: row.group_id, uuid: row.target})
MERGE (s)-[r:RELATES_TO {group_id: row.group_id, uuid: row.uuid}]->(t)
SET r += row.properties
"""
EPISODES = """CYPHER 25
UNWIND $rows AS row
CREATE (e:Episodic {group_id: row.group_id, uuid: row.uuid})
SET e += row.properties
WITH e, row UNWIND row.mentions AS mention
MATCH (n:Entity {group_id: row.group_id, uuid: mention.entity})
CREATE (e)-[:MENTIONS {group_id: row.group_id, uuid: mention.uuid, created_at: $at}]->(n)
"""
IS_FILLED = "MATCH (f:Filled {group_id: $group_id}) RETURN f.group_id AS group_id"
FILLED = "MERGE (f:Filled {group_id: $group_id})"


def question(chance: random.Random) -> str:
    """A question about somebody."""
    verb, things = _KINDS[chance.choice(list(_KINDS))]
    who = f"{chance.choice(_FIRST)} {chance.choice(_LAST)}"
    return chance.choice([f"What is it that {who} {verb}?", f"Who {verb} the {chance.choice(things)}?"])


_embedder = HashingEmbedder(DIMENSION)


class Standing(NamedTuple):
    """What filters ask of a fact that holds at NOW."""

    id: str
    relation: str
    valid_at: datetime
    channel: str


def _standing(fact: Fact) -> Standing:
    since = fact.beliefs[0].valid_at
    assert since is not None, "facts of this graph have a start"
    return Standing(fact.id, fact.relation, since, _channel(int(fact.id[1:]) // FACTS_AN_EPISODE))


@dataclass(frozen=True)
class Made:
    """What a group holds."""

    group: str
    people: list[Entity]
    things: list[Entity]
    facts: list[Fact]


class ScaleGraph:
    """One group of `size` facts, and as many over `SPREAD` groups. The same size is the same graph every time."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._vectors: dict[str, tuple[list[Standing], npt.NDArray[np.float32]]] = {}
        self._people: dict[str, list[str]] = {}

    def group(self, place: int | None) -> str:
        """The large group (None) or a small one."""
        return f"scale-{self._size}" if place is None else f"scale-{self._size}-{place}"

    def vectors(self, group: str) -> tuple[list[Standing], npt.NDArray[np.float32]]:
        """The facts of a group that hold at NOW, and their vectors."""
        return self._vectors[group]

    def person(self, chance: random.Random, group: str) -> str:
        """Some person's id."""
        return chance.choice(self._people[group])

    async def fill(self, uri: str) -> None:
        """Write what is not there."""
        connection = Neo4jConnection(uri, None, None, "neo4j", SilentObserver())
        await connection.open()
        try:
            await ensure_schema(connection, DIMENSION)
            groups = [group_of(self.group(None), self._size)]
            groups += [group_of(self.group(place), max(1, self._size // SPREAD)) for place in range(SPREAD)]
            for made in groups:
                await self._remember(made)
            if await connection.run("bench", IS_FILLED, {"group_id": self.group(None)}):
                return
            # An index that is made after the load is made several times as fast as one that is kept up to date.
            for name in SEARCHED_INDEXES:
                await connection.write("bench", f"DROP INDEX {name} IF EXISTS", {})
            for query, parts in ((ENTITIES, _entities), (FACTS, _facts), (EPISODES, _episodes)):
                for some in _batches([(made.group, one) for made in groups for one in parts(made)]):
                    rows = await _rows(query, some)
                    await connection.write("bench", query, {"rows": rows, "at": NOW})
            await connection.write("bench", FILLED, {"group_id": self.group(None)})
            for statement in statements(DIMENSION):
                await connection.write("bench", statement, {})
            await connection.run("bench", "CALL db.awaitIndexes($seconds)", {"seconds": INDEX_SECONDS})
        finally:
            await connection.close()

    async def _remember(self, made: Made) -> None:
        standing = [fact for fact in made.facts if fact.beliefs[0].invalid_at is None]
        matrix = np.empty((len(standing), DIMENSION), dtype=np.float32)
        for start in range(0, len(standing), BATCH):
            some = standing[start : start + BATCH]
            matrix[start : start + BATCH] = await _embedder.embed([fact.fact for fact in some])
        self._vectors[made.group] = ([_standing(fact) for fact in standing], matrix)
        self._people[made.group] = [person.id for person in made.people]


def group_of(group: str, size: int) -> Made:
    """A group of so many facts; the same every time."""
    chance = random.Random(group)
    people = [
        _entity(group, f"{chance.choice(_FIRST)} {chance.choice(_LAST)} {number}", "Person")
        for number in range(max(2, size // 10))
    ]
    things = {
        f"{relation} {thing}": _entity(group, f"{thing.title()} of {relation.lower()}", "Thing")
        for relation, (_, names) in _KINDS.items()
        for thing in names
    }
    facts = [_fact(chance, group, number, people, things) for number in range(size)]
    return Made(group, people, list(things.values()), facts)


def _entities(made: Made) -> Sequence[Any]:
    return [*made.people, *made.things]


def _facts(made: Made) -> Sequence[Any]:
    return made.facts


def _episodes(made: Made) -> Sequence[Any]:
    return list(_told(made.group, made.facts))


async def _rows(query: str, some: Sequence[tuple[str, Any]]) -> list[Row]:
    """The rows of a batch; vectors are made here, since all of them at once would fill the memory."""
    if query == ENTITIES:
        vectors = await _embedder.embed([entity.name for _, entity in some])
        rows = [
            properties.entity_parameters(EntityWrite(entity, vector), DIMENSION)
            for (_, entity), vector in zip(some, vectors, strict=True)
        ]
    elif query == FACTS:
        vectors = await _embedder.embed([fact.fact for _, fact in some])
        rows = [
            properties.fact_parameters(FactWrite(fact, vector), DIMENSION, NOW)
            for (_, fact), vector in zip(some, vectors, strict=True)
        ]
    else:
        vectors = await _embedder.embed([episode.text for _, (episode, _) in some])
        rows = [
            _row(episode, facts, vector) for (_, (episode, facts)), vector in zip(some, vectors, strict=True)
        ]
    return [{**row, "group_id": group} for row, (group, _) in zip(rows, some, strict=True)]


def _entity(group: str, name: str, kind: str) -> Entity:
    key = entity_key(name)
    return Entity(
        id=stable_id("bench", group, key), group_id=group, name=name, type=kind, keys=(key,), created_at=NOW
    )


def _fact(
    chance: random.Random, group: str, number: int, people: Sequence[Entity], things: dict[str, Entity]
) -> Fact:
    relation = chance.choice(list(_KINDS))
    verb, names = _KINDS[relation]
    who, what = chance.choice(people), things[f"{relation} {chance.choice(names)}"]
    since = NOW - timedelta(days=chance.randrange(1, 2000))
    # Some are over: at least a day ago, so that they are over at NOW.
    ended = since + timedelta(hours=1) if chance.random() < 0.2 else None
    return Fact(
        id=f"f{number}",
        group_id=group,
        source=EntityRef(id=who.id, name=who.name),
        target=EntityRef(id=what.id, name=what.name),
        relation=relation,
        fact=f"{who.name} {verb} {what.name}",
        beliefs=(Belief(known_from=since, valid_at=since, invalid_at=ended),),
        support=(
            Support(episode_id=f"e{number // FACTS_AN_EPISODE}", evidence_id=f"v{number}", known_from=since),
        ),
    )


def _told(group: str, facts: Sequence[Fact]) -> Iterator[tuple[Episode, Sequence[Fact]]]:
    for start in range(0, len(facts), FACTS_AN_EPISODE):
        number = start // FACTS_AN_EPISODE
        said = facts[start : start + FACTS_AN_EPISODE]
        episode = Episode(
            id=f"e{number}",
            group_id=group,
            source=Source.message,
            content=". ".join(fact.fact for fact in said),
            speaker=Speaker(name=said[0].source.name),
            reference_time=NOW - timedelta(minutes=len(facts) - start),
            sequence=number,
            thread_id=f"t{number // EPISODES_A_THREAD}",
            metadata={"channel": _channel(number)},
        )
        yield episode, said


def _channel(number: int) -> str:
    """Of the episode of that number."""
    return f"channel {number % CHANNELS}"


def _row(episode: Episode, facts: Sequence[Fact], vector: list[float]) -> Row:
    ends = dict.fromkeys(end.id for fact in facts for end in (fact.source, fact.target))
    return {
        "uuid": episode.id,
        "properties": properties.episode_properties(episode, vector, NOW),
        "mentions": [{"entity": end, "uuid": stable_id("mention", episode.id, end)} for end in ends],
    }


def _batches(rows: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for start in range(0, len(rows), BATCH):
        yield rows[start : start + BATCH]
