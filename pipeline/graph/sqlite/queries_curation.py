"""SQL of taking back and correcting: the whole group, and the removal of anything in it."""

from __future__ import annotations

LANES = "SELECT stage, version FROM lane WHERE group_no = :group"
EPISODE_IDS = """
SELECT id FROM episode WHERE group_no = :group
UNION SELECT episode_id FROM mark WHERE group_no = :group
  AND episode_id NOT IN (SELECT episode_id FROM mark WHERE group_no = :group AND stage = 'forgotten')
  AND stage <> 'notice'
UNION SELECT episode_id FROM mention WHERE group_no = :group"""
UNFINISHED = """
SELECT episode_id FROM mark WHERE group_no = :group AND stage = 'resolve_entities'
EXCEPT SELECT episode_id FROM mark WHERE group_no = :group AND stage = 'resolve_facts'"""
OUTPUTS = "SELECT episode_id, stage, output FROM mark WHERE group_no = :group AND output IS NOT NULL"
JUDGED = "SELECT episode_id, stage, body FROM judged WHERE group_no = :group"
CONTRIBUTIONS = """
SELECT m.episode_id, e.id, m.place, m.known_from, m.told
FROM mention m JOIN entity e ON e.no = m.entity_no WHERE m.group_no = :group"""
EVIDENCE = "SELECT body FROM evidence WHERE group_no = :group"
FACTS = "SELECT body FROM fact WHERE group_no = :group"
COMMUNITIES = "SELECT id, body FROM community WHERE group_no = :group"
MERGES = "SELECT body FROM merge WHERE group_no = :group"

RAISE_ANY_LANE = """
INSERT INTO lane VALUES (:group, :stage, 1)
ON CONFLICT (group_no, stage) DO UPDATE SET version = version + 1"""

RAISE_PLACE = """
UPDATE lane SET version = :place WHERE group_no = :group AND stage = 'resolve_entities' AND version < :place"""

NO_OF = {
    kind: "SELECT no FROM KIND WHERE group_no = :group AND id = :id".replace("KIND", kind)
    for kind in ("episode", "entity", "fact", "community")
}
REMOVE = {
    kind: tuple(text.replace("KIND", kind) for text in texts)
    for kind, texts in {
        "episode": ("DELETE FROM metadata WHERE episode_no = :no", "DELETE FROM episode WHERE no = :no"),
        "entity": (
            "DELETE FROM entity_key WHERE entity_no = :no",
            "DELETE FROM mention WHERE entity_no = :no",
            "DELETE FROM entity WHERE no = :no",
        ),
        "fact": (
            "DELETE FROM belief WHERE fact_no = :no",
            "DELETE FROM support WHERE fact_no = :no",
            "DELETE FROM hyperedge WHERE fact_no = :no",
            "DELETE FROM fact WHERE no = :no",
        ),
    }.items()
}
REMOVE_MENTION = """
DELETE FROM mention WHERE group_no = :group AND episode_id = :episode
  AND entity_no = (SELECT no FROM entity WHERE group_no = :group AND id = :entity)"""
PUT_MENTION = """
INSERT OR REPLACE INTO mention
SELECT group_no, :episode, no, :at, :place, :told FROM entity WHERE group_no = :group AND id = :entity"""
REMOVE_EVIDENCE = "DELETE FROM evidence WHERE group_no = :group AND id = :id"
REMOVE_MERGE = "DELETE FROM merge WHERE group_no = :group AND id = :id"
DROP_MARKS = "DELETE FROM mark WHERE group_no = :group AND episode_id = :episode AND stage <> 'notice'"
REPLACE_OUTPUT = """
UPDATE mark SET output = :output WHERE group_no = :group AND episode_id = :episode AND stage = :stage"""
DROP_ALL_MARKS = "DELETE FROM mark WHERE group_no = :group"
DROP_JUDGED = "DELETE FROM judged WHERE group_no = :group AND episode_id = :episode AND stage = :stage"
DROP_ALL_JUDGED = "DELETE FROM judged WHERE group_no = :group AND episode_id = :episode"
DROP_EVERY_JUDGED = "DELETE FROM judged WHERE group_no = :group"
DROP_NOTICE = "DELETE FROM mark WHERE group_no = :group AND episode_id = :name AND stage = 'notice'"

NOS_OF_GROUP = {
    kind: "SELECT no FROM KIND WHERE group_no = :group".replace("KIND", kind)
    for kind in ("episode", "entity", "fact", "community")
}
ERASE = (
    "DELETE FROM metadata WHERE episode_no IN (SELECT no FROM episode WHERE group_no = :group)",
    "DELETE FROM episode WHERE group_no = :group",
    "DELETE FROM belief WHERE fact_no IN (SELECT no FROM fact WHERE group_no = :group)",
    "DELETE FROM support WHERE group_no = :group",
    "DELETE FROM hyperedge WHERE group_no = :group",
    "DELETE FROM fact WHERE group_no = :group",
    "DELETE FROM evidence WHERE group_no = :group",
    "DELETE FROM mention WHERE group_no = :group",
    "DELETE FROM entity_key WHERE group_no = :group",
    "DELETE FROM entity WHERE group_no = :group",
    "DELETE FROM community WHERE group_no = :group",
    "DELETE FROM merge WHERE group_no = :group",
    "DELETE FROM judged WHERE group_no = :group",
    "DELETE FROM vector WHERE group_no = :group",
    "DELETE FROM mark WHERE group_no = :group AND stage <> 'forgotten'",
)
EVERY_TOMBSTONE = "SELECT episode_id FROM mark WHERE group_no = :group AND stage = 'forgotten'"
REST = tuple(
    f"INSERT INTO {kind}_text({kind}_text) VALUES ('optimize')"  # noqa: S608
    for kind in ("episode", "entity", "fact", "community")
)
"""What is deleted from a full-text index stays in its segments until they are merged."""
