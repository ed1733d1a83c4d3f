"""SQL of the read side. A condition that a search does not make has a parameter that lets everything pass."""

from __future__ import annotations

GROUPS = "SELECT no, id FROM groups WHERE id = ?"

# Which of the items :nos pass a search: known at :known, holding at :as_of (null: at any time), and by its filters.
# Ranges are lists of [first, behind last]; "[]" is no condition.

PASSING_FACTS = """
SELECT f.no FROM json_each(:nos) wanted JOIN held f ON f.no = wanted.value
WHERE f.group_no IN (SELECT value FROM json_each(:groups))
  AND f.known_from <= :known AND f.known_to > :known
  AND (:as_of IS NULL OR (f.valid_from <= :as_of AND f.valid_to > :as_of))
  AND (:relations = '[]' OR f.relation IN (SELECT value FROM json_each(:relations)))
  AND (:types = '[]' OR EXISTS (
      SELECT 1 FROM entity e WHERE e.group_no = f.group_no AND e.id IN (f.source, f.target)
        AND e.type IN (SELECT value FROM json_each(:types))))
  AND (:valid_at = '[]' OR EXISTS (
      SELECT 1 FROM json_each(:valid_at) r
      WHERE f.valid_from >= json_extract(r.value, '$[0]') AND f.valid_from < json_extract(r.value, '$[1]')))
  AND (:invalid_at = '[]' OR EXISTS (
      SELECT 1 FROM json_each(:invalid_at) r
      WHERE f.valid_to >= json_extract(r.value, '$[0]') AND f.valid_to < json_extract(r.value, '$[1]')))
  AND (:created_at = '[]' OR EXISTS (
      SELECT 1 FROM json_each(:created_at) r
      WHERE f.created_at >= json_extract(r.value, '$[0]') AND f.created_at < json_extract(r.value, '$[1]')))
  AND (:tags = '[]' OR EXISTS (
      SELECT 1 FROM support s JOIN episode p ON p.group_no = s.group_no AND p.id = s.episode_id
      WHERE s.fact_no = f.no AND s.known_from <= :known AND s.known_to > :known AND NOT EXISTS (
          SELECT 1 FROM json_each(:tags) t WHERE NOT EXISTS (
              SELECT 1 FROM metadata m WHERE m.episode_no = p.no
                AND m.key = json_extract(t.value, '$[0]') AND m.value = json_extract(t.value, '$[1]')))))"""

PASSING_ENTITIES = """
SELECT e.no FROM json_each(:nos) wanted JOIN entity e ON e.no = wanted.value
WHERE e.group_no IN (SELECT value FROM json_each(:groups)) AND e.created_at <= :known
  AND (:types = '[]' OR e.type IN (SELECT value FROM json_each(:types)))
  AND (:created_at = '[]' OR EXISTS (
      SELECT 1 FROM json_each(:created_at) r
      WHERE e.created_at >= json_extract(r.value, '$[0]') AND e.created_at < json_extract(r.value, '$[1]')))
  AND (:tags = '[]' OR EXISTS (
      SELECT 1 FROM mention n JOIN episode p ON p.group_no = n.group_no AND p.id = n.episode_id
      WHERE n.entity_no = e.no AND NOT EXISTS (
          SELECT 1 FROM json_each(:tags) t WHERE NOT EXISTS (
              SELECT 1 FROM metadata m WHERE m.episode_no = p.no
                AND m.key = json_extract(t.value, '$[0]') AND m.value = json_extract(t.value, '$[1]')))))"""

PASSING_EPISODES = """
SELECT p.no FROM json_each(:nos) wanted JOIN episode p ON p.no = wanted.value
WHERE p.group_no IN (SELECT value FROM json_each(:groups)) AND p.created_at <= :known
  AND (:valid_at = '[]' OR EXISTS (
      SELECT 1 FROM json_each(:valid_at) r
      WHERE p.reference_time >= json_extract(r.value, '$[0]') AND p.reference_time < json_extract(r.value, '$[1]')))
  AND (:created_at = '[]' OR EXISTS (
      SELECT 1 FROM json_each(:created_at) r
      WHERE p.created_at >= json_extract(r.value, '$[0]') AND p.created_at < json_extract(r.value, '$[1]')))
  AND NOT EXISTS (
      SELECT 1 FROM json_each(:tags) t WHERE NOT EXISTS (
          SELECT 1 FROM metadata m WHERE m.episode_no = p.no
            AND m.key = json_extract(t.value, '$[0]') AND m.value = json_extract(t.value, '$[1]')))"""

PASSING_COMMUNITIES = """
SELECT c.no FROM json_each(:nos) wanted JOIN community c ON c.no = wanted.value
WHERE c.group_no IN (SELECT value FROM json_each(:groups)) AND c.created_at <= :known
  AND (:created_at = '[]' OR EXISTS (
      SELECT 1 FROM json_each(:created_at) r
      WHERE c.created_at >= json_extract(r.value, '$[0]') AND c.created_at < json_extract(r.value, '$[1]')))
  AND (:tags = '[]' OR EXISTS (
      SELECT 1 FROM entity e JOIN mention n ON n.entity_no = e.no
      JOIN episode p ON p.group_no = n.group_no AND p.id = n.episode_id
      WHERE e.group_no = c.group_no AND e.community_id = c.id AND NOT EXISTS (
          SELECT 1 FROM json_each(:tags) t WHERE NOT EXISTS (
              SELECT 1 FROM metadata m WHERE m.episode_no = p.no
                AND m.key = json_extract(t.value, '$[0]') AND m.value = json_extract(t.value, '$[1]')))))"""

# Graph. CROSS JOIN keeps the order of a join as written: from the few ids to their rows by index.

FACTS_AROUND = """
SELECT f.no, f.source, f.target FROM json_each(:ids) i
CROSS JOIN fact f ON f.group_no = :group AND f.source = i.value
CROSS JOIN belief b ON b.fact_no = f.no
WHERE b.holds = 1 AND b.known_from <= :known AND b.known_to > :known
  AND (:as_of IS NULL OR (b.valid_from <= :as_of AND b.valid_to > :as_of))
UNION
SELECT f.no, f.source, f.target FROM json_each(:ids) i
CROSS JOIN fact f ON f.group_no = :group AND f.target = i.value
CROSS JOIN belief b ON b.fact_no = f.no
WHERE b.holds = 1 AND b.known_from <= :known AND b.known_to > :known
  AND (:as_of IS NULL OR (b.valid_from <= :as_of AND b.valid_to > :as_of))"""
ENTITY_EXISTS = "SELECT id FROM entity WHERE group_no = :group AND id = :id"
MENTIONED_IDS = """
SELECT e.id FROM mention n JOIN entity e ON e.no = n.entity_no WHERE n.group_no = :group AND n.episode_id = :id"""
SUPPORTED_FACTS = """
SELECT DISTINCT fact_no FROM support
WHERE group_no = :group AND episode_id = :id AND known_from <= :known AND known_to > :known"""
ENTITY_NOS = """
SELECT e.id, e.no FROM json_each(:ids) i CROSS JOIN entity e ON e.group_no = :group AND e.id = i.value"""

# Around episodes. The rows of a thread come by index, nearest first; what comes later has the greater (time, sequence).

EPISODES_BEFORE = """
SELECT n.no FROM episode e JOIN episode n ON n.group_no = e.group_no AND n.thread_id = e.thread_id
WHERE e.no = :no AND (n.reference_time, n.sequence) < (e.reference_time, e.sequence)
ORDER BY n.reference_time DESC, n.sequence DESC LIMIT :reach"""
EPISODES_AFTER = """
SELECT n.no FROM episode e JOIN episode n ON n.group_no = e.group_no AND n.thread_id = e.thread_id
WHERE e.no = :no AND (n.reference_time, n.sequence) > (e.reference_time, e.sequence)
ORDER BY n.reference_time, n.sequence LIMIT :reach"""
EPISODE_NOS = """
SELECT p.no FROM json_each(:ids) i CROSS JOIN episode p ON p.group_no = :group AND p.id = i.value"""

# Items

FACTS_BY_NO = """
SELECT f.no, g.id, f.id, f.body FROM json_each(:nos) wanted
JOIN fact f ON f.no = wanted.value JOIN groups g ON g.no = f.group_no"""
ENTITIES_BY_NO = """
SELECT e.no, g.id, e.id, e.body, e.community_id FROM json_each(:nos) wanted
JOIN entity e ON e.no = wanted.value JOIN groups g ON g.no = e.group_no"""
EPISODES_BY_NO = """
SELECT p.no, g.id, p.id, p.body, p.state, p.usage, p.created_at, p.reason FROM json_each(:nos) wanted
JOIN episode p ON p.no = wanted.value JOIN groups g ON g.no = p.group_no"""
COMMUNITIES_BY_NO = """
SELECT c.no, g.id, c.id, c.body, c.group_no FROM json_each(:nos) wanted
JOIN community c ON c.no = wanted.value JOIN groups g ON g.no = c.group_no"""
MENTION_COUNTS = """
SELECT entity_no, count(*) FROM mention
WHERE entity_no IN (SELECT value FROM json_each(:nos)) AND known_from <= :known GROUP BY entity_no"""

EPISODE = """
SELECT body, state, usage, created_at, reason FROM episode WHERE group_no = :group AND id = :id"""
EPISODE_STATE = "SELECT state, reason FROM episode WHERE group_no = :group AND id = :id"
EPISODE_ENTITIES = """
SELECT e.body, e.community_id FROM mention n JOIN entity e ON e.no = n.entity_no
WHERE n.group_no = :group AND n.episode_id = :id ORDER BY e.no"""
EPISODE_FACTS = """
SELECT body FROM fact WHERE no IN (
    SELECT fact_no FROM support
    WHERE group_no = :group AND episode_id = :id)
ORDER BY created_at, id"""
EPISODES = """
SELECT body, state, usage, created_at, reason FROM episode
WHERE group_no = :group AND (reference_time, sequence) < (:before, :sequence)
ORDER BY reference_time DESC, sequence DESC LIMIT :limit"""
EPISODES_OF_THREAD = """
SELECT body, state, usage, created_at, reason FROM episode
WHERE group_no = :group AND thread_id = :thread AND (reference_time, sequence) < (:before, :sequence)
ORDER BY reference_time DESC, sequence DESC LIMIT :limit"""
FACT = "SELECT body FROM fact WHERE group_no = :group AND id = :id"
HAS_HYPEREDGES = "SELECT 1 FROM sqlite_schema WHERE name = 'hyperedge'"
HYPEREDGES = """
SELECT f.body FROM json_each(:ids) i
CROSS JOIN hyperedge h ON h.group_no = :group AND h.id = i.value
JOIN fact f ON f.no = h.fact_no ORDER BY f.created_at, f.id"""
VALUE_BEFORE = """
WITH slot AS (
    SELECT no FROM fact WHERE group_no = :group AND source = :source AND relation = :relation
    UNION
    SELECT no FROM fact WHERE :symmetric AND group_no = :group AND source = :target AND relation = :relation
    UNION
    SELECT no FROM fact INDEXED BY fact_by_target
    WHERE :symmetric AND group_no = :group AND target = :source AND relation = :relation
    UNION
    SELECT no FROM fact INDEXED BY fact_by_target
    WHERE :symmetric AND group_no = :group AND target = :target AND relation = :relation)
SELECT f.id, f.body FROM slot CROSS JOIN fact f ON f.no = slot.no CROSS JOIN belief b ON b.fact_no = f.no
WHERE b.holds = 1 AND b.known_from <= :known AND b.known_to > :known AND b.valid_to <= :start
  AND NOT (f.source = :source AND f.target = :target)
  AND NOT (:symmetric AND f.source = :target AND f.target = :source)
  AND json_extract(f.body, '$.cardinality') = 'one'
ORDER BY b.valid_to DESC, b.valid_from DESC, f.id DESC LIMIT 1"""
ENTITY = "SELECT body, community_id FROM entity WHERE group_no = :group AND id = :id"
ENTITY_FACTS = """
SELECT body FROM fact WHERE group_no = :group AND source = :id
UNION
SELECT body FROM fact WHERE group_no = :group AND target = :id"""
