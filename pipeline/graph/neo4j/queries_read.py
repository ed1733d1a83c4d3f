"""Cypher of the reads by id, and how a node or a relationship is shown: fields by name, never a vector.

Times are shown as microseconds since 1970: for the driver a native time is by far the dearest thing to read.
"""

from __future__ import annotations

_CREATED = "x.created_at.epochSeconds * 1000000 + x.created_at.microsecond"

FACT_FIELDS = "{group_id: x.group_id, id: x.uuid, fact: x.fs_fact}"

ENTITY_FIELDS = f"""{{
    group_id: x.group_id, id: x.uuid, name: x.name, type: coalesce(x.fs_full_type, x.fs_type),
    aliases: x.fs_aliases, keys: x.fs_keys, summary: x.summary, description: x.fs_description,
    lines: x.fs_lines, attributes: x.fs_attributes, created_at: {_CREATED}, community: x.fs_community
}}"""

EPISODE_FIELDS = f"""{{
    group_id: x.group_id, id: x.uuid, episode: x.fs_episode, state: x.fs_state, usage: x.fs_usage,
    reason: x.fs_reason, created_at: {_CREATED}
}}"""

COMMUNITY_FIELDS = f"""{{
    group_id: x.group_id, id: x.uuid, name: x.name, summary: x.summary, created_at: {_CREATED},
    members: COLLECT {{ MATCH (x)-[:HAS_MEMBER]->(member:Entity) RETURN member.uuid ORDER BY member.uuid }}
}}"""

EPISODE = f"""CYPHER 25 replan=skip
MATCH (e:Episodic {{group_id: $group_id, uuid: $id}})
CALL (e) {{ WITH e AS x RETURN {EPISODE_FIELDS} AS item }}
CALL (e) {{
    MATCH (e)-[:MENTIONS]->(x:Entity)
    WITH x ORDER BY x.name, x.uuid
    WITH {ENTITY_FIELDS} AS entity
    RETURN collect(entity) AS entities
}}
CALL (e) {{
    MATCH (e)-[:MENTIONS]->(:Entity)-[x:RELATES_TO]-(other:Entity)
    WHERE e.uuid IN x.episodes OR EXISTS {{ (e)-[:MENTIONS]->(other) }}
    WITH DISTINCT x
    WITH x ORDER BY x.fs_created, x.uuid
    RETURN collect({FACT_FIELDS}) AS facts
}}
RETURN item, entities, facts
"""

EPISODE_STATE = """CYPHER 25 replan=skip
MATCH (x:Episodic {group_id: $group_id, uuid: $id})
RETURN x.fs_state AS state, x.fs_reason AS reason
"""

EPISODES = f"""CYPHER 25 replan=skip
MATCH (x:Episodic)
WHERE x.group_id = $group_id AND x.fs_reference <= $before
    AND (x.fs_reference < $before OR x.fs_sequence < $sequence)
WITH x ORDER BY x.fs_reference DESC, x.fs_sequence DESC LIMIT $limit
RETURN {EPISODE_FIELDS} AS item
"""

EPISODES_OF_THREAD = f"""CYPHER 25 replan=skip
MATCH (x:Episodic)
WHERE x.group_id = $group_id AND x.fs_thread = $thread AND x.fs_reference <= $before
    AND (x.fs_reference < $before OR x.fs_sequence < $sequence)
WITH x ORDER BY x.fs_reference DESC, x.fs_sequence DESC LIMIT $limit
RETURN {EPISODE_FIELDS} AS item
"""

FACT = """CYPHER 25 replan=skip
MATCH ()-[x:RELATES_TO {group_id: $group_id, uuid: $id}]->()
RETURN x.fs_fact AS fact
"""

# Planned anew as the graph grows: while few facts have a hyperedge, a scan of its index is as good as a seek.
HYPEREDGES = """CYPHER 25
UNWIND $ids AS id
MATCH ()-[x:RELATES_TO]->()
USING INDEX x:RELATES_TO(group_id, fs_hyperedge)
WHERE x.group_id = $group_id AND x.fs_hyperedge = id
RETURN x.fs_fact AS fact ORDER BY x.fs_created, x.uuid
"""

# The slot by its evidence, as the write side reads it: an entity may have very many facts.
VALUES_BEFORE = """CYPHER 25 replan=skip
UNWIND $starts AS look
CALL (look) {
    CALL (look) {
        UNWIND look.slots AS slot
        MATCH (v:Evidence {group_id: $group_id, fs_slot: slot})
        WHERE v.fs_cardinality = 'one'
        RETURN v.fs_triplet AS triplet
        UNION
        UNWIND look.end_slots AS slot
        MATCH (v:Evidence {group_id: $group_id, fs_object_slot: slot})
        WHERE v.fs_cardinality = 'one'
        RETURN v.fs_triplet AS triplet
    }
    MATCH ()-[x:RELATES_TO {group_id: $group_id, fs_triplet: triplet}]->()
    WHERE x.fs_cardinality = 'one'
        AND (x.fs_source IN look.ends OR (look.symmetric AND x.fs_target IN look.ends))
        AND NOT (x.fs_source = look.source AND x.fs_target = look.target)
        AND NOT (look.symmetric AND x.fs_source = look.target AND x.fs_target = look.source)
    WITH x, look, size([k IN x.fs_belief_from WHERE k <= $known_at]) - 1 AS place
    WHERE place >= 0
    WITH x, look, x.fs_belief_valid[place] AS start, x.fs_belief_invalid[place] AS end
    WHERE start <= end AND end <= look.start
    RETURN x ORDER BY end DESC, start DESC, x.uuid DESC LIMIT 1
}
WITH DISTINCT x
RETURN x.fs_fact AS fact
"""

ENTITY = f"""CYPHER 25 replan=skip
MATCH (x:Entity {{group_id: $group_id, uuid: $id}})
RETURN {ENTITY_FIELDS} AS item
"""

ENTITY_FACTS = """CYPHER 25 replan=skip
MATCH (n:Entity {group_id: $group_id, uuid: $id})
RETURN COLLECT {
    MATCH (n)-[x:RELATES_TO]-(:Entity)
    WITH DISTINCT x
    RETURN {fact: x.fs_fact}
} AS facts
"""

COMMUNITY = f"""CYPHER 25 replan=skip
MATCH (x:Community {{group_id: $group_id, uuid: $id}})
RETURN {COMMUNITY_FIELDS} AS item
"""
