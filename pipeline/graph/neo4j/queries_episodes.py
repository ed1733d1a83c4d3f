"""Cypher of the stage extract, and of the states of episodes."""

from __future__ import annotations

# No row, and nothing written, where the graph has a format that is newer than `known`. The tombstone is looked for when
# the episode is locked: who forgets it at this moment is waited for.
RECEIVE = """CYPHER 25 replan=skip
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

SPENT = "MATCH (whole:Lane {group_id: $group_id, stage: ''}) RETURN whole.fs_spent AS spent"

MARK_DEAD = """CYPHER 25 replan=skip
OPTIONAL MATCH (p:Episodic {group_id: $group_id, uuid: $episode_id})
CALL (p) {
    WITH p WHERE NOT p.fs_state IN ['committed', 'skipped', 'dead']
    SET p.fs_state = 'dead', p.fs_reason = $reason
}
RETURN p IS NULL OR p.fs_state = 'dead' AS dead
"""

HOLD = """CYPHER 25 replan=skip
MATCH (p:Episodic {group_id: $group_id, uuid: $episode_id})
WHERE p.fs_state = 'received'
SET p.fs_reason = $reason
"""

REVIVE = """CYPHER 25 replan=skip
MATCH (p:Episodic {group_id: $group_id, uuid: $episode_id})
WHERE p.fs_state = 'dead'
OPTIONAL MATCH (mark:StageMark {group_id: $group_id, episode_id: $episode_id})
WHERE mark.stage IN keys($state_after)
WITH p, collect(mark.stage) AS stages
SET p.fs_reason = null,
    p.fs_state = coalesce(head([s IN $newest_first WHERE s IN stages | $state_after[s]]), 'received')
"""
