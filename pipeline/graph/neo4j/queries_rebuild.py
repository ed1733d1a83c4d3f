"""Cypher of a rebuild: what is known of a group's episodes, its lease, and episodes that come back."""

from __future__ import annotations

KNOWN_EPISODES = """CYPHER 25
MATCH (p:Episodic)
WHERE p.group_id = $group_id AND p.uuid IS NOT NULL
RETURN p.uuid AS id, p.fs_state AS state, p.fs_sequence AS sequence, p.created_at AS created_at, p.fs_reason AS reason,
    p.fs_usage AS usage
"""

RAW_EPISODES = """CYPHER 25
UNWIND $ids AS id
MATCH (p:Episodic {group_id: $group_id, uuid: id})
WHERE p.fs_episode IS NOT NULL
RETURN p.fs_episode AS episode
"""

# The node is locked by its first write, before anything of it is read: of two that ask at once one is told of the other.
LEASE = """CYPHER 25
MERGE (whole:Lane {group_id: $group_id, stage: ''})
SET whole.version = coalesce(whole.version, 0) + 1
WITH whole, whole.fs_lease_until > timestamp() AND whole.fs_lease <> $token AS taken
CALL (whole, taken) {
    WITH whole WHERE taken IS NULL OR NOT taken
    SET whole.fs_lease = $token, whole.fs_lease_holder = $holder, whole.fs_lease_until = timestamp() + $millis,
        whole.fs_held_until = CASE WHEN $holds THEN timestamp() + $millis END
}
RETURN coalesce(taken, false) AS taken, whole.fs_lease AS token, whole.fs_lease_holder AS holder
"""

END_LEASE = """CYPHER 25
MATCH (whole:Lane {group_id: $group_id, stage: ''})
SET whole.version = coalesce(whole.version, 0) + 1
WITH whole WHERE whole.fs_lease = $token
REMOVE whole.fs_lease, whole.fs_lease_holder, whole.fs_lease_until, whole.fs_held_until
"""

GROUP_IDS = """CYPHER 25
CALL () {
    MATCH (p:Episodic) WHERE p.group_id IS NOT NULL AND p.uuid IS NOT NULL
    RETURN DISTINCT p.group_id AS id
    UNION
    MATCH (e:Entity) WHERE e.group_id IS NOT NULL AND e.uuid IS NOT NULL
    RETURN DISTINCT e.group_id AS id
}
RETURN id ORDER BY id
"""

RESTORE_EPISODES = """CYPHER 25
UNWIND $episodes AS w
MERGE (p:Episodic {group_id: $group_id, uuid: w.uuid})
ON CREATE SET p += w.properties
SET p.fs_state = w.state, p.fs_reason = w.reason
"""

RESTORE_MARKS = """CYPHER 25
UNWIND $marks AS w
MERGE (mark:StageMark {group_id: $group_id, episode_id: w.episode, stage: w.stage})
"""
