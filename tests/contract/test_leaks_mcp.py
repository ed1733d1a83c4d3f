"""Nothing crosses from one group to another through the tools for agents."""

from __future__ import annotations

import pytest
import pytest_asyncio
from fastapi import FastAPI

from search_api.auth import Caller
from search_api.mcp_mount import ServiceBackend
from search_api.mcp_tools import TOOLS
from search_api.problems import ProblemError
from tests.contract.kit import Graph
from tests.contract.leak_kit import HERE, TEXT, THERE, own, service

GROUPS = {"search", "context", "recent_episodes"}
BY_ID = {"timeline": ("entity_id", "owl"), "entity": ("entity_id", "owl"), "episode": ("episode_id", "e1")}


@pytest_asyncio.fixture
async def app(graph: Graph, group: str, other_group: str) -> FastAPI:
    """The service over both groups."""
    return await service(graph, group, other_group)


def test_every_tool_is_asked_here() -> None:
    assert {tool.name for tool in TOOLS} == {*GROUPS, *BY_ID}


async def test_no_tool_crosses(app: FastAPI, group: str, other_group: str) -> None:
    backend = ServiceBackend(app.state.service, Caller("*"))
    for tool in TOOLS:
        if tool.name in BY_ID:
            field, name = BY_ID[tool.name]
            given = {"group_id": group, field: f"{name}-{HERE}"}
            foreign = {**given, field: f"{name}-{THERE}"}
            with pytest.raises(ProblemError) as missing:
                await tool.answer(backend, tool.takes.model_validate(foreign))
            assert other_group not in str(missing.value.detail)
        elif "group_ids" in tool.takes.model_fields:
            scopes = {"scopes": ["facts", "entities", "episodes", "communities"]}
            given = {"query": TEXT, "group_ids": [group], **(scopes if tool.name == "search" else {})}
        else:
            given = {"group_id": group}
        answer = (await tool.answer(backend, tool.takes.model_validate(given))).model_dump_json()
        assert HERE in answer, tool.name
        assert own(answer, other_group), tool.name


async def test_a_caller_reads_only_what_is_allowed(app: FastAPI, group: str, other_group: str) -> None:
    backend = ServiceBackend(app.state.service, Caller(frozenset([other_group])))
    for tool in TOOLS:
        given = {"group_id": group, "entity_id": f"owl-{HERE}", "episode_id": f"e1-{HERE}", "query": TEXT}
        given = {k: v for k, v in given.items() if k in tool.takes.model_fields}
        if "group_ids" in tool.takes.model_fields:
            given["group_ids"] = [group]
        with pytest.raises(ProblemError) as refused:
            await tool.answer(backend, tool.takes.model_validate(given))
        assert refused.value.status == 403
