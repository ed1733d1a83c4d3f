"""From a request to what the store is asked: φ of f(q) = χ(ρ(φ(q)))."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from pipeline.graph.search import Filters, Method, Scope, SearchPlan
from pipeline.graph.vector import Vector
from search_api.recipes import Reranker
from search_api.requests import SearchRequest
from search_api.retrieval.memory import REACH

DEFAULT_DEPTH = 1
CENTER_DEPTH = 3
"""How far a search without a query walks from its centre: far enough that an order by distance means something."""

MIN_CANDIDATES = 50
MIN_CANDIDATES_BY_DISTANCE = 200


@dataclass(frozen=True)
class Walk:
    """Where breadth-first starts and how many steps it takes."""

    origins: tuple[str, ...]
    depth: int


@dataclass(frozen=True)
class Methods:
    """The methods that can be used, the walk if there is one, and what was asked for in vain."""

    usable: tuple[Method, ...]
    walk: Walk | None
    degraded: tuple[str, ...]


def choose_scopes(request: SearchRequest, default: tuple[Scope, ...]) -> tuple[Scope, ...]:
    """The request's scopes, else its recipe's, else the endpoint's."""
    return request.scopes or request.named_recipe.scopes or default


def choose_methods(request: SearchRequest) -> Methods:
    """The request's methods, else its recipe's with breadth-first where only a place to start from is given."""
    walk = _walk(request)
    methods = request.methods
    if methods is None:
        methods = request.named_recipe.methods
        if request.query is None:
            methods = (Method.bfs,)
        elif request.bfs_origins and Method.bfs not in methods:
            methods = (*methods, Method.bfs)
    degraded = []
    if Method.bfs in methods and walk is None:
        methods = tuple(method for method in methods if method is not Method.bfs)
        degraded.append("bfs: needs bfs_origins or center")
    if request.query is None and (idle := [method for method in methods if method is not Method.bfs]):
        methods = tuple(method for method in methods if method is Method.bfs)
        degraded.append(f"{' and '.join(idle)}: needs a query")
    if request.bfs_origins and request.methods is not None and Method.bfs not in request.methods:
        degraded.append("bfs_origins: not used, since methods does not name bfs")
    return Methods(methods, walk if Method.bfs in methods else None, tuple(degraded))


def _walk(request: SearchRequest) -> Walk | None:
    if request.bfs_origins:
        return Walk(request.bfs_origins, request.bfs_depth or DEFAULT_DEPTH)
    if request.center is not None:
        return Walk((request.center,), request.bfs_depth or CENTER_DEPTH)
    return None


def candidate_limit(limit: int, reranker: Reranker) -> int:
    """How many candidates each method brings: more than are shown, so that a later order has a choice.

    An order by distance has little to do with the methods' own, so it chooses from more.
    """
    if reranker is Reranker.node_distance:
        return max(MIN_CANDIDATES_BY_DISTANCE, 4 * limit)
    return max(MIN_CANDIDATES, 2 * limit)


def search_plan(
    request: SearchRequest,
    scopes: tuple[Scope, ...],
    methods: tuple[Method, ...],
    walk: Walk | None,
    *,
    terms: Sequence[str],
    vector: Vector | None,
    episode_vector: Vector | None = None,
    now: datetime,
) -> SearchPlan:
    """The one question to the store."""
    return SearchPlan(
        group_ids=request.group_ids,
        scopes=scopes,
        methods=methods,
        limit=candidate_limit(request.limit, request.order),
        terms=tuple(terms),
        vector=vector,
        episode_vector=episode_vector,
        as_of=request.moment(now),
        known_at=request.known_at,
        filters=request.filters.filters if request.filters else Filters(),
        bfs_origins=walk.origins if walk else (),
        bfs_depth=walk.depth if walk else DEFAULT_DEPTH,
        distances_from=request.center if request.order is Reranker.node_distance else None,
        similarities=request.order is Reranker.mmr,
        mentions=request.order is Reranker.episode_mentions,
        neighbours=REACH if request.order is Reranker.memory else 0,
        sources=request.order is Reranker.memory,
    )
