"""Recipes: named, frozen search configurations. What a request says explicitly wins over its recipe.

The upper-case names are those of Graphiti's ready-made configurations, so that its callers find what they know.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from pydantic import BaseModel, ConfigDict

from pipeline.graph.search import Method, Scope

DEFAULT_RECIPE = "hybrid_rrf"
MEMORY_RECIPE = "memory"
"""What a context is made by unless its request says otherwise."""


class Reranker(StrEnum):
    """How candidates are put in order."""

    rrf = "rrf"
    mmr = "mmr"
    episode_mentions = "episode_mentions"
    node_distance = "node_distance"
    cross_encoder = "cross_encoder"
    score = "score"
    memory = "memory"


class Recipe(BaseModel):
    """A named configuration. `scopes` is None when the recipe leaves them to the request."""

    model_config = ConfigDict(frozen=True)

    name: str
    about: str
    methods: tuple[Method, ...]
    reranker: Reranker
    scopes: tuple[Scope, ...] | None = None


HYBRID = (Method.bm25, Method.cosine)
_ORDER = {
    Reranker.rrf: "fused by reciprocal rank",
    Reranker.mmr: "relevant first, near-repeats later",
    Reranker.node_distance: "nearest to `center` first",
    Reranker.episode_mentions: "most often mentioned first",
    Reranker.cross_encoder: "ordered by a cross-encoder",
    Reranker.score: "fused by normalised score",
}
_PLAIN = (
    Recipe(
        name=DEFAULT_RECIPE, about="Text and vector search, fused.", methods=HYBRID, reranker=Reranker.rrf
    ),
    Recipe(name="bm25", about="Text search only.", methods=(Method.bm25,), reranker=Reranker.rrf),
    Recipe(name="cosine", about="Vector search only.", methods=(Method.cosine,), reranker=Reranker.rrf),
    Recipe(
        name="bfs",
        about="What is joined to `bfs_origins` (or `center`), nearest first.",
        methods=(Method.bfs,),
        reranker=Reranker.rrf,
    ),
    *(
        Recipe(
            name=f"hybrid_{reranker.value}",
            about=f"Text and vector search, {_ORDER[reranker]}.",
            methods=HYBRID,
            reranker=reranker,
        )
        for reranker in Reranker
        if reranker not in (Reranker.rrf, Reranker.memory)
    ),
    Recipe(
        name=MEMORY_RECIPE,
        about="What belongs into a prompt: text and vector search fused by normalised score; episodes in the light of "
        "their thread, of who speaks and of the facts that they support.",
        methods=HYBRID,
        reranker=Reranker.memory,
        scopes=None,
    ),
)


def _family(prefix: str, scopes: tuple[Scope, ...], rerankers: tuple[Reranker, ...]) -> tuple[Recipe, ...]:
    return tuple(
        Recipe(
            name=f"{prefix}_HYBRID_SEARCH_{reranker.value.upper()}",
            about=f"Text and vector search in {', '.join(scopes)}, {_ORDER[reranker]}.",
            methods=HYBRID,
            reranker=reranker,
            scopes=scopes,
        )
        for reranker in rerankers
    )


_WITHOUT_GRAPH = (Reranker.rrf, Reranker.mmr, Reranker.cross_encoder)
_ALL = (
    Reranker.rrf,
    Reranker.mmr,
    Reranker.node_distance,
    Reranker.episode_mentions,
    Reranker.cross_encoder,
)
_KNOWN = (
    *_PLAIN,
    *_family("COMBINED", tuple(Scope), _WITHOUT_GRAPH),
    *_family("EDGE", (Scope.facts,), _ALL),
    *_family("NODE", (Scope.entities,), _ALL),
    *_family("COMMUNITY", (Scope.communities,), _WITHOUT_GRAPH),
)
RECIPES: Mapping[str, Recipe] = MappingProxyType({recipe.name: recipe for recipe in _KNOWN})
"""Every recipe by its name."""
