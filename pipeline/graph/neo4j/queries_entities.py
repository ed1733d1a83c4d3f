"""Cypher of the stage resolve_entities."""

from __future__ import annotations

from pipeline.graph.neo4j.queries_lane import ENTITY_FIELDS, HEAD

ENTITY_VIEW = f"""{HEAD}
CALL () {{
    UNWIND range(0, size($keys) - 1) AS i
    UNWIND $keys[i] AS key
    MATCH (:EntityKey {{group_id: $group_id, key: key}})-[:KEY_OF]->(e:Entity)
    RETURN collect(DISTINCT [i, e.uuid]) AS by_key, collect(DISTINCT e) AS keyed
}}
CALL () {{
    UNWIND $texts AS wanted
    CALL (wanted) {{
        CALL db.index.fulltext.queryNodes('entity_text', wanted.text, {{limit: $limit}}) YIELD node, score
        WITH node, score WHERE node.group_id = $group_id
        RETURN node ORDER BY score DESC, node.uuid
    }}
    RETURN collect([wanted.index, node.uuid]) AS by_text, collect(DISTINCT node) AS worded
}}
CALL () {{
    UNWIND $vectors AS wanted
    CALL (wanted) {{
        MATCH (node:Entity)
        SEARCH node IN (
            VECTOR INDEX entity_name_embedding FOR wanted.vector WHERE node.group_id = $group_id LIMIT $limit
        ) SCORE AS score
        RETURN node ORDER BY score DESC, node.uuid
    }}
    RETURN collect([wanted.index, node.uuid]) AS by_vector, collect(DISTINCT node) AS near
}}
CALL (keyed, worded, near) {{
    UNWIND keyed + worded + near AS e
    WITH DISTINCT e
    RETURN collect({ENTITY_FIELDS}) AS entities
}}
RETURN version, marked, output, judged, forgotten, by_key, by_text, by_vector, entities
"""

# Locks the entities that a commit overwrites, in one order for all commits, and reads them as they stand now.
LOCK_ENTITIES = f"""CYPHER 25 replan=skip
UNWIND $ids AS id
MATCH (e:Entity {{group_id: $group_id, uuid: id}})
SET e.fs_revision = coalesce(e.fs_revision, 0) + 1
WITH e
RETURN {ENTITY_FIELDS} AS entity
"""

WRITE_ENTITIES = """CYPHER 25 replan=skip
UNWIND $entities AS w
MERGE (e:Entity {group_id: $group_id, uuid: w.uuid})
ON CREATE SET e.created_at = w.created_at, e.fs_created = w.created
SET e += w.properties
REMOVE e:$([label IN labels(e) WHERE label <> 'Entity' AND NOT label IN w.labels])
SET e:$(w.labels)
WITH e, w
CALL (e, w) {
    MATCH (old:EntityKey)-[r:KEY_OF]->(e)
    WHERE NOT old.key IN w.keys
    DELETE r
}
CALL (e, w) {
    UNWIND w.keys AS key
    MERGE (k:EntityKey {group_id: $group_id, key: key})
    MERGE (k)-[:KEY_OF]->(e)
}
"""

WRITE_MENTIONS = """CYPHER 25 replan=skip
UNWIND $mentions AS w
MATCH (p:Episodic {group_id: $group_id, uuid: $episode_id})
MATCH (e:Entity {group_id: $group_id, uuid: w.entity})
MERGE (p)-[m:MENTIONS {group_id: $group_id, uuid: w.uuid}]->(e)
ON CREATE SET m.created_at = $at
SET m.fs_place = $place, m.fs_told = w.told
RETURN count(m) AS written
"""

WRITE_MERGES = """CYPHER 25 replan=skip
UNWIND $merges AS w
MERGE (m:Merge {group_id: $group_id, uuid: w.uuid})
SET m.fs_json = w.json
"""
