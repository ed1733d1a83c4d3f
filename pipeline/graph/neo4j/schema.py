"""The schema in Neo4j: constraints and indexes, made once, checked at every start."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.errors import NewerFormat, Retryable, SettingError
from pipeline.graph.neo4j.connection import Neo4jConnection
from pipeline.graph.neo4j.migrating import Migrating
from pipeline.graph.neo4j.migrations import STEPS

SCHEMA_VERSION = STEPS[-1].version
AWAIT_SECONDS = 300
LOCK_ATTEMPTS = 20

_UNIQUE_NODES = {
    "Episodic": ("group_id", "uuid"),
    "Entity": ("group_id", "uuid"),
    "Community": ("group_id", "uuid"),
    "Evidence": ("group_id", "uuid"),
    "EntityKey": ("group_id", "key"),
    "Lane": ("group_id", "stage"),
    "StageMark": ("group_id", "episode_id", "stage"),
    "Merge": ("group_id", "uuid"),
}
_UNIQUE_RELATIONSHIPS = dict.fromkeys(("RELATES_TO", "MENTIONS", "HAS_MEMBER"), ("group_id", "uuid"))
_RANGES = {
    # With the cardinality, since only evidence of cardinality one is asked for by slot: there may be very much other.
    "evidence_slot_cardinality": ("(x:Evidence)", ("group_id", "fs_slot", "fs_cardinality")),
    "evidence_object_slot": ("(x:Evidence)", ("group_id", "fs_object_slot")),
    "evidence_triplet": ("(x:Evidence)", ("group_id", "fs_triplet")),
    "fact_hyperedge": ("()-[x:RELATES_TO]-()", ("group_id", "fs_hyperedge")),
    "fact_triplet": ("()-[x:RELATES_TO]-()", ("group_id", "fs_triplet")),
    "episode_reference": ("(x:Episodic)", ("group_id", "fs_reference")),
    "episode_thread": ("(x:Episodic)", ("group_id", "fs_thread", "fs_reference")),
}
_VECTORS = {
    "entity_name_embedding": ("(x:Entity)", "name_embedding", ("group_id", "fs_type")),
    "fact_embedding": (
        "()-[x:RELATES_TO]-()",
        "fact_embedding",
        ("group_id", "name", "fs_valid_from", "fs_valid_to", "fs_created"),
    ),
    "community_name_embedding": ("(x:Community)", "name_embedding", ("group_id",)),
    "episode_content_embedding": ("(x:Episodic)", "content_embedding", ("group_id", "fs_reference")),
}
_TEXTS = {
    "entity_text": "(x:Entity)",
    "fact_text": "()-[x:RELATES_TO]-()",
    "community_text": "(x:Community)",
    "episode_text": "(x:Episodic)",
}
SEARCHED_INDEXES = (*_VECTORS, *_TEXTS)

LOCK_CONSTRAINT = """
CREATE CONSTRAINT factstream_schema IF NOT EXISTS FOR (x:FactstreamSchema) REQUIRE x.name IS UNIQUE
"""
HAS_LOCK_CONSTRAINT = "SHOW CONSTRAINTS YIELD name WHERE name = 'factstream_schema' RETURN name"
LOCK = """
MERGE (s:FactstreamSchema {name: 'graph'})
SET s.openings = coalesce(s.openings, 0) + 1
RETURN s.version AS version
"""
STORE_VERSION = "MATCH (s:FactstreamSchema {name: 'graph'}) SET s.version = $version"
READ_VERSION = """
OPTIONAL MATCH (s:FactstreamSchema {name: 'graph'}) RETURN s.version AS version, s.migrating AS migrating
"""
INDEXES = "SHOW INDEXES YIELD name, state, options RETURN name, state, options"
AWAIT = "CALL db.awaitIndexes($seconds)"


@dataclass(frozen=True)
class _Found:
    version: int | None
    migrating: int | None
    states: Mapping[str, str]
    dimensions: Mapping[str, int]

    @property
    def newest(self) -> int | None:
        """The version that the graph has, or is on the way to."""
        return max((v for v in (self.version, self.migrating) if v is not None), default=None)

    @property
    def complete(self) -> bool:
        """Whether there is nothing to do."""
        return self.version == SCHEMA_VERSION and all(self.states.get(n) == "ONLINE" for n in index_names())


def index_names() -> tuple[str, ...]:
    """Names of all indexes, those of the constraints included."""
    unique = (*_UNIQUE_NODES, *_UNIQUE_RELATIONSHIPS)
    return (*(_constraint_name(n) for n in unique), *_RANGES, *_VECTORS, *_TEXTS)


def statements(dimension: int) -> tuple[str, ...]:
    """The statements that make the schema; each does nothing when its part exists."""
    made = [_unique(f"(x:{name})", name, keys) for name, keys in _UNIQUE_NODES.items()]
    made += [_unique(f"()-[x:{name}]-()", name, keys) for name, keys in _UNIQUE_RELATIONSHIPS.items()]
    made += [f"CREATE INDEX {n} IF NOT EXISTS FOR {of} ON ({_listed(p)})" for n, (of, p) in _RANGES.items()]
    made += [
        f"CYPHER 25 CREATE VECTOR INDEX {name} IF NOT EXISTS FOR {of} ON x.{embedding} WITH [{_listed(filters)}] "
        f"OPTIONS {{indexConfig: {{`vector.dimensions`: {dimension}, `vector.similarity_function`: 'cosine', "
        "`vector.quantization.enabled`: false}}"
        for name, (of, embedding, filters) in _VECTORS.items()
    ]
    made += [
        f"CREATE FULLTEXT INDEX {name} IF NOT EXISTS FOR {of} ON EACH [x.fs_text, x.fs_scope] "
        "OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}}"
        for name, of in _TEXTS.items()
    ]
    return tuple(made)


async def open_graph(connection: Neo4jConnection, dimension: int) -> None:
    """Open the connection and ensure the schema; closed again when that raises."""
    await connection.open()
    try:
        await ensure_schema(connection, dimension)
    except BaseException:
        await connection.close()
        raise


async def ensure_schema(connection: Neo4jConnection, dimension: int) -> None:
    """Make what is missing and wait until every index is online.

    One process at a time changes the schema: it holds a lock on the node that bears the version. A graph of an older
    version is migrated first. SettingError when the graph was made for vectors of another dimension, NewerFormat when
    a newer program made it or is on the way to.
    """
    found = await _find(connection)
    check(found.newest, found.dimensions, dimension)
    if found.complete:
        return
    await _ensure_lock(connection)
    if found.version is not None and found.version < SCHEMA_VERSION:
        await Migrating(connection, STEPS).run(found.version)
    async with connection.transaction("schema") as lock:
        await lock.run(LOCK, {})
        found = await _find(connection)
        check(found.newest, found.dimensions, dimension)
        if not found.complete:
            for statement in statements(dimension):
                await connection.write("schema", statement, {})
            await connection.run("schema", AWAIT, {"seconds": AWAIT_SECONDS})
            await lock.run(STORE_VERSION, {"version": SCHEMA_VERSION})


async def _ensure_lock(connection: Neo4jConnection) -> None:
    """The constraint that makes the lock node single. Processes that make it at once deadlock: all but one lose."""
    for attempt in range(LOCK_ATTEMPTS):
        if await connection.run("schema", HAS_LOCK_CONSTRAINT, {}):
            return
        try:
            await connection.write("schema", LOCK_CONSTRAINT, {})
        except Retryable:
            if attempt == LOCK_ATTEMPTS - 1:
                raise
            await asyncio.sleep(random.uniform(0.05, 0.5))


async def ping_schema(connection: Neo4jConnection) -> int:
    """The dimension of the vectors. Retryable unless the database answers and every index is online."""
    rows = await connection.run("ping", INDEXES, {})
    online = {row["name"] for row in rows if row["state"] == "ONLINE"}
    if missing := sorted(set(index_names()) - online):
        raise Retryable(f"Neo4j has no index online named {', '.join(missing)}")
    return next(iter(_dimensions(rows).values()))


def check(version: int | None, dimensions: Mapping[str, int], dimension: int) -> None:
    """SettingError unless this program and this dimension fit the graph; `dimensions` are those of its indexes."""
    check_version(version)
    for name, stored in sorted(dimensions.items()):
        if stored != dimension:
            raise SettingError(
                f"the graph is set up for vectors of dimension {stored} (index {name}), the embedder gives "
                f"{dimension}: use the embedder that the graph was made with, or rebuild the graph"
            )


def check_version(version: int | None) -> None:
    """NewerFormat unless this program knows the version."""
    if version is not None and version > SCHEMA_VERSION:
        raise NewerFormat(
            f"the graph has schema version {version}, this program knows up to {SCHEMA_VERSION}: use a newer program"
        )


async def _find(connection: Neo4jConnection) -> _Found:
    stored = (await connection.run("schema", READ_VERSION, {}))[0]
    rows = await connection.run("schema", INDEXES, {})
    return _Found(
        stored["version"],
        stored["migrating"],
        {row["name"]: row["state"] for row in rows},
        _dimensions(rows),
    )


def _dimensions(rows: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for row in rows:
        options: dict[str, Any] = row["options"] or {}
        size = options.get("indexConfig", {}).get("vector.dimensions")
        if row["name"] in _VECTORS and size is not None:
            sizes[row["name"]] = size
    return sizes


def _unique(pattern: str, name: str, keys: Sequence[str]) -> str:
    return f"CREATE CONSTRAINT {_constraint_name(name)} IF NOT EXISTS FOR {pattern} REQUIRE ({_listed(keys)}) IS UNIQUE"


def _constraint_name(name: str) -> str:
    return f"unique_{name.lower()}"


def _listed(keys: Sequence[str]) -> str:
    return ", ".join(f"x.{key}" for key in keys)
