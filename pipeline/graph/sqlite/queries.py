"""Every SQL text of the write side and of what both sides share, by name. Values are always parameters."""

from __future__ import annotations

# Groups, lanes, marks

GROUP_NO = "SELECT no FROM groups WHERE id = :id"
ADD_GROUP = "INSERT OR IGNORE INTO groups (id) VALUES (:id)"
GROUP_CHANGES = "SELECT changes FROM groups WHERE no = :group"
RAISE_GROUP_CHANGES = "UPDATE groups SET changes = changes + 1 WHERE no = :group RETURNING changes"

LANE_VERSION = "SELECT version FROM lane WHERE group_no = :group AND stage = :stage"
RAISE_LANE = (
    "UPDATE lane SET version = version + 1 WHERE group_no = :group AND stage = :stage AND version = :version"
)
START_LANE = "INSERT OR IGNORE INTO lane VALUES (:group, :stage, 1)"

MARK = "SELECT output FROM mark WHERE group_no = :group AND episode_id = :episode AND stage = :stage"
MARKS = "SELECT stage, output FROM mark WHERE group_no = :group AND episode_id = :episode"
PUT_MARK = """
INSERT INTO mark VALUES (:group, :episode, :stage, :output)
ON CONFLICT (group_no, episode_id, stage) DO UPDATE SET output = excluded.output"""
FORGOTTEN = "SELECT 1 FROM mark WHERE group_no = :group AND episode_id = :episode AND stage = 'forgotten'"
JUDGED = "SELECT body FROM judged WHERE group_no = :group AND episode_id = :episode AND stage = :stage"
PUT_JUDGED = "INSERT OR REPLACE INTO judged VALUES (:group, :episode, :stage, :body)"
DROP_OUTPUT = (
    "UPDATE mark SET output = NULL WHERE group_no = :group AND episode_id = :episode AND stage = :stage"
)

# Episodes

EPISODE_BODY = "SELECT body, state FROM episode WHERE group_no = :group AND id = :id"
ADD_EPISODE = """
INSERT INTO episode (group_no, id, state, reference_time, sequence, thread_id, created_at, usage, body)
VALUES (:group, :id, :state, :reference_time, :sequence, :thread, :created_at, :usage, :body) RETURNING no"""
ADD_METADATA = "INSERT INTO metadata VALUES (?, ?, ?)"
THREAD_BEFORE = """
SELECT body FROM episode
WHERE group_no = :group AND thread_id = :thread AND id <> :id
  AND (reference_time, sequence) < (:reference_time, :sequence)
ORDER BY reference_time DESC, sequence DESC, no DESC LIMIT :limit"""
EPISODE_USAGE = "SELECT usage FROM episode WHERE group_no = :group AND id = :id"
SET_EPISODE = """
UPDATE episode SET state = coalesce(:state, state), usage = :usage, reason = NULL
WHERE group_no = :group AND id = :id"""
SPENDING = "SELECT body FROM spending WHERE group_no = :group"
PUT_SPENDING = """
INSERT INTO spending VALUES (:group, :body) ON CONFLICT (group_no) DO UPDATE SET body = excluded.body"""
SET_DEAD = """
UPDATE episode SET state = 'dead', reason = :reason
WHERE group_no = :group AND id = :id AND state NOT IN ('committed', 'skipped', 'dead')"""
SET_HELD = """
UPDATE episode SET reason = :reason WHERE group_no = :group AND id = :id AND state = 'received'"""
SET_ALIVE = (
    "UPDATE episode SET state = :state, reason = NULL WHERE group_no = :group AND id = :id AND state = 'dead'"
)

# Entities

ENTITY_BODY = "SELECT body FROM entity WHERE group_no = :group AND id = :id"
PUT_ENTITY = """
INSERT INTO entity (group_no, id, type, created_at, body) VALUES (:group, :id, :type, :created_at, :body)
ON CONFLICT (group_no, id) DO UPDATE SET type = excluded.type, created_at = excluded.created_at, body = excluded.body
RETURNING no"""
CLEAR_KEYS = "DELETE FROM entity_key WHERE entity_no = ?"
ADD_KEY = "INSERT OR IGNORE INTO entity_key VALUES (?, ?, ?)"
ADD_MENTION = """
INSERT OR IGNORE INTO mention
SELECT group_no, :episode, no, :at, :place, :told FROM entity WHERE group_no = :group AND id = :id"""
PUT_MERGE = """
INSERT INTO merge VALUES (:group, :id, :body)
ON CONFLICT (group_no, id) DO UPDATE SET body = excluded.body"""
ENTITIES_BY_KEYS = """
SELECT DISTINCT e.no, e.body, e.community_id FROM json_each(:keys) k
CROSS JOIN entity_key ON entity_key.group_no = :group AND entity_key.key = k.value
CROSS JOIN entity e ON e.no = entity_key.entity_no
ORDER BY e.no"""
ENTITIES_BY_ID = """
SELECT e.no, e.body, e.community_id FROM json_each(:ids) i
CROSS JOIN entity e ON e.group_no = :group AND e.id = i.value"""
ENTITIES_BY_NO = "SELECT no, body, community_id FROM entity WHERE no IN (SELECT value FROM json_each(:nos))"
ENTITIES_OF_GROUP = "SELECT no, body, community_id FROM entity WHERE group_no = :group ORDER BY no"

# Evidence and facts

FACTS_OF_ENTITIES = """
SELECT f.id, f.body FROM json_each(:ids) i CROSS JOIN fact f ON f.group_no = :group AND f.source = i.value
UNION
SELECT f.id, f.body FROM json_each(:ids) i CROSS JOIN fact f ON f.group_no = :group AND f.target = i.value
ORDER BY 1"""
EVIDENCE_BY_ID = """
SELECT v.body FROM json_each(:ids) i CROSS JOIN evidence v ON v.group_no = :group AND v.id = i.value"""

PUT_EVIDENCE = """
INSERT INTO evidence (group_no, id, subject, relation, object, cardinality, body)
VALUES (:group, :id, :subject, :relation, :object, :cardinality, :body)
ON CONFLICT (group_no, id) DO UPDATE SET subject = excluded.subject, relation = excluded.relation,
    object = excluded.object, cardinality = excluded.cardinality, body = excluded.body"""
EVIDENCE_OF_TRIPLET = """
SELECT no, body FROM evidence
WHERE group_no = :group AND subject = :subject AND relation = :relation AND object = :object"""
EVIDENCE_OF_SLOT = """
SELECT no, body FROM evidence
WHERE group_no = :group AND subject = :subject AND relation = :relation AND object IN (
    SELECT object FROM evidence
    WHERE group_no = :group AND subject = :subject AND relation = :relation AND cardinality = 'one')"""
EVIDENCE_OF_ENDS = """
SELECT e.no, e.body FROM (
    SELECT subject, object FROM evidence
    WHERE group_no = :group AND subject IN (:subject, :object) AND relation = :relation
      AND cardinality = 'one' AND json_extract(body, '$.symmetric')
    UNION
    SELECT subject, object FROM evidence
    WHERE group_no = :group AND object IN (:subject, :object) AND relation = :relation
      AND cardinality = 'one' AND json_extract(body, '$.symmetric')) pair
CROSS JOIN evidence e
    ON e.group_no = :group AND e.subject = pair.subject AND e.relation = :relation AND e.object = pair.object"""
# What is believed last is known to 2 ** 62. Each direction has its own index, hence two halves.
FACTS_OF_PAIR = """
SELECT no FROM (
    SELECT no, created_at, id FROM held
    WHERE group_no = :group AND known_to = 4611686018427387904 AND source = :subject AND target = :object
    UNION
    SELECT no, created_at, id FROM held
    WHERE group_no = :group AND known_to = 4611686018427387904 AND source = :object AND target = :subject)
ORDER BY created_at DESC, id LIMIT :limit"""
FACTS_OF_END = """
SELECT no FROM (
    SELECT no FROM held
    WHERE group_no = :group AND known_to = 4611686018427387904 AND valid_from <= :at AND valid_to > :at
      AND source = :end
    UNION
    SELECT no FROM held
    WHERE group_no = :group AND known_to = 4611686018427387904 AND valid_from <= :at AND valid_to > :at
      AND target = :end)
ORDER BY no DESC LIMIT :limit"""
FACTS_BY_NO = "SELECT no, body FROM fact WHERE no IN (SELECT value FROM json_each(:nos))"
EPISODE_CONTENT = """
SELECT json_extract(body, '$.content') FROM episode WHERE group_no = :group AND id = :id"""
FACTS_OF_TRIPLET = """
SELECT no, body FROM fact
WHERE group_no = :group AND source = :subject AND relation = :relation AND target = :object"""
PUT_FACT = """
INSERT INTO fact (group_no, id, source, relation, target, created_at, revision, body)
VALUES (:group, :id, :source, :relation, :target, :created_at, :revision, :body)
ON CONFLICT (group_no, id) DO UPDATE SET source = excluded.source, relation = excluded.relation,
    target = excluded.target, created_at = excluded.created_at, revision = excluded.revision, body = excluded.body
RETURNING no"""
CLEAR_BELIEFS = "DELETE FROM belief WHERE fact_no = ?"
ADD_BELIEF = "INSERT INTO belief VALUES (?, ?, ?, ?, ?, ?, ?)"
CLEAR_SUPPORT = "DELETE FROM support WHERE fact_no = ?"
ADD_SUPPORT = "INSERT INTO support VALUES (?, ?, ?, ?, ?, ?)"
CLEAR_HYPEREDGE = "DELETE FROM hyperedge WHERE fact_no = ?"
ADD_HYPEREDGE = "INSERT INTO hyperedge VALUES (?, ?, ?)"

# Communities. A fact is current when what is believed of it last (known_to is 2 ** 62) holds at :now.

NEIGHBOURS = """
SELECT other, count(*) AS weight, (SELECT community_id FROM entity WHERE group_no = :group AND id = other) FROM (
    SELECT target AS other FROM held
    WHERE group_no = :group AND source = :id AND target <> :id
      AND known_to = 4611686018427387904 AND valid_from <= :now AND valid_to > :now
    UNION ALL
    SELECT source FROM held
    WHERE group_no = :group AND target = :id AND source <> :id
      AND known_to = 4611686018427387904 AND valid_from <= :now AND valid_to > :now)
GROUP BY other ORDER BY weight DESC, other LIMIT :limit"""
EDGES = """
SELECT min(source, target) AS one, max(source, target) AS other, count(*) FROM held
WHERE group_no = :group AND source <> target
  AND known_to = 4611686018427387904 AND valid_from <= :now AND valid_to > :now
GROUP BY one, other ORDER BY one, other"""
MEMBERS = """
SELECT e.no, e.body, e.community_id,
    (SELECT count(*) FROM held WHERE group_no = :group AND source = e.id
       AND known_to = 4611686018427387904 AND valid_from <= :now AND valid_to > :now)
    + (SELECT count(*) FROM held WHERE group_no = :group AND target = e.id AND source <> e.id
       AND known_to = 4611686018427387904 AND valid_from <= :now AND valid_to > :now) AS weight
FROM entity e WHERE e.group_no = :group AND e.community_id = :id
ORDER BY weight DESC, e.id LIMIT :limit"""
MEMBER_IDS = "SELECT id FROM entity WHERE group_no = :group AND community_id = :id ORDER BY no"
COMMUNITY_BODY = "SELECT body FROM community WHERE group_no = :group AND id = :id"
PUT_COMMUNITY = """
INSERT INTO community (group_no, id, created_at, body) VALUES (:group, :id, :created_at, :body)
ON CONFLICT (group_no, id) DO UPDATE SET created_at = excluded.created_at, body = excluded.body
RETURNING no"""
MOVE_ENTITY = """
UPDATE entity SET community_id = :community WHERE group_no = :group AND id = :id
  AND (:community IS NULL OR EXISTS (SELECT 1 FROM community WHERE group_no = :group AND id = :community))"""
LEAVE_OTHER_COMMUNITIES = """
UPDATE entity SET community_id = NULL
WHERE group_no = :group AND community_id NOT IN (SELECT value FROM json_each(:ids))"""
EMPTY_COMMUNITIES = """
SELECT no FROM community c WHERE c.group_no = :group
  AND NOT EXISTS (SELECT 1 FROM entity e WHERE e.group_no = :group AND e.community_id = c.id)"""
REMOVE_COMMUNITY = "DELETE FROM community WHERE no = :no"

# Vectors

PUT_VECTOR = """
INSERT INTO vector VALUES (:kind, :no, :group, :change, :data)
ON CONFLICT (kind, item_no) DO UPDATE SET change = excluded.change, data = excluded.data"""
REMOVE_VECTOR = "DELETE FROM vector WHERE kind = :kind AND item_no = :no"
VECTORS_SINCE = """
SELECT item_no, data FROM vector WHERE kind = :kind AND group_no = :group AND change > :change ORDER BY item_no"""
VECTOR_COUNT = "SELECT count(*) FROM vector WHERE kind = :kind AND group_no = :group"
VECTORS_BY_NO = """
SELECT item_no, data FROM vector
WHERE kind = :kind AND item_no IN (SELECT value FROM json_each(:nos)) ORDER BY item_no"""
