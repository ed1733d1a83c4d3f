"""Topics: one declaration each, and a group on one partition number in all of them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from streams.topics import ALL_TOPICS, DEAD, EPISODES, group_partition, lane_key, partition_of, stage_key

GROUPS = st.text(st.characters(exclude_categories=("C",)), min_size=1, max_size=128)


@given(GROUPS, st.text(st.characters(exclude_categories=("Cs",)), min_size=1), st.integers(1, 64))
def test_a_group_has_one_lane_and_one_partition_whatever_the_topic(group, episode, count):
    numbers = list(range(count))
    assert lane_key(group.encode()) == lane_key(stage_key(group, episode)) == group.encode()
    places = {
        group_partition(group.encode(), numbers, numbers),
        group_partition(stage_key(group, episode), numbers, numbers),
        partition_of(group, count),
    }
    assert len(places) == 1


def test_partitions_are_those_of_kafkas_own_partitioner():
    # from the Java client's Utils.murmur2 test vectors: murmur2("foobar") = -790332482, murmur2("21") = -973932308
    for key, hashed in (("foobar", -790332482), ("21", -973932308)):
        assert partition_of(key, 1000) == (hashed & 0x7FFFFFFF) % 1000


def test_names_are_unique_prefixed_and_the_dead_letters_hold_any_event():
    assert len({topic.name for topic in ALL_TOPICS}) == len(ALL_TOPICS) == 8
    assert EPISODES.named("staging.") == "staging.episodes"
    assert EPISODES.settings()["message.timestamp.type"] == "LogAppendTime"
    assert all(topic.max_bytes * 4 / 3 < DEAD.max_bytes for topic in ALL_TOPICS if topic is not DEAD)


def test_no_topic_that_holds_unfinished_work_or_truth_expires():
    for topic in ALL_TOPICS:
        if topic.name != "episodes.status":
            assert topic.cleanup == "compact" or topic.retention_ms == -1
