"""Faust's own settings under which lanes keep their promise."""

from __future__ import annotations

from typing import Any

A_DAY = 86_400.0
POLL_RECORDS = 100

SAFE: dict[str, Any] = {
    # a crashed worker is noticed after this long; heartbeats run in the consumer's own thread
    "broker_session_timeout": 15.0,
    "broker_heartbeat_interval": 3.0,
    # backpressure stops polling; the default of 1000 s would then put the worker out of the group
    "broker_max_poll_interval": A_DAY,
    "broker_commit_interval": 1.0,
    # a group without a committed offset reads from the beginning: nothing sent before the first start is lost
    "consumer_auto_offset_reset": "earliest",
    # lanes drain themselves within a bound; Faust would wait for ever
    "stream_wait_empty": False,
    # a stuck partition stalls only itself as long as a fifth of the buffer holds one poll
    "broker_max_poll_records": POLL_RECORDS,
    "stream_buffer_maxsize": POLL_RECORDS * 5 + 12,
    # long work is no livelock
    "stream_processing_timeout": A_DAY,
    "broker_commit_livelock_soft_timeout": A_DAY,
    # the pattern keeps no tables, elects no leader, creates no topics and serves its own metrics
    "store": "memory://",
    "table_standby_replicas": 0,
    "topic_disable_leader": True,
    "topic_allow_declare": False,
    "web_enabled": False,
    # an exception that nobody foresaw ends the process with nothing acknowledged
    "agent_supervisor": "mode.CrashingSupervisor",
}
