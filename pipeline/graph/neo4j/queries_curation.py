"""Cypher of taking back and correcting. All of it is limited to `group_id`; lists are unwound, never looped over."""

from __future__ import annotations

BEGIN_CURATION = """CYPHER 25
MERGE (whole:Lane {group_id: $group_id, stage: ''})
SET whole.version = coalesce(whole.version, 0) + 1
WITH whole, whole.fs_held_until > timestamp() AND whole.fs_lease <> $lease AS held
UNWIND $stages AS stage
MERGE (lane:Lane {group_id: $group_id, stage: stage})
ON CREATE SET lane.version = 0
WITH stage, lane, lane.version AS version, held
SET lane.version = CASE
    WHEN stage = 'resolve_entities' AND version + 1 < $place THEN $place ELSE version + 1 END
WITH stage, version, held
OPTIONAL MATCH (format:FactstreamSchema {name: 'graph'})
RETURN stage, version, coalesce(held, false) AS held, coalesce(format.migrating, format.version) AS format
"""

LANES = """CYPHER 25
MATCH (lane:Lane {group_id: $group_id})
WHERE lane.stage IN $stages
RETURN lane.stage AS stage, lane.version AS version
"""

EPISODE_IDS = """CYPHER 25
MATCH (p:Episodic)
WHERE p.group_id = $group_id AND p.uuid IS NOT NULL
RETURN p.uuid AS id
"""

MARKS = """CYPHER 25
MATCH (mark:StageMark)
WHERE mark.group_id = $group_id AND mark.episode_id IS NOT NULL AND mark.stage IS NOT NULL
RETURN mark.episode_id AS episode, mark.stage AS stage, mark.output AS output, mark.judged AS judged
"""

CONTRIBUTIONS = """CYPHER 25
MATCH (p:Episodic)-[m:MENTIONS]->(e:Entity)
WHERE m.group_id = $group_id AND m.uuid IS NOT NULL
RETURN p.uuid AS episode, e.uuid AS entity, m.fs_place AS place, m.created_at AS at, m.fs_told AS told
"""

COMMUNITIES = """CYPHER 25
MATCH (c:Community)
WHERE c.group_id = $group_id AND c.uuid IS NOT NULL
RETURN c.uuid AS id, c.group_id AS group_id, c.name AS name, c.summary AS summary, c.created_at AS created_at
"""

MERGES = """CYPHER 25
MATCH (m:Merge)
WHERE m.group_id = $group_id AND m.uuid IS NOT NULL
RETURN m.fs_json AS json
"""

REMOVE_MENTIONS = """CYPHER 25
UNWIND $ids AS id
MATCH ()-[m:MENTIONS {group_id: $group_id, uuid: id}]->()
DELETE m
"""

REMOVE_FACTS = """CYPHER 25
UNWIND $ids AS id
MATCH ()-[r:RELATES_TO {group_id: $group_id, uuid: id}]->()
DELETE r
"""

REMOVE_EVIDENCE = """CYPHER 25
UNWIND $ids AS id
MATCH (v:Evidence {group_id: $group_id, uuid: id})
DELETE v
"""

REMOVE_MERGES = """CYPHER 25
UNWIND $ids AS id
MATCH (m:Merge {group_id: $group_id, uuid: id})
DELETE m
"""

REMOVE_ENTITIES = """CYPHER 25
UNWIND $ids AS id
MATCH (e:Entity {group_id: $group_id, uuid: id})
DETACH DELETE e
"""

REMOVE_EPISODES = """CYPHER 25
UNWIND $ids AS id
MATCH (p:Episodic {group_id: $group_id, uuid: id})
DETACH DELETE p
"""

# The marks of all stages without what they kept, and the tombstone itself. A notice under the same id stays.
BURY = """CYPHER 25
UNWIND $ids AS id
UNWIND $stages AS stage
MERGE (mark:StageMark {group_id: $group_id, episode_id: id, stage: stage})
SET mark.output = null, mark.judged = null, mark.forgotten = CASE WHEN $forgotten THEN true END
"""

# An entity may be older or younger than it was: its first mention counts.
SET_CREATED = """CYPHER 25
UNWIND $entities AS w
MATCH (e:Entity {group_id: $group_id, uuid: w.uuid})
SET e.created_at = w.created_at, e.fs_created = w.created
"""

DROP_ORPHAN_KEYS = """CYPHER 25
MATCH (k:EntityKey)
WHERE k.group_id = $group_id AND k.key IS NOT NULL AND NOT EXISTS { (k)-[:KEY_OF]->() }
DELETE k
"""

WRITE_CONTRIBUTIONS = """CYPHER 25
UNWIND $mentions AS w
MATCH (p:Episodic {group_id: $group_id, uuid: w.episode})
MATCH (e:Entity {group_id: $group_id, uuid: w.entity})
MERGE (p)-[m:MENTIONS {group_id: $group_id, uuid: w.uuid}]->(e)
SET m.created_at = w.at, m.fs_place = w.place, m.fs_told = w.told
RETURN count(m) AS written
"""

ADD_EPISODES = """CYPHER 25
UNWIND $episodes AS w
MERGE (p:Episodic {group_id: $group_id, uuid: w.uuid})
SET p += w.properties
"""

DROP_MEMBERLESS_COMMUNITIES = """CYPHER 25
MATCH (c:Community)
WHERE c.group_id = $group_id AND c.uuid IS NOT NULL AND NOT EXISTS { (c)-[:HAS_MEMBER]->(:Entity) }
DETACH DELETE c
"""

REPLACE_OUTPUTS = """CYPHER 25
UNWIND $outputs AS w
MATCH (mark:StageMark {group_id: $group_id, episode_id: w.episode, stage: w.stage})
SET mark.output = w.output
"""

REPLACE_JUDGED = """CYPHER 25
UNWIND $judged AS w
MATCH (mark:StageMark {group_id: $group_id, episode_id: w.episode, stage: w.stage})
SET mark.judged = w.judged
"""

KEEP_NOTICE = """CYPHER 25
MERGE (mark:StageMark {group_id: $group_id, episode_id: $name, stage: 'notice'})
SET mark.output = $output
"""

DROP_NOTICE = """CYPHER 25
MATCH (mark:StageMark {group_id: $group_id, episode_id: $name, stage: 'notice'})
DELETE mark
"""

ERASE = tuple(
    f"""CYPHER 25
MATCH (x:{label})
WHERE x.group_id = $group_id AND x.{key} IS NOT NULL
DETACH DELETE x
"""
    for label, key in (
        ("Community", "uuid"),
        ("Evidence", "uuid"),
        ("Merge", "uuid"),
        ("EntityKey", "key"),
        ("Entity", "uuid"),
        ("Episodic", "uuid"),
    )
)

DROP_OTHER_MARKS = """CYPHER 25
MATCH (mark:StageMark)
WHERE mark.group_id = $group_id AND mark.episode_id IS NOT NULL AND mark.stage IS NOT NULL
  AND NOT mark.stage IN $kept
DELETE mark
"""

# Whatever bears the group, under any label or none: a proof must not rest on what is assumed.
_FOUND = """
WITH kind, id, field, CASE
    WHEN value IS :: STRING NOT NULL THEN [value]
    WHEN value IS :: LIST<STRING NOT NULL> NOT NULL THEN value
    ELSE [] END AS texts
WHERE any(text IN texts WHERE any(needle IN $needles WHERE ' ' + toLower(text) + ' ' CONTAINS needle))
RETURN DISTINCT kind, id, field
"""

TRACES_IN_NODES = f"""CYPHER 25
MATCH (n)
WHERE n.group_id = $group_id
WITH n, coalesce(head([l IN labels(n) WHERE l IN $labels]), 'node') AS kind,
    coalesce(n.uuid, n.episode_id, n.key, n.stage, elementId(n)) AS id
UNWIND [k IN keys(n) | [k, n[k]]] + [['labels', labels(n)]] AS pair
WITH kind, id, pair[0] AS field, pair[1] AS value
{_FOUND}"""

TRACES_IN_RELATIONSHIPS = f"""CYPHER 25
MATCH ()-[r]->()
WHERE r.group_id = $group_id
WITH r, type(r) AS kind, coalesce(r.uuid, elementId(r)) AS id
UNWIND [k IN keys(r) | [k, r[k]]] AS pair
WITH kind, id, pair[0] AS field, pair[1] AS value
{_FOUND}"""
