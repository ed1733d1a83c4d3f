"""Rebuilds of groups that a Teller has told, over any store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from factstream.rebuild.parts import From, Options, Rebuilt, Swapped, Tools
from factstream.rebuild.rebuild import Rebuild
from pipeline.embedding.hashing import HashingEmbedder
from pipeline.extraction.port import Extractor
from pipeline.extraction.router import RoutingExtractor
from pipeline.extraction.triples import TriplesExtractor
from pipeline.graph.ledger import Ledger
from pipeline.model.changes import Change, FactChange
from pipeline.model.episode import Episode, EpisodeState
from pipeline.model.extraction import Extraction
from pipeline.model.fact import last_view
from pipeline.model.judgement import JudgedEpisode
from pipeline.rebuild.graph_log import GraphLog
from pipeline.rebuild.log import Place
from tests.contract.curation_kit import Teller
from tests.contract.kit import DIMENSION


@dataclass
class ListLog:
    """Implements EpisodeLog over lists that a test fills."""

    raw: list[Episode] = field(default_factory=list)
    extracted: dict[str, Extraction] = field(default_factory=dict)
    status: dict[str, EpisodeState] = field(default_factory=dict)
    records: list[JudgedEpisode] = field(default_factory=list)
    changes: list[FactChange] = field(default_factory=list)

    async def refresh(self) -> None: ...

    async def groups(self) -> Sequence[str]:
        return sorted({e.group_id for e in self.raw})

    async def places(self, group_id: str) -> Sequence[Place]:
        places = [
            Place(e.id, e.sequence, e.reference_time, e.id in self.extracted, self.status.get(e.id))
            for e in self.raw
            if e.group_id == group_id
        ]
        return sorted(places, key=lambda p: p.sequence)

    async def episodes(self, group_id: str, ids: Sequence[str]) -> Mapping[str, Episode]:
        return {e.id: e for e in self.raw if e.id in ids}

    async def extractions(self, group_id: str, ids: Sequence[str]) -> Mapping[str, Extraction]:
        return {i: e for i, e in self.extracted.items() if i in ids}

    async def judged(self, group_id: str, ids: Sequence[str]) -> Sequence[JudgedEpisode]:
        return [one for one in self.records if one.episode.id in ids]

    async def told(self, group_id: str) -> Mapping[str, FactChange]:
        return fold(self.changes)


def fold(changes: Sequence[FactChange]) -> dict[str, FactChange]:
    """What a consumer holds: by fact, the change of the highest revision."""
    held: dict[str, FactChange] = {}
    for change in changes:
        if change.fact.id not in held or change.revision >= held[change.fact.id].revision:
            held[change.fact.id] = change
    return held


def current(changes: Sequence[FactChange]) -> dict[str, Any]:
    """The facts that a consumer takes for current."""
    return {i: c.fact for i, c in fold(changes).items() if c.change is not Change.retracted}


def stated(ledger: Ledger) -> dict[str, Any]:
    """The facts that are believed."""
    return {i: last_view(f) for i, f in ledger.facts.items() if f.beliefs[-1].holds}


def tools_of(teller: Teller, log: ListLog | GraphLog | None = None, **changes: Any) -> Tools:
    """What rebuilds a teller's group; without a log, from what the graph keeps."""
    store = teller.graph.store
    made = Tools(
        store=store,
        log=log or GraphLog(store),
        embedder=HashingEmbedder(DIMENSION),
        extractor=RoutingExtractor(TriplesExtractor()),
        clock=teller.clock,
        entity_judge=teller.judge,
    )
    return replace(made, **changes)


async def rebuild(
    teller: Teller,
    folder: Path,
    log: ListLog | GraphLog | None = None,
    *,
    source: From = From.raw,
    **more: Any,
) -> Rebuilt:
    """One rebuild; `more` are fields of Tools and Options."""
    fields = set(Options.__dataclass_fields__)
    options = Options(source, folder / "rebuild", **{k: v for k, v in more.items() if k in fields})
    tools = tools_of(teller, log, **{k: v for k, v in more.items() if k not in fields})
    return await Rebuild(teller.group, tools, options).run()


class Published:
    """Keeps what is published."""

    def __init__(self) -> None:
        self.swapped: list[Swapped] = []

    async def __call__(self, swapped: Swapped) -> None:
        self.swapped.append(swapped)

    @property
    def changes(self) -> list[FactChange]:
        return [change for one in self.swapped for change in one.changes]


__all__ = ["Extractor", "ListLog", "Published", "current", "fold", "rebuild", "stated", "tools_of"]
