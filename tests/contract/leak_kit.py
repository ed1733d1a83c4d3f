"""Two groups of one text, which differ in their ids only, and the service over both."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import FastAPI

from search_api.app import create_app
from search_api.settings import ApiSettings
from tests.contract.kit import DIMENSION, Graph, community, day, entity, episode, fact, supported, vector

TEXT = "The owl watches the old barn"
HERE, THERE = "qqhere", "qqthere"


class Embedder:
    """The vectors of the kit."""

    model = "kit"
    dimension = DIMENSION

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> list[list[float]]:
        return [vector(text) for text in texts]


class Encoder:
    """Likes long texts."""

    async def score(self, query: str, texts: Sequence[str]) -> list[float]:
        return [float(len(text)) for text in texts]

    async def close(self) -> None:
        return None


async def fill(graph: Graph, group: str, mark: str) -> None:
    owl, barn = (entity(group, name, id=f"{name.lower()}-{mark}") for name in ("Owl", "Barn"))
    told = [
        episode(group, f"e{place}-{mark}", TEXT, sequence=place, thread_id="talk", metadata={"k": "v"})
        for place in range(3)
    ]
    await graph.receive(*told)
    for each in told:
        await graph.entities(each, owl, barn)
    await graph.facts(
        told[1],
        fact(owl, "WATCHES", barn, id=f"f1-{mark}", fact=TEXT, support=supported([told[1].id])),
        fact(barn, "SHELTERS", owl, id=f"f2-{mark}", fact=TEXT, support=supported([told[2].id])),
    )
    await graph.communities(
        group,
        told[2],
        community(group, TEXT, id=f"c-{mark}"),
        moves={owl.id: f"c-{mark}", barn.id: f"c-{mark}"},
    )


async def service(graph: Graph, group: str, other_group: str) -> FastAPI:
    """The application over the two groups."""
    await fill(graph, group, HERE)
    await fill(graph, other_group, THERE)
    return create_app(ApiSettings(), graph.reader, Embedder(), Encoder(), clock=lambda: day(9))


def own(text: str, other_group: str) -> bool:
    """Whether nothing of the other group stands in an answer."""
    return THERE not in text and other_group not in text
