"""`factstream mcp` as an agent's program starts it: over standard input and output."""

from __future__ import annotations

import sys
from pathlib import Path

from mcp import Client, StdioServerParameters

import factstream
from factstream.embedded import EmbeddedServer
from pipeline.access import hash_key
from tests.unit.client.conftest import settings, works_at


async def test_the_tools_over_stdio(tmp_path: Path) -> None:
    given = settings(api_keys={hash_key("k"): ["g"]})
    async with EmbeddedServer(given, tmp_path / "memory.db").running() as (urls, _):
        async with factstream.AsyncClient(urls.search, urls.gateway, api_key="k") as client:
            await client.wait_for(await client.publish(works_at(1, id="e1")), "g")
        program = StdioServerParameters(
            command=sys.executable,
            args=["-m", "factstream", "mcp", "--url", urls.search],
            env={"FACTSTREAM_API_KEY": "k", "PYTHONPATH": ":".join(path for path in sys.path if path)},
            cwd=tmp_path,
        )
        async with Client(program) as agent:
            assert len((await agent.list_tools()).tools) == 6
            found = await agent.call_tool("search", {"query": "Where does P1 work?", "group_ids": ["g"]})
            assert not found.is_error, found.content
            assert found.structured_content is not None
            (fact,) = found.structured_content["facts"]
            assert fact["target"]["name"] == "C1"
            entity = {"group_id": "g", "entity_id": fact["source"]["id"]}
            for tool, arguments in (
                ("timeline", {**entity, "as_of": "2024-02-01"}),
                ("entity", entity),
                ("episode", {"group_id": "g", "episode_id": "e1"}),
                ("recent_episodes", {"group_id": "g", "limit": 1}),
                ("recent_episodes", {"group_id": "g", "cursor": "4102444800000000.1"}),
                ("context", {"query": "P1", "group_ids": ["g"], "any_time": True, "relations": ["WORKS_AT"]}),
            ):
                result = await agent.call_tool(tool, arguments)
                assert not result.is_error, (tool, result.content)
                assert "P1" in str(result.structured_content)
            refused = await agent.call_tool("recent_episodes", {"group_id": "h"})
            assert refused.is_error
            assert "403 Forbidden" in str(refused.content)
