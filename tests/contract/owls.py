"""Facts about owls between Ana and Bob, and what every method finds of them."""

from __future__ import annotations

from typing import Any

from pipeline.graph.search import Method, Scope
from pipeline.model.entity import Entity
from pipeline.model.fact import Belief, Fact
from tests.contract.kit import (
    Graph,
    entity,
    episode,
    fact,
    leg,
)


async def between_ana_and_bob(graph: Graph, group: str, *facts: Fact) -> None:
    """Store facts between Ana and Bob."""
    await graph.world(episode(group, "e1"), *facts, entities=ana_and_bob(group))


def ana_and_bob(group: str) -> tuple[Entity, Entity]:
    return entity(group, "Ana"), entity(group, "Bob")


def owl(group: str, name: str, *beliefs: Belief, **changes: Any) -> Fact:
    """A fact about an owl."""
    ana, bob = ana_and_bob(group)
    return fact(ana, "SAW", bob, *beliefs, **{"id": name, "fact": f"owl {name}", **changes})


async def owls(graph: Graph, group: str, **changes: Any) -> list[list[str]]:
    """What BM25, cosine and a walk find, each sorted; they must agree."""
    found = await graph.search(group, "owl", bfs_origins=("ana",), limit=50, **changes)
    return [sorted(leg(found, Scope.facts, method)) for method in Method]
