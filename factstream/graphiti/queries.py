"""Cypher over a graph of Graphiti; all of it reads. Rows come with whatever properties they have, vectors apart.

What factstream has written itself bears `fs_scope` and is passed over. `$group` is a group's id; Graphiti's default
group is the empty text.
"""

from __future__ import annotations

GROUPS = """CYPHER 25
MATCH (n:Episodic) WHERE n.fs_scope IS NULL RETURN DISTINCT coalesce(toString(n.group_id), '') AS id
UNION
MATCH (n:Entity) WHERE n.fs_scope IS NULL RETURN DISTINCT coalesce(toString(n.group_id), '') AS id
"""

COUNTS = """CYPHER 25
CALL () { MATCH (n:Episodic) WHERE coalesce(n.group_id, '') = $group AND n.fs_scope IS NULL RETURN count(n) AS episodes }
CALL () { MATCH (n:Entity) WHERE coalesce(n.group_id, '') = $group AND n.fs_scope IS NULL RETURN count(n) AS entities }
CALL () {
    MATCH (s)-[r:RELATES_TO]->() WHERE coalesce(r.group_id, s.group_id, '') = $group AND r.fs_scope IS NULL
    RETURN count(r) AS facts
}
RETURN episodes + entities + facts AS rows
"""

EPISODES = """CYPHER 25
MATCH (p:Episodic)
WHERE coalesce(p.group_id, '') = $group AND p.fs_scope IS NULL
OPTIONAL MATCH (saga)-[via]->(p)
WHERE type(via) = 'HAS_EPISODE'
WITH p, min(coalesce(saga.name, saga.uuid)) AS saga ORDER BY toString(p.created_at), p.uuid
RETURN p {.*, content_embedding: null} AS props, saga
"""

# Episodes of which something was read.
TELLING = """CYPHER 25
MATCH (p:Episodic)-[:MENTIONS]->(:Entity)
WHERE coalesce(p.group_id, '') = $group AND p.fs_scope IS NULL
RETURN DISTINCT p.uuid AS id
UNION
MATCH (s)-[r:RELATES_TO]->()
WHERE coalesce(r.group_id, s.group_id, '') = $group AND r.fs_scope IS NULL
UNWIND r.episodes AS id
RETURN DISTINCT id
"""

COMMUNITIES = """CYPHER 25
MATCH (c:Community)
WHERE coalesce(c.group_id, '') = $group AND c.fs_scope IS NULL
OPTIONAL MATCH (c)-[:HAS_MEMBER]->(e:Entity)
WITH c, collect(e.uuid) AS members ORDER BY c.uuid
RETURN c {.*, name_embedding: null} AS props, members, CASE WHEN $vectors THEN c.name_embedding END AS vector
"""

ENTITIES = """CYPHER 25
MATCH (e:Entity)
WHERE coalesce(e.group_id, '') = $group AND e.fs_scope IS NULL
WITH e ORDER BY toString(e.created_at), e.uuid
RETURN e {.*, name_embedding: null} AS props, labels(e) AS labels,
    CASE WHEN $vectors THEN e.name_embedding END AS vector
"""

MENTIONS = """CYPHER 25
MATCH (p:Episodic)-[m:MENTIONS]->(e)
WHERE coalesce(p.group_id, '') = $group AND m.fs_place IS NULL AND p.fs_scope IS NULL
RETURN p.uuid AS episode, e.uuid AS entity ORDER BY episode, entity
"""

# All of one (source, name, target) come one after the other.
FACTS = """CYPHER 25
MATCH (s)-[r:RELATES_TO]->(t)
WHERE coalesce(r.group_id, s.group_id, '') = $group AND r.fs_scope IS NULL
WITH s, r, t ORDER BY s.uuid, toString(r.name), t.uuid, toString(r.created_at), r.uuid
RETURN s.uuid AS source, t.uuid AS target, r {.*, fact_embedding: null} AS props,
    CASE WHEN $vectors THEN r.fact_embedding END AS vector
"""
