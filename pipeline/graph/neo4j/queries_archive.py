"""Cypher of archives: whole groups with their vectors, in the order in which they were stored, and back."""

from __future__ import annotations

from pipeline.graph.neo4j.queries_lane import ENTITY_FIELDS

GROUPS = """CYPHER 25
MATCH (mark:StageMark) RETURN DISTINCT mark.group_id AS id
UNION
MATCH (p:Episodic) WHERE p.fs_episode IS NOT NULL RETURN DISTINCT p.group_id AS id
"""

# Every commit of a group raises the version of its lane '' and of the stage's.
VERSIONS = """CYPHER 25
MATCH (lane:Lane {group_id: $group_id})
RETURN lane.stage AS stage, lane.version AS version, lane.fs_spent AS spent
"""

EPISODES = """CYPHER 25
MATCH (p:Episodic)
WHERE p.group_id = $group_id AND p.uuid IS NOT NULL AND p.fs_episode IS NOT NULL
WITH p ORDER BY p.fs_sequence, p.uuid
RETURN p.fs_episode AS episode, p.fs_state AS state, p.fs_usage AS usage, p.fs_reason AS reason,
    p.created_at AS created_at, p.content_embedding AS vector
"""

COMMUNITIES = """CYPHER 25
MATCH (c:Community)
WHERE c.group_id = $group_id AND c.uuid IS NOT NULL
WITH c ORDER BY c.fs_created, c.uuid
RETURN c.uuid AS id, c.group_id AS group_id, c.name AS name, c.summary AS summary, c.created_at AS created_at,
    c.name_embedding AS vector
"""

ENTITIES = f"""CYPHER 25
MATCH (e:Entity)
WHERE e.group_id = $group_id AND e.uuid IS NOT NULL AND e.fs_keys IS NOT NULL
WITH e ORDER BY e.fs_created, e.uuid
RETURN {ENTITY_FIELDS} AS entity, e.name_embedding AS vector
"""

CONTRIBUTIONS = """CYPHER 25
MATCH (p:Episodic)-[m:MENTIONS]->(e:Entity)
WHERE m.group_id = $group_id AND m.uuid IS NOT NULL AND e.fs_keys IS NOT NULL
WITH p, m, e ORDER BY m.fs_place, p.uuid, e.uuid
RETURN p.uuid AS episode, e.uuid AS entity, m.fs_place AS place, m.created_at AS at, m.fs_told AS told
"""

EVIDENCE = """CYPHER 25
MATCH (v:Evidence)
WHERE v.group_id = $group_id AND v.uuid IS NOT NULL
WITH v ORDER BY v.fs_recorded, v.uuid
RETURN v.fs_json AS evidence
"""

FACTS = """CYPHER 25
MATCH (:Entity)-[r:RELATES_TO]->(:Entity)
WHERE r.group_id = $group_id AND r.uuid IS NOT NULL AND r.fs_fact IS NOT NULL
WITH r ORDER BY r.fs_created, r.uuid
RETURN r.fs_fact AS fact, r.fact_embedding AS vector
"""

MERGES = """CYPHER 25
MATCH (m:Merge)
WHERE m.group_id = $group_id AND m.uuid IS NOT NULL
RETURN m.fs_json AS json ORDER BY m.uuid
"""

MARKS = """CYPHER 25
MATCH (mark:StageMark)
WHERE mark.group_id = $group_id AND mark.episode_id IS NOT NULL AND mark.stage IS NOT NULL
RETURN mark.episode_id AS episode_id, mark.stage AS stage, mark.output AS output, mark.judged AS judged,
    EXISTS {
        (:StageMark {group_id: $group_id, episode_id: mark.episode_id, stage: 'forgotten'})
    } AS forgotten
ORDER BY episode_id, stage
"""

OCCUPIED = """CYPHER 25
UNWIND $groups AS g
WITH g WHERE EXISTS { MATCH (x:Episodic) WHERE x.group_id = g AND x.uuid IS NOT NULL }
  OR EXISTS { MATCH (x:Entity) WHERE x.group_id = g AND x.uuid IS NOT NULL }
  OR EXISTS { MATCH (x:Lane) WHERE x.group_id = g AND x.stage IS NOT NULL }
RETURN g AS id ORDER BY id
"""

RESTORED = "OPTIONAL MATCH (s:FactstreamSchema {name: $name}) RETURN coalesce(s.done, 0) AS done"
SET_RESTORED = "MERGE (s:FactstreamSchema {name: $name}) SET s.done = $done"

LOCK_GROUP = """CYPHER 25
MERGE (whole:Lane {group_id: $group_id, stage: ''})
SET whole.version = coalesce(whole.version, 0) + 1
"""

SET_LANES = """CYPHER 25
UNWIND $lanes AS w
MERGE (lane:Lane {group_id: $group_id, stage: w.stage})
SET lane.version = CASE WHEN coalesce(lane.version, 0) < w.version THEN w.version ELSE lane.version END
WITH DISTINCT 1 AS one
MATCH (whole:Lane {group_id: $group_id, stage: ''})
SET whole.fs_spent = coalesce($spent, whole.fs_spent)
"""

SET_MARKS = """CYPHER 25
UNWIND $marks AS w
MERGE (mark:StageMark {group_id: $group_id, episode_id: w.episode_id, stage: w.stage})
SET mark.output = w.output, mark.judged = w.judged, mark.forgotten = CASE WHEN w.forgotten THEN true END
"""
