"""SQL of archives: whole groups in the order in which they were stored. Values are always parameters."""

from __future__ import annotations

GROUPS = """
SELECT id FROM groups g
WHERE EXISTS (SELECT 1 FROM episode WHERE group_no = g.no) OR EXISTS (SELECT 1 FROM mark WHERE group_no = g.no)
ORDER BY id"""
OCCUPIED = """
SELECT g.id FROM groups g JOIN json_each(?) wanted ON wanted.value = g.id
WHERE EXISTS (SELECT 1 FROM episode WHERE group_no = g.no) OR EXISTS (SELECT 1 FROM mark WHERE group_no = g.no)
   OR EXISTS (SELECT 1 FROM entity WHERE group_no = g.no) OR EXISTS (SELECT 1 FROM lane WHERE group_no = g.no)
ORDER BY g.id"""
RESTORED = "SELECT value FROM setting WHERE name = :name"
SET_RESTORED = """
INSERT INTO setting VALUES (:name, :value) ON CONFLICT (name) DO UPDATE SET value = excluded.value"""
SET_LANE = """
INSERT INTO lane VALUES (:group, :stage, :version)
ON CONFLICT (group_no, stage) DO UPDATE SET version = max(version, excluded.version)"""
SET_EPISODE = """
UPDATE episode SET state = :state, reason = :reason, usage = :usage WHERE group_no = :group AND id = :id"""

EPISODES = """
SELECT v.data, e.body, e.state, e.usage, e.created_at, e.reason
FROM episode e LEFT JOIN vector v ON v.kind = 'episode' AND v.item_no = e.no
WHERE e.group_no = :group ORDER BY e.no"""
COMMUNITIES = """
SELECT v.data, c.body FROM community c LEFT JOIN vector v ON v.kind = 'community' AND v.item_no = c.no
WHERE c.group_no = :group ORDER BY c.no"""
ENTITIES = """
SELECT v.data, e.body, e.community_id FROM entity e LEFT JOIN vector v ON v.kind = 'entity' AND v.item_no = e.no
WHERE e.group_no = :group ORDER BY e.no"""
CONTRIBUTIONS = """
SELECT m.episode_id, e.id, m.place, m.known_from, m.told FROM mention m JOIN entity e ON e.no = m.entity_no
WHERE m.group_no = :group ORDER BY m.rowid"""
EVIDENCE = "SELECT body FROM evidence WHERE group_no = :group ORDER BY no"
FACTS = """
SELECT v.data, f.body FROM fact f LEFT JOIN vector v ON v.kind = 'fact' AND v.item_no = f.no
WHERE f.group_no = :group ORDER BY f.no"""
MERGES = "SELECT body FROM merge WHERE group_no = :group ORDER BY id"
MARKS = """
SELECT m.episode_id, m.stage, m.output, j.body,
    EXISTS (SELECT 1 FROM mark t
        WHERE t.group_no = m.group_no AND t.episode_id = m.episode_id AND t.stage = 'forgotten') AS forgotten
FROM mark m
LEFT JOIN judged j ON j.group_no = m.group_no AND j.episode_id = m.episode_id AND j.stage = m.stage
WHERE m.group_no = :group ORDER BY m.rowid"""
OLD_MARKS = """
SELECT m.episode_id, m.stage, m.output, NULL,
    EXISTS (SELECT 1 FROM mark t
        WHERE t.group_no = m.group_no AND t.episode_id = m.episode_id AND t.stage = 'forgotten') AS forgotten
FROM mark m WHERE m.group_no = :group ORDER BY m.rowid"""
"""Of a file that was last written before verdicts were kept."""
HAS_JUDGED = "SELECT 1 FROM sqlite_schema WHERE name = 'judged'"
