"""The routes that search: POST /v1/search, POST /v1/context, GET /v1/recipes."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.responses import Response

from search_api.answers import ContextAnswer, RecipeList, SearchAnswer
from search_api.problems import MEDIA_TYPE, Problem
from search_api.recipes import RECIPES
from search_api.requests import ContextRequest, SearchRequest
from search_api.service import KnownCaller, OpenService, OwnTurn


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The responses of a route that are problems, for its OpenAPI description."""
    schema = Problem.model_json_schema()
    schema["properties"]["errors"]["items"] = schema.pop("$defs")["FieldProblem"]
    content = {MEDIA_TYPE: {"schema": schema}}
    return {status: {"description": "Problem details", "content": content} for status in statuses}


def answer(model: BaseModel) -> Response:
    """A model as JSON, without validating it a second time."""
    return Response(model.model_dump_json(), media_type="application/json")


router = APIRouter(tags=["search"])


@router.post("/v1/search", response_model=SearchAnswer, responses=problems(400, 401, 403, 413, 422, 503, 504))
async def search(
    request: SearchRequest, service: OpenService, caller: KnownCaller, turn: OwnTurn
) -> Response:
    """Find facts, entities, episodes and communities. The query is text, never a query language."""
    return answer(await service.answering.search(request, caller, turn))


@router.post(
    "/v1/context", response_model=ContextAnswer, responses=problems(400, 401, 403, 413, 422, 503, 504)
)
async def context(
    request: ContextRequest, service: OpenService, caller: KnownCaller, turn: OwnTurn
) -> Response:
    """Find the same, and write it down as a text for a prompt: facts with their dates, entities, communities."""
    return answer(await service.answering.context(request, caller, turn))


@router.get("/v1/recipes", response_model=RecipeList, responses=problems(401))
async def recipes(caller: KnownCaller) -> Response:
    """The named configurations that a request may use."""
    return answer(RecipeList(recipes=tuple(RECIPES.values())))
