"""Cypher of the stage update_communities and of its rebuilds."""

from __future__ import annotations

from pipeline.graph.neo4j.queries_lane import CURRENT, ENTITY_FIELDS, HEAD

# The communities of each `id`, with their members, those with most current facts first.
_WITH_MEMBERS = f"""MATCH (c:Community {{group_id: $group_id, uuid: id}})
    CALL (c) {{
        MATCH (c)-[:HAS_MEMBER]->(e:Entity)
        WITH e, COUNT {{ (e)-[r:RELATES_TO]-() WHERE {CURRENT} }} AS facts
        ORDER BY facts DESC, e.uuid LIMIT $member_limit
        RETURN collect({ENTITY_FIELDS}) AS members
    }}
    RETURN collect({{
        id: c.uuid, group_id: c.group_id, name: c.name, summary: c.summary, created_at: c.created_at,
        members: members
    }}) AS communities"""

COMMUNITY_GRAPH = f"""{HEAD}
CALL () {{
    UNWIND $entity_ids AS id
    MATCH (e:Entity {{group_id: $group_id, uuid: id}})
    CALL (e) {{
        MATCH (e)-[r:RELATES_TO]-(n:Entity)
        WHERE n <> e AND {CURRENT}
        WITH n, count(r) AS weight ORDER BY weight DESC, n.uuid LIMIT $neighbour_limit
        RETURN collect([n.uuid, weight, n.fs_community]) AS neighbours
    }}
    RETURN collect({{entity: {ENTITY_FIELDS}, neighbours: neighbours}}) AS neighbourhoods
}}
CALL (neighbourhoods) {{
    UNWIND neighbourhoods AS found
    UNWIND [found.entity.community] + [n IN found.neighbours | n[2]] AS id
    WITH DISTINCT id WHERE id IS NOT NULL
    {_WITH_MEMBERS}
}}
RETURN version, marked, output, judged, forgotten, neighbourhoods, communities
"""

COMMUNITIES = f"""{HEAD}
CALL () {{
    UNWIND $ids AS id
    {_WITH_MEMBERS}
}}
RETURN version, communities
"""

DESCRIBE_COMMUNITIES = """CYPHER 25 replan=skip
UNWIND $communities AS w
MATCH (c:Community {group_id: $group_id, uuid: w.uuid})
SET c += w.properties
"""

GROUP_GRAPH = f"""{HEAD}
CALL () {{
    MATCH (e:Entity)
    WHERE e.group_id = $group_id AND e.uuid IS NOT NULL
    WITH e ORDER BY e.uuid
    RETURN collect({ENTITY_FIELDS}) AS entities
}}
CALL () {{
    MATCH (e:Entity)-[r:RELATES_TO]->(t:Entity)
    WHERE e.group_id = $group_id AND e.uuid IS NOT NULL AND e <> t AND {CURRENT}
    WITH CASE WHEN e.uuid < t.uuid THEN [e.uuid, t.uuid] ELSE [t.uuid, e.uuid] END AS pair, count(r) AS weight
    ORDER BY pair
    RETURN collect([pair[0], pair[1], weight]) AS edges
}}
RETURN version, entities, edges
"""

# A rebuild: communities that it did not find are gone.
DROP_OTHER_COMMUNITIES = """CYPHER 25 replan=skip
MATCH (c:Community)
WHERE c.group_id = $group_id AND c.uuid IS NOT NULL AND NOT c.uuid IN $kept
OPTIONAL MATCH (c)-[:HAS_MEMBER]->(e:Entity)
SET e.fs_community = null
WITH DISTINCT c
DETACH DELETE c
"""

WRITE_COMMUNITIES = """CYPHER 25 replan=skip
UNWIND $communities AS w
MERGE (c:Community {group_id: $group_id, uuid: w.uuid})
ON CREATE SET c.created_at = w.created_at, c.fs_created = w.created
SET c += w.properties
"""

# `moves` are entities with the community that they go to (null: none); answers how many could be placed, and the
# communities that they came from.
MOVE_MEMBERS = """CYPHER 25 replan=skip
UNWIND $moves AS w
MATCH (e:Entity {group_id: $group_id, uuid: w.entity})
CALL (e) {
    OPTIONAL MATCH (left:Community)-[r:HAS_MEMBER]->(e)
    WITH left.uuid AS id, r
    DELETE r
    RETURN collect(id) AS left
}
SET e.fs_community = w.community
WITH e, w, left
OPTIONAL MATCH (c:Community {group_id: $group_id, uuid: w.community})
CALL (e, w, c) {
    WITH e, w, c WHERE c IS NOT NULL
    MERGE (c)-[m:HAS_MEMBER {group_id: $group_id, uuid: w.uuid}]->(e)
    SET m.created_at = $at
}
RETURN count(CASE WHEN c IS NOT NULL OR w.community IS NULL THEN 1 END) AS placed, collect(left) AS left
"""

DROP_EMPTY_COMMUNITIES = """CYPHER 25 replan=skip
UNWIND $ids AS id
MATCH (c:Community {group_id: $group_id, uuid: id})
WHERE NOT EXISTS { (c)-[:HAS_MEMBER]->(:Entity) }
DETACH DELETE c
"""
