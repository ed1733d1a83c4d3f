"""What stands in the log at info level: no group, no query, no key, whatever happens."""

from __future__ import annotations

import logging

import pytest

from pipeline.access import hash_key
from pipeline.errors import Retryable

GROUP = "tenant-4711"
QUERY = "what-about-zebras"
KEY = "a-key-of-that-tenant"

REQUESTS = (
    ("POST", "/v1/search", {"query": QUERY, "group_ids": [GROUP]}),
    ("POST", "/v1/search", {"query": QUERY, "group_ids": [GROUP], "limit": 0}),
    ("POST", "/v1/search", {"query": QUERY, "group_ids": [GROUP, GROUP + "-foreign"]}),
    ("POST", "/v1/search", {"query": QUERY, "group_ids": [GROUP], "wait_for": "e", "wait_for_seconds": 0.01}),
    ("POST", "/v1/context", {"query": QUERY, "group_ids": [GROUP]}),
    ("GET", f"/v1/groups/{GROUP}/episodes", None),
    ("GET", f"/v1/episodes/none?group_id={GROUP}", None),
    ("GET", f"/v1/entities/none/facts?group_id={GROUP}", None),
)


@pytest.mark.parametrize("trouble", [None, Retryable("the database is away"), ZeroDivisionError("boom")])
async def test_no_group_no_query_and_no_key_is_logged(connect, graph, caplog, trouble):
    caplog.set_level(logging.INFO)
    # The test's own client tells every address that it asks; the service does not.
    logging.getLogger("httpx").setLevel(logging.WARNING)
    graph.add_fact(GROUP, "zebras have stripes", "zebra", "stripe")
    graph.trouble = trouble
    client = connect(api_keys={hash_key(KEY): [GROUP]})
    statuses = set()
    for method, path, body in REQUESTS:
        for key in (KEY, "not-" + KEY):
            reply = await client.request(method, path, json=body, headers={"X-API-Key": key})
            statuses.add(reply.status_code)
    assert 401 in statuses
    assert 403 in statuses
    for secret in (GROUP, QUERY, KEY):
        assert secret not in caplog.text
    assert (trouble is None) == (not caplog.records)
