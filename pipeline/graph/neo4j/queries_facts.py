"""Cypher of the stage resolve_facts."""

from __future__ import annotations

from pipeline.graph.neo4j.queries_lane import ENTITY_FIELDS, HEAD

SETTLE = """CYPHER 25 replan=skip
MATCH (:StageMark {group_id: $group_id, episode_id: $episode_id, stage: $stage})
MATCH (p:Episodic {group_id: $group_id, uuid: $episode_id})
SET p.fs_state = 'committed', p.fs_reason = null
"""

FACT_GRAPH = f"""{HEAD}
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
        MATCH (s:Entity {{group_id: $group_id, uuid: look.subject}})
        MATCH (o:Entity {{group_id: $group_id, uuid: look.object}})
        CALL (s, o) {{
            MATCH (s)-[r:RELATES_TO]-(o)
            WHERE r.fs_valid_from <= r.fs_valid_to
            RETURN r
        }}
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

WRITE_EVIDENCE = """CYPHER 25 replan=skip
UNWIND $evidence AS w
MERGE (v:Evidence {group_id: $group_id, uuid: w.uuid})
SET v += w.properties
"""

FACTS_OF_ENTITIES = """CYPHER 25 replan=skip
UNWIND $ids AS id
MATCH (:Entity {group_id: $group_id, uuid: id})-[r:RELATES_TO]-(:Entity)
WITH DISTINCT r ORDER BY r.uuid
RETURN r.fs_fact AS fact
"""

EVIDENCE_BY_ID = """CYPHER 25 replan=skip
UNWIND $ids AS id
MATCH (v:Evidence {group_id: $group_id, uuid: id})
RETURN v.fs_json AS evidence
"""

WRITE_FACTS = """CYPHER 25 replan=skip
UNWIND $facts AS w
MATCH (s:Entity {group_id: $group_id, uuid: w.source})
MATCH (t:Entity {group_id: $group_id, uuid: w.target})
MERGE (s)-[r:RELATES_TO {group_id: $group_id, uuid: w.uuid}]->(t)
SET r += w.properties
RETURN count(r) AS written
"""
