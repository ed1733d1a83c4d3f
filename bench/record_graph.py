"""The graph of bench/scale_graph.py as records of an archive, so that any store takes it in the same way, in bulk."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

from bench.scale_graph import NOW, Made, _told, group_of
from pipeline.embedding.port import Embedder
from pipeline.graph.archive import (
    ArchiveTarget,
    EntityRecord,
    EpisodeRecord,
    FactRecord,
    GroupRecord,
    MarkRecord,
    Record,
    packed,
)
from pipeline.graph.ledger import STAGES
from pipeline.model.episode import EpisodeState

CHUNK = 1000


def made(group: str, size: int) -> Made:
    """A group of so many facts; the same every time."""
    return group_of(group, size)


async def records(whole: Made, embedder: Embedder) -> AsyncIterator[list[Record]]:
    """The group in chunks, with vectors."""
    yield [GroupRecord(id=whole.group)]
    episodes = [episode for episode, _ in _told(whole.group, whole.facts)]
    for some in _chunks(episodes):
        vectors = await embedder.embed([episode.text for episode in some])
        yield [
            EpisodeRecord(episode=e, state=EpisodeState.committed, created_at=NOW, vector=packed(v))
            for e, v in zip(some, vectors, strict=True)
        ]
    for some in _chunks([*whole.people, *whole.things]):
        vectors = await embedder.embed([entity.name for entity in some])
        yield [EntityRecord(entity=e, vector=packed(v)) for e, v in zip(some, vectors, strict=True)]
    for some in _chunks(whole.facts):
        vectors = await embedder.embed([fact.fact for fact in some])
        yield [FactRecord(fact=f, vector=packed(v)) for f, v in zip(some, vectors, strict=True)]
    for some in _chunks(episodes):
        yield [MarkRecord(episode_id=e.id, stage=stage) for e in some for stage in STAGES]


async def fill(target: ArchiveTarget, whole: Made, embedder: Embedder) -> None:
    """Take the group in. The target is open."""
    done = 0
    async for chunk in records(whole, embedder):
        done += len(chunk)
        await target.restore(f"bench {whole.group}", whole.group, chunk, done, NOW)


def _chunks(things: Sequence[Any]) -> list[Sequence[Any]]:
    return [things[start : start + CHUNK] for start in range(0, len(things), CHUNK)]
