"""Cypher that reads everything of one group. The only parameter is `group_id`; properties are named one by one, so
that no vector leaves the database."""

from __future__ import annotations

from pipeline.graph.neo4j.queries_lane import ENTITY_FIELDS

DUMP_EPISODES = """CYPHER 25
MATCH (p:Episodic)
WHERE p.group_id = $group_id AND p.uuid IS NOT NULL
RETURN p.fs_episode AS episode, p.fs_state AS state, p.fs_usage AS usage, p.fs_reason AS reason,
    p.created_at AS created_at
ORDER BY p.uuid
"""

DUMP_ENTITIES = f"""CYPHER 25
MATCH (e:Entity)
WHERE e.group_id = $group_id AND e.uuid IS NOT NULL
RETURN {ENTITY_FIELDS} AS entity
ORDER BY e.uuid
"""

DUMP_FACTS = """CYPHER 25
MATCH (:Entity)-[r:RELATES_TO]->(:Entity)
WHERE r.group_id = $group_id AND r.uuid IS NOT NULL
RETURN r.fs_fact AS fact
ORDER BY r.uuid
"""

DUMP_EVIDENCE = """CYPHER 25
MATCH (v:Evidence)
WHERE v.group_id = $group_id AND v.uuid IS NOT NULL
RETURN v.fs_json AS evidence
ORDER BY v.uuid
"""

DUMP_MENTIONS = """CYPHER 25
MATCH (p:Episodic)-[m:MENTIONS]->(e:Entity)
WHERE m.group_id = $group_id AND m.uuid IS NOT NULL
RETURN p.uuid AS owner, e.uuid AS entity
ORDER BY owner, entity
"""

DUMP_MEMBERSHIPS = """CYPHER 25
MATCH (c:Community)-[m:HAS_MEMBER]->(e:Entity)
WHERE m.group_id = $group_id AND m.uuid IS NOT NULL
RETURN c.uuid AS owner, e.uuid AS entity
ORDER BY owner, entity
"""
