"""The tools as an MCP server, whatever it is reached by. Needs the official SDK (the extra `mcp`)."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

import orjson
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)
from pydantic import ValidationError

from pipeline.errors import FactstreamError, Retryable
from search_api.mcp_tools import INSTRUCTIONS, TOOLS, Backend, MemoryTool
from search_api.problems import ProblemError, field_problems, invalid

_log = logging.getLogger(__name__)

Context = ServerRequestContext[Any, Any]
Measure = Callable[[str, str, float], None]
"""Takes the name of a tool, the outcome (answered, refused, failed) and the seconds."""


def build_server(backend_of: Callable[[Context], Backend], version: str, measure: Measure) -> Server[Any]:
    """An MCP server with the tools.

    Args:
        backend_of: who answers a call, given its context (who calls stands in there).
        version: what the server says of itself.
        measure: hears of each call of a known tool.

    A call that is refused is a result with `is_error` and a text for the model; it names fields and ids, and what
    stands in the log names none of them.
    """
    tools = {tool.name: tool for tool in TOOLS}
    listed = ListToolsResult(tools=[_listed(tool) for tool in TOOLS])

    async def list_tools(_: Context, __: PaginatedRequestParams | None) -> ListToolsResult:
        return listed

    async def call_tool(context: Context, params: CallToolRequestParams) -> CallToolResult:
        tool = tools.get(params.name)
        if tool is None:
            return _refusal(f"there is no tool {params.name!r}; there are {', '.join(tools)}")
        started = time.perf_counter()
        result, outcome = await _call(tool, params.arguments or {}, lambda: backend_of(context))
        measure(tool.name, outcome, time.perf_counter() - started)
        return result

    return Server(
        "factstream",
        version=version,
        title="factstream memory",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


async def _call(
    tool: MemoryTool, arguments: dict[str, Any], backend: Callable[[], Backend]
) -> tuple[CallToolResult, str]:
    try:
        answer = await tool.answer(backend(), tool.takes.model_validate(arguments))
    except ValidationError as error:
        return _problem(invalid(field_problems(error.errors()))), "refused"
    except ProblemError as problem:
        later = problem.status >= HTTPStatus.INTERNAL_SERVER_ERROR
        return _problem(problem), "failed" if later else "refused"
    except Retryable as error:
        _log.warning("the store cannot answer: %s", error)
        return _refusal("the memory cannot answer now; try again in a moment"), "failed"
    except FactstreamError as error:
        return _refusal(str(error)), "refused"
    except Exception:
        _log.exception("a tool failed in an unexpected way")
        return _refusal("something went wrong here; the log of the service says what"), "failed"
    shown = answer.model_dump(mode="json")
    text = TextContent(type="text", text=orjson.dumps(shown).decode())
    return CallToolResult(content=[text], structured_content=shown), "answered"


def _listed(tool: MemoryTool) -> Tool:
    return Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.takes.schema_for_agents(),
        output_schema=tool.gives.model_json_schema(mode="serialization"),
        annotations=ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False),
    )


def _problem(problem: ProblemError) -> CallToolResult:
    return _refusal(f"{problem.status.value} {problem.status.phrase}: {problem.detail}")


def _refusal(text: str) -> CallToolResult:
    shown = text.encode("utf-8", "replace").decode()
    return CallToolResult(content=[TextContent(type="text", text=shown)], is_error=True)
