"""What a rebuild is made of, its result, and its errors."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from pipeline.clock import Clock
from pipeline.embedding.port import Embedder
from pipeline.errors import FactstreamError
from pipeline.extraction.port import Extractor
from pipeline.graph.ledger import RebuildStore
from pipeline.model.changes import FactChange
from pipeline.model.episode import EpisodeState
from pipeline.model.extraction import ExtractedEpisode
from pipeline.model.judgement import JudgedEpisode
from pipeline.observer import Observer, SilentObserver
from pipeline.rebuild.log import EpisodeLog
from pipeline.stages.judging import EntityJudge, FactJudge
from pipeline.stages.stating import Vocabulary


class RebuildRefused(FactstreamError):
    """The rebuild cannot be done as things are; nothing was changed. The message says what to do."""


class From(StrEnum):
    """What the shadow is filled from: raw episodes through the extractor, or what it said of them."""

    raw = "raw"
    extracted = "extracted"


@dataclass(frozen=True)
class Swapped:
    """What a swap has to tell the outside: changes of belief, episodes that are at their end with it, and records of
    judges that are otherwise now (None: gone), by (episode id, stage)."""

    group_id: str
    name: str
    changes: tuple[FactChange, ...]
    settled: Mapping[str, EpisodeState]
    judged: Mapping[tuple[str, str], JudgedEpisode | None] = field(default_factory=dict)


Keep = Callable[[Sequence[ExtractedEpisode]], Awaitable[None]]
"""Takes over what an extractor said, for the next rebuild; returns when it is durable."""

Publish = Callable[[Swapped], Awaitable[None]]
"""Tells it; returns when it is durable. Raises Retryable when nobody can be told now."""


@dataclass(frozen=True)
class Tools:
    """What a rebuild works with.

    Args:
        store: the live graph, open.
        log: what to tell again.
        embedder: of the live graph.
        extractor: reads raw episodes; not asked with `From.extracted`.
        entity_judge, fact_judge: asked what has no record; None: nobody is asked.
        publish: None where nobody listens.
        keep: None where nothing is kept of what an extractor says.
        ahead: extractions that run side by side.
    """

    store: RebuildStore
    log: EpisodeLog
    embedder: Embedder
    extractor: Extractor
    clock: Clock
    observer: Observer = field(default_factory=SilentObserver)
    entity_judge: EntityJudge | None = None
    fact_judge: FactJudge | None = None
    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    publish: Publish | None = None
    keep: Keep | None = None
    ahead: int = 8


@dataclass(frozen=True)
class Options:
    """How to rebuild.

    Args:
        source: see `From`.
        folder: where the shadow stands until it is swapped in; the same folder goes on where a killed rebuild ended.
        everything: write every object of the group again, not only what differs.
        allow_dead: swap even though episodes that are in the graph could not be told again.
        identity: a name of what reads and resolves; a shadow of another one is thrown away.
    """

    source: From
    folder: Path
    everything: bool = False
    allow_dead: bool = False
    identity: str = ""


@dataclass(frozen=True)
class Progress:
    """How far a rebuild is: episodes in the shadow, out of those that are to be."""

    group_id: str
    done: int
    total: int
    phase: str = "telling"


Report = Callable[[Progress], None]


@dataclass(frozen=True)
class Rebuilt:
    """What a rebuild did.

    `episodes` were told again, `dead` of them could not be (with reasons), `set_aside` are acts of operators that had
    nothing left to be done to (with reasons). `changed` counts the objects that differed and were written or removed.
    `unrecorded` counts questions of judges that had no record: without judges they were answered by "none". `held` is for how many seconds commits of the group waited.
    """

    group_id: str
    episodes: int
    changes: tuple[FactChange, ...]
    changed: int
    dead: Mapping[str, str]
    set_aside: Mapping[str, str]
    left_out: Sequence[str]
    unrecorded: int
    seconds: float
    held: float
