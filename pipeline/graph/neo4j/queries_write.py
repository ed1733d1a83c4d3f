"""Cypher of the write side. Everything that comes from outside is a parameter; lists are unwound, never looped over.

Parameters that all share: `group_id`, `stage`, `episode_id`. Views read the version of the lane before anything else,
so that what they read is at least as new as the version that they answer.
"""

from __future__ import annotations

ENTITY_FIELDS = """{
    id: e.uuid, group_id: e.group_id, name: e.name, type: coalesce(e.fs_full_type, e.fs_type), aliases: e.fs_aliases, keys: e.fs_keys,
    summary: e.summary, description: e.fs_description, lines: e.fs_lines, attributes: e.fs_attributes,
    created_at: e.created_at, community: e.fs_community
}"""

_CURRENT = "r.fs_valid_from <= $now AND $now < r.fs_valid_to"

# Views begin so: which version the lane has, and whether the episode was committed in this stage before.
_HEAD = """CYPHER 25
OPTIONAL MATCH (lane:Lane {group_id: $group_id, stage: $stage})
WITH coalesce(lane.version, 0) AS version
OPTIONAL MATCH (mark:StageMark {group_id: $group_id, episode_id: $episode_id, stage: $stage})
WITH version, mark IS NOT NULL AS marked, mark.output AS output, mark.judged AS judged, mark.forgotten AS forgotten
"""

# No row, and nothing written, where the graph has a format that is newer than `known`. The tombstone is looked for when
# the episode is locked: who forgets it at this moment is waited for.
RECEIVE = """CYPHER 25
OPTIONAL MATCH (format:FactstreamSchema {name: 'graph'})
WITH coalesce(format.migrating, format.version, 0) AS format WHERE format <= $known
MERGE (p:Episodic {group_id: $group_id, uuid: $episode_id})
ON CREATE SET p += $properties
WITH p, p.fs_episode AS episode, p.fs_state AS state
OPTIONAL MATCH (gone:StageMark {group_id: $group_id, episode_id: $episode_id, stage: 'forgotten'})
WITH p, episode, state, gone IS NOT NULL AS forgotten
OPTIONAL MATCH (mark:StageMark {group_id: $group_id, episode_id: $episode_id, stage: $stage})
WITH p, episode, state, forgotten, mark, mark.output AS output, mark.judged AS judged, mark IS NOT NULL AS marked
CALL (p, mark) {
    WITH p, mark WHERE p.fs_state = 'dead' AND mark IS NULL
    SET p.fs_state = 'received', p.fs_reason = null
}
CALL (p) {
    MATCH (c:Episodic)
    USING INDEX c:Episodic(group_id, fs_thread, fs_reference)
    WHERE c.group_id = $group_id AND c.fs_thread = p.fs_thread AND c.fs_reference <= p.fs_reference
      AND (c.fs_reference < p.fs_reference OR c.fs_sequence < p.fs_sequence) AND c.uuid <> p.uuid
    WITH c ORDER BY c.fs_reference DESC, c.fs_sequence DESC, c.uuid LIMIT $context_size
    RETURN collect(c.fs_episode) AS context
}
CALL (p, forgotten) {
    WITH p WHERE forgotten
    DETACH DELETE p
}
RETURN episode, state, marked, output, judged, forgotten, context
"""

# The first statement of every commit. The whole group is locked before its lane, since stages of one group write to
# the same nodes and would wait for each other in a circle. The lane is locked by its first write, before its version
# is read, so of two commits the later one sees what the earlier one made of it.
BEGIN = """CYPHER 25
MERGE (whole:Lane {group_id: $group_id, stage: ''})
SET whole.version = coalesce(whole.version, 0) + 1
WITH whole
MERGE (lane:Lane {group_id: $group_id, stage: $stage})
ON CREATE SET lane.version = 0
SET lane.version = lane.version + 1
WITH whole, lane.version - 1 AS version
OPTIONAL MATCH (mark:StageMark {group_id: $group_id, episode_id: $episode_id, stage: $stage})
OPTIONAL MATCH (p:Episodic {group_id: $group_id, uuid: $episode_id})
OPTIONAL MATCH (format:FactstreamSchema {name: 'graph'})
RETURN version, mark IS NOT NULL AS marked, mark.output AS output, mark.judged AS judged, mark.forgotten AS forgotten,
    p.fs_usage AS usage, whole.fs_spent AS spent, coalesce(whole.fs_held_until > timestamp(), false) AS held,
    coalesce(format.migrating, format.version) AS format
"""

# The last statement of every commit. What the stage before sent on has been received, so it is kept no longer.
FINISH = """CYPHER 25
MERGE (mark:StageMark {group_id: $group_id, episode_id: $episode_id, stage: $stage})
SET mark.output = $output, mark.judged = $judged
WITH mark
OPTIONAL MATCH (before:StageMark {group_id: $group_id, episode_id: $episode_id, stage: $previous})
SET before.output = null
WITH mark
OPTIONAL MATCH (p:Episodic {group_id: $group_id, uuid: $episode_id})
SET p.fs_state = coalesce($state, p.fs_state), p.fs_usage = $usage,
    p.fs_reason = CASE WHEN $state IS NULL THEN p.fs_reason END
WITH mark
MATCH (whole:Lane {group_id: $group_id, stage: ''})
SET whole.fs_spent = $spent
"""

SPENT = "MATCH (whole:Lane {group_id: $group_id, stage: ''}) RETURN whole.fs_spent AS spent"

SETTLE = """CYPHER 25
MATCH (:StageMark {group_id: $group_id, episode_id: $episode_id, stage: $stage})
MATCH (p:Episodic {group_id: $group_id, uuid: $episode_id})
SET p.fs_state = 'committed', p.fs_reason = null
"""

MARK_DEAD = """CYPHER 25
OPTIONAL MATCH (p:Episodic {group_id: $group_id, uuid: $episode_id})
CALL (p) {
    WITH p WHERE NOT p.fs_state IN ['committed', 'skipped', 'dead']
    SET p.fs_state = 'dead', p.fs_reason = $reason
}
RETURN p IS NULL OR p.fs_state = 'dead' AS dead
"""

HOLD = """CYPHER 25
MATCH (p:Episodic {group_id: $group_id, uuid: $episode_id})
WHERE p.fs_state = 'received'
SET p.fs_reason = $reason
"""

REVIVE = """CYPHER 25
MATCH (p:Episodic {group_id: $group_id, uuid: $episode_id})
WHERE p.fs_state = 'dead'
OPTIONAL MATCH (mark:StageMark {group_id: $group_id, episode_id: $episode_id})
WHERE mark.stage IN keys($state_after)
WITH p, collect(mark.stage) AS stages
SET p.fs_reason = null,
    p.fs_state = coalesce(head([s IN $newest_first WHERE s IN stages | $state_after[s]]), 'received')
"""

ENTITY_VIEW = f"""{_HEAD}
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
LOCK_ENTITIES = f"""CYPHER 25
UNWIND $ids AS id
MATCH (e:Entity {{group_id: $group_id, uuid: id}})
SET e.fs_revision = coalesce(e.fs_revision, 0) + 1
WITH e
RETURN {ENTITY_FIELDS} AS entity
"""

WRITE_ENTITIES = """CYPHER 25
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

WRITE_MENTIONS = """CYPHER 25
UNWIND $mentions AS w
MATCH (p:Episodic {group_id: $group_id, uuid: $episode_id})
MATCH (e:Entity {group_id: $group_id, uuid: w.entity})
MERGE (p)-[m:MENTIONS {group_id: $group_id, uuid: w.uuid}]->(e)
ON CREATE SET m.created_at = $at
SET m.fs_place = $place, m.fs_told = w.told
RETURN count(m) AS written
"""

WRITE_MERGES = """CYPHER 25
UNWIND $merges AS w
MERGE (m:Merge {group_id: $group_id, uuid: w.uuid})
SET m.fs_json = w.json
"""

FACT_GRAPH = f"""{_HEAD}
CALL () {{
    CALL () {{
        UNWIND $triplets AS triplet
        RETURN triplet
        UNION
        UNWIND $slots AS slot
        MATCH (v:Evidence {{group_id: $group_id, fs_slot: slot}})
        WHERE v.fs_cardinality = 'one'
        RETURN DISTINCT v.fs_triplet AS triplet
        UNION
        UNWIND $end_slots AS slot
        MATCH (v:Evidence {{group_id: $group_id, fs_slot: slot}})
        WHERE v.fs_cardinality = 'one' AND v.fs_object_slot IS NOT NULL
        RETURN DISTINCT v.fs_triplet AS triplet
        UNION
        UNWIND $end_slots AS slot
        MATCH (v:Evidence {{group_id: $group_id, fs_object_slot: slot}})
        WHERE v.fs_cardinality = 'one'
        RETURN DISTINCT v.fs_triplet AS triplet
    }}
    MATCH (v:Evidence {{group_id: $group_id, fs_triplet: triplet}})
    RETURN collect(v.fs_json) AS evidence, collect(DISTINCT v.fs_triplet) AS spoken_of
}}
CALL (spoken_of) {{
    UNWIND spoken_of AS triplet
    MATCH ()-[r:RELATES_TO {{group_id: $group_id, fs_triplet: triplet}}]->()
    RETURN collect(r.fs_fact) AS facts, collect(r.fs_source) + collect(r.fs_target) AS ends
}}
CALL (ends) {{
    UNWIND $entity_ids + ends AS id
    WITH DISTINCT id
    MATCH (e:Entity {{group_id: $group_id, uuid: id}})
    RETURN collect({ENTITY_FIELDS}) AS entities
}}
CALL () {{
    UNWIND range(0, size($looks) - 1) AS i
    WITH i, $looks[i] AS look
    CALL (look) {{
        MATCH (:Entity {{group_id: $group_id, uuid: look.subject}})
            -[r:RELATES_TO]-(:Entity {{group_id: $group_id, uuid: look.object}})
        WHERE r.fs_valid_from <= r.fs_valid_to
        WITH DISTINCT r ORDER BY r.fs_created DESC, r.uuid LIMIT $near_limit
        RETURN collect(r) AS of_pair
    }}
    CALL (look, of_pair) {{
        UNWIND look.ends AS end
        CALL (end, look) {{
            MATCH (:Entity {{group_id: $group_id, uuid: end}})-[r:RELATES_TO]-(:Entity)
            WHERE r.fs_valid_from <= look.at AND look.at < r.fs_valid_to
            RETURN r LIMIT $scanned
        }}
        WITH DISTINCT r, look, of_pair
        WHERE NOT r IN of_pair AND r.fact_embedding IS NOT NULL
        WITH r, vector.similarity.cosine(r.fact_embedding, look.vector) AS score
        ORDER BY score DESC, r.uuid LIMIT $near_limit
        RETURN collect(r) AS of_ends
    }}
    WITH i, (of_pair + of_ends)[..$near_limit] AS found
    UNWIND range(0, size(found) - 1) AS place
    WITH i, place, found[place] AS r
    OPTIONAL MATCH (p:Episodic {{group_id: $group_id, uuid: r.episodes[-1]}})
    RETURN collect([i, place, r.fs_fact, left(p.content, $source_characters)]) AS near
}}
CALL () {{
    OPTIONAL MATCH (p:Episodic {{group_id: $group_id, uuid: $episode_id}})
    RETURN CASE WHEN size($looks) > 0 THEN left(p.content, $source_characters) END AS source
}}
RETURN version, marked, output, judged, forgotten, evidence, facts, entities, near, source
"""

WRITE_EVIDENCE = """CYPHER 25
UNWIND $evidence AS w
MERGE (v:Evidence {group_id: $group_id, uuid: w.uuid})
SET v += w.properties
"""

FACTS_OF_ENTITIES = """CYPHER 25
UNWIND $ids AS id
MATCH (:Entity {group_id: $group_id, uuid: id})-[r:RELATES_TO]-(:Entity)
WITH DISTINCT r ORDER BY r.uuid
RETURN r.fs_fact AS fact
"""

EVIDENCE_BY_ID = """CYPHER 25
UNWIND $ids AS id
MATCH (v:Evidence {group_id: $group_id, uuid: id})
RETURN v.fs_json AS evidence
"""

WRITE_FACTS = """CYPHER 25
UNWIND $facts AS w
MATCH (s:Entity {group_id: $group_id, uuid: w.source})
MATCH (t:Entity {group_id: $group_id, uuid: w.target})
MERGE (s)-[r:RELATES_TO {group_id: $group_id, uuid: w.uuid}]->(t)
SET r += w.properties
RETURN count(r) AS written
"""

COMMUNITY_GRAPH = f"""{_HEAD}
CALL () {{
    UNWIND $entity_ids AS id
    MATCH (e:Entity {{group_id: $group_id, uuid: id}})
    CALL (e) {{
        MATCH (e)-[r:RELATES_TO]-(n:Entity)
        WHERE n <> e AND {_CURRENT}
        WITH n, count(r) AS weight ORDER BY weight DESC, n.uuid LIMIT $neighbour_limit
        RETURN collect([n.uuid, weight, n.fs_community]) AS neighbours
    }}
    RETURN collect({{entity: {ENTITY_FIELDS}, neighbours: neighbours}}) AS neighbourhoods
}}
CALL (neighbourhoods) {{
    UNWIND neighbourhoods AS found
    UNWIND [found.entity.community] + [n IN found.neighbours | n[2]] AS id
    WITH DISTINCT id WHERE id IS NOT NULL
    MATCH (c:Community {{group_id: $group_id, uuid: id}})
    CALL (c) {{
        MATCH (c)-[:HAS_MEMBER]->(e:Entity)
        WITH e, COUNT {{ (e)-[r:RELATES_TO]-() WHERE {_CURRENT} }} AS facts
        ORDER BY facts DESC, e.uuid LIMIT $member_limit
        RETURN collect({ENTITY_FIELDS}) AS members
    }}
    RETURN collect({{
        id: c.uuid, group_id: c.group_id, name: c.name, summary: c.summary, created_at: c.created_at,
        members: members
    }}) AS communities
}}
RETURN version, marked, output, judged, forgotten, neighbourhoods, communities
"""

COMMUNITIES = f"""{_HEAD}
CALL () {{
    UNWIND $ids AS id
    MATCH (c:Community {{group_id: $group_id, uuid: id}})
    CALL (c) {{
        MATCH (c)-[:HAS_MEMBER]->(e:Entity)
        WITH e, COUNT {{ (e)-[r:RELATES_TO]-() WHERE {_CURRENT} }} AS facts
        ORDER BY facts DESC, e.uuid LIMIT $member_limit
        RETURN collect({ENTITY_FIELDS}) AS members
    }}
    RETURN collect({{
        id: c.uuid, group_id: c.group_id, name: c.name, summary: c.summary, created_at: c.created_at,
        members: members
    }}) AS communities
}}
RETURN version, communities
"""

DESCRIBE_COMMUNITIES = """CYPHER 25
UNWIND $communities AS w
MATCH (c:Community {group_id: $group_id, uuid: w.uuid})
SET c += w.properties
"""

ADD_SPENDING = """CYPHER 25
MATCH (whole:Lane {group_id: $group_id, stage: ''})
SET whole.fs_spent = $spent
"""

GROUP_GRAPH = f"""{_HEAD}
CALL () {{
    MATCH (e:Entity)
    WHERE e.group_id = $group_id AND e.uuid IS NOT NULL
    WITH e ORDER BY e.uuid
    RETURN collect({ENTITY_FIELDS}) AS entities
}}
CALL () {{
    MATCH (e:Entity)-[r:RELATES_TO]->(t:Entity)
    WHERE e.group_id = $group_id AND e.uuid IS NOT NULL AND e <> t AND {_CURRENT}
    WITH CASE WHEN e.uuid < t.uuid THEN [e.uuid, t.uuid] ELSE [t.uuid, e.uuid] END AS pair, count(r) AS weight
    ORDER BY pair
    RETURN collect([pair[0], pair[1], weight]) AS edges
}}
RETURN version, entities, edges
"""

# A rebuild: communities that it did not find are gone.
DROP_OTHER_COMMUNITIES = """CYPHER 25
MATCH (c:Community)
WHERE c.group_id = $group_id AND c.uuid IS NOT NULL AND NOT c.uuid IN $kept
OPTIONAL MATCH (c)-[:HAS_MEMBER]->(e:Entity)
SET e.fs_community = null
WITH DISTINCT c
DETACH DELETE c
"""

WRITE_COMMUNITIES = """CYPHER 25
UNWIND $communities AS w
MERGE (c:Community {group_id: $group_id, uuid: w.uuid})
ON CREATE SET c.created_at = w.created_at, c.fs_created = w.created
SET c += w.properties
"""

# `moves` are entities with the community that they go to (null: none); answers how many could be placed, and the
# communities that they came from.
MOVE_MEMBERS = """CYPHER 25
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

DROP_EMPTY_COMMUNITIES = """CYPHER 25
UNWIND $ids AS id
MATCH (c:Community {group_id: $group_id, uuid: id})
WHERE NOT EXISTS { (c)-[:HAS_MEMBER]->(:Entity) }
DETACH DELETE c
"""
