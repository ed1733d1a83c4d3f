"""Retrieval: f(q) = χ(ρ(φ(q))). One embedding, one question to the store, one call of the cross-encoder at most."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable

from pipeline.clock import Clock
from pipeline.embedding.port import Embedder
from pipeline.errors import FactstreamError
from pipeline.graph.search import GraphReader, Method, Scope
from pipeline.graph.vector import Vector
from pipeline.text.analysis import query_terms
from pipeline.text.names import without_names
from search_api.answers import ContextAnswer, SearchAnswer
from search_api.context import write_context
from search_api.labels import labels_for
from search_api.recipes import Reranker
from search_api.requests import ContextRequest, SearchRequest
from search_api.retrieval.answer import search_answer
from search_api.retrieval.cross_encoder import CrossEncoder
from search_api.retrieval.found import Found, Hit, readable, told_once, visible, with_pairs
from search_api.retrieval.fusion import by_score
from search_api.retrieval.memory import MemoryWeights, episodes_in_context
from search_api.retrieval.plan import choose_methods, choose_scopes, search_plan
from search_api.retrieval.rank import fused, ranked
from search_api.retrieval.ranked import Ranked
from search_api.retrieval.replaced import with_replaced

_log = logging.getLogger(__name__)

SEARCH_SCOPES = (Scope.facts,)
CONTEXT_SCOPES = tuple(Scope)

MAX_EMBEDDED_CHARACTERS = 2000
"""A longer query is embedded by its beginning; its words count whole, by text search."""

MAX_RERANKED = 50
MAX_RERANKED_CHARACTERS = 2000
_LONG_QUERY = 20_000


class Retrieval:
    """Answers search and context requests from a store. Knows no HTTP, so that it can be embedded.

    Raises what the reader raises (Retryable when the store is down). Anything else that fails, the embedder or the
    cross-encoder, is named in `degraded` and done without.
    """

    def __init__(
        self,
        reader: GraphReader,
        embedder: Embedder | None,
        cross_encoder: CrossEncoder | None,
        clock: Clock,
        stopwatch: Callable[[], float] = time.perf_counter,
        weights: MemoryWeights = MemoryWeights(),
    ) -> None:
        self._reader = reader
        self._embedder = embedder
        self._cross_encoder = cross_encoder
        self._clock = clock
        self._stopwatch = stopwatch
        self._weights = weights

    async def search(self, request: SearchRequest) -> SearchAnswer:
        """The items themselves, by scope."""
        start = self._stopwatch()
        found = await self.find(request, SEARCH_SCOPES)
        return search_answer(found, self._since(start))

    async def context(self, request: ContextRequest) -> ContextAnswer:
        """The items as a text for a prompt."""
        start = self._stopwatch()
        found = await self.find(request, CONTEXT_SCOPES)
        if request.replaced:
            found = await with_replaced(self._reader, found, request.known_at)
        context = write_context(found, request.max_tokens, labels_for(request.query or ""))
        return ContextAnswer(
            context=context.text,
            tokens=context.tokens,
            **{scope.value: context.told[scope] for scope in Scope},
            degraded=found.degraded,
            took_ms=self._since(start),
        )

    async def find(self, request: SearchRequest, default_scopes: tuple[Scope, ...]) -> Found:
        """Candidates from the store, in their final order, at most `limit` a scope."""
        scopes = choose_scopes(request, default_scopes)
        chosen = choose_methods(request)
        degraded = list(chosen.degraded)
        methods = chosen.usable
        vector: Vector | None = None
        unnamed: Vector | None = None
        if Method.cosine in methods:
            vectors, trouble = await self._embed(request.query or "", Scope.episodes in scopes)
            vector, unnamed = vectors
            degraded += trouble
        if vector is None:
            methods = tuple(method for method in methods if method is not Method.cosine)
        if not methods:
            return Found(degraded=tuple(degraded))
        terms = await _terms(request.query or "") if Method.bm25 in methods else []
        plan = search_plan(
            request,
            scopes,
            methods,
            chosen.walk,
            terms=terms,
            vector=vector,
            episode_vector=unnamed,
            now=self._clock(),
        )
        candidates = await self._reader.search(plan)
        degraded += candidates.degraded

        shown = {scope: visible(candidates, scope, request.known_at) for scope in scopes}
        relevance = {
            scope: fused(candidates, scope, frozenset(shown[scope]), request.order) for scope in scopes
        }
        if request.order is Reranker.memory and Scope.episodes in scopes:
            relevance[Scope.episodes] = episodes_in_context(
                candidates,
                shown,
                relevance.get(Scope.facts, ()),
                request.query or "",
                terms,
                request.known_at,
                self._weights,
            )
        orders = {scope: ranked(candidates, scope, relevance[scope], request) for scope in scopes}
        min_score = request.min_score
        if request.order is Reranker.cross_encoder and any(relevance.values()):
            scored, trouble = await self._cross_encode(request, relevance, shown)
            degraded += trouble
            orders = scored or orders
            min_score = min_score if scored else None
        if request.order is Reranker.node_distance and any(relevance.values()):
            degraded += (
                [] if any(candidates.distances.values()) else ["node_distance: nothing is joined to center"]
            )
        hits = {
            scope: tuple(
                Hit(shown[scope][key].item, score, shown[scope][key].shown)
                for key, score in told_once(orders[scope], shown[scope])
                if min_score is None or score >= min_score
            )[: request.limit]
            for scope in scopes
        }
        if hits.get(Scope.facts):
            hits[Scope.facts] = await with_pairs(
                self._reader, hits[Scope.facts], request.known_at, plan.as_of
            )
        return Found(hits, tuple(dict.fromkeys(degraded)))

    async def _embed(
        self, query: str, episodes: bool
    ) -> tuple[tuple[Vector | None, Vector | None], list[str]]:
        """The question's vector, and for episodes that of the question without names where that is another; one call
        of the embedder for both."""
        if not query.strip():
            return (None, None), []
        if self._embedder is None:
            return (None, None), ["cosine: no embedder is configured"]
        whole = query[:MAX_EMBEDDED_CHARACTERS]
        bare = without_names(whole) if episodes else whole
        try:
            first, *rest = await self._embedder.embed([whole] if bare == whole else [whole, bare], query=True)
            return (first, next((vector for vector in rest if any(vector)), None)), []
        except FactstreamError as error:
            return (None, None), [f"cosine: the query could not be embedded: {error}"]
        except Exception as error:
            _log.exception("the embedder failed in an unexpected way")
            return (None, None), [f"cosine: the query could not be embedded ({type(error).__name__})"]

    async def _cross_encode(
        self, request: SearchRequest, relevance: dict[Scope, Ranked], shown: dict[Scope, dict[str, Hit]]
    ) -> tuple[dict[Scope, Ranked] | None, list[str]]:
        """The best of every scope, scored in one call; None when that cannot be had."""
        if request.query is None or not request.query.strip():
            return None, ["cross_encoder: needs a query; the order is by rank fusion"]
        if self._cross_encoder is None:
            return None, ["cross_encoder: none is configured; the order is by rank fusion"]
        best = [
            (scope, key)
            for scope, order in relevance.items()
            for key, _ in order[: max(MAX_RERANKED, request.limit)]
        ]
        texts = [readable(shown[scope][key].item)[:MAX_RERANKED_CHARACTERS] for scope, key in best]
        try:
            scores = await self._cross_encoder.score(request.query[:MAX_RERANKED_CHARACTERS], texts)
        except FactstreamError as error:
            return None, [f"cross_encoder: {error}; the order is by rank fusion"]
        except Exception as error:
            _log.exception("the cross-encoder failed in an unexpected way")
            return None, [f"cross_encoder: failed ({type(error).__name__}); the order is by rank fusion"]
        scored: dict[Scope, list[tuple[str, float]]] = {scope: [] for scope in relevance}
        for (scope, key), score in zip(best, scores, strict=True):
            scored[scope].append((key, score))
        return {scope: by_score(pairs) for scope, pairs in scored.items()}, []

    def _since(self, start: float) -> float:
        return round((self._stopwatch() - start) * 1000, 3)


async def _terms(query: str) -> list[str]:
    """The query's terms; those of a very long one are found in a thread, so that others are served meanwhile."""
    return query_terms(query) if len(query) < _LONG_QUERY else await asyncio.to_thread(query_terms, query)
