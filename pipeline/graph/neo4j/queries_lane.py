"""What every commit and view of a stage shares: an entity's fields, the head of a view, first and last statement of a commit.

Everything that comes from outside is a parameter; lists are unwound, never looped over. Parameters that all share:
`group_id`, `stage`, `episode_id`. What stages ask for every episode has `replan=skip`: a plan that begins at indexes
stays right while the graph grows, and making all of them anew whenever the counts had moved took a quarter of the
database's time in a young graph. Views read the version of the lane before anything else, so that what they read is at
least as new as the version that they answer.
"""

from __future__ import annotations

ENTITY_FIELDS = """{
    id: e.uuid, group_id: e.group_id, name: e.name, type: coalesce(e.fs_full_type, e.fs_type), aliases: e.fs_aliases, keys: e.fs_keys,
    summary: e.summary, description: e.fs_description, lines: e.fs_lines, attributes: e.fs_attributes,
    created_at: e.created_at, community: e.fs_community
}"""

CURRENT = "r.fs_valid_from <= $now AND $now < r.fs_valid_to"

# Views begin so: which version the lane has, and whether the episode was committed in this stage before.
HEAD = """CYPHER 25 replan=skip
OPTIONAL MATCH (lane:Lane {group_id: $group_id, stage: $stage})
WITH coalesce(lane.version, 0) AS version
OPTIONAL MATCH (mark:StageMark {group_id: $group_id, episode_id: $episode_id, stage: $stage})
WITH version, mark IS NOT NULL AS marked, mark.output AS output, mark.judged AS judged, mark.forgotten AS forgotten
"""

# The first statement of every commit. The whole group is locked before its lane, since stages of one group write to
# the same nodes and would wait for each other in a circle. The lane is locked by its first write, before its version
# is read, so of two commits the later one sees what the earlier one made of it.
BEGIN = """CYPHER 25 replan=skip
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
FINISH = """CYPHER 25 replan=skip
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

ADD_SPENDING = """CYPHER 25 replan=skip
MATCH (whole:Lane {group_id: $group_id, stage: ''})
SET whole.fs_spent = $spent
"""
