"""Takes an archive into a store; goes on where an earlier run was interrupted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from factstream.transfer.archive_file import Archive, EventRecord
from factstream.transfer.episode_source import event_of
from pipeline.clock import Clock
from pipeline.embedding.port import Embedder
from pipeline.errors import SettingError
from pipeline.graph.archive import (
    ArchiveTarget,
    Embedded,
    EpisodeRecord,
    Record,
    check_model,
    packed,
)
from pipeline.model.episode import FINAL_STATES
from pipeline.stages.extract import MAX_EMBEDDED_CHARACTERS

CHUNK = 500
CHUNK_BYTES = 8_000_000
"""What is taken in by one transaction: so many records, and not much more than so many bytes of them."""


@dataclass
class Restored:
    """What an import did.

    `counts` by kind, over the whole archive. `unfinished` are events that are still to go through the stages, in
    their order, `dead` those that were given up. `sequence` is the highest place in the order of arrival.
    """

    counts: Counter[str] = field(default_factory=Counter)
    unfinished: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    dead: list[EventRecord] = field(default_factory=list)
    sequence: int = 0
    embedded: int = 0


@dataclass(frozen=True)
class Restoring:
    """How archives are taken in.

    Args:
        target: opened.
        embedder: makes the vectors that are missing; with `anew` all of them.
    """

    target: ArchiveTarget
    embedder: Embedder
    clock: Clock
    anew: bool = False

    async def run(self, archive: Archive, on_records: Callable[[int], Any]) -> Restored:
        """Take in what is not in yet. `on_records` hears how many lines were passed, those of an earlier run too.

        Raises SettingError when a group holds something else already, or vectors of another model would meet.
        """
        done = await self.target.restored(archive.head.id)
        if not self.anew:
            self._check_model(archive)
        if not done and (occupied := await self.target.occupied(archive.head.groups)):
            raise SettingError(
                f"group {occupied[0]!r} is there already: forget it first, or import into another graph"
            )
        told = Restored()
        chunk: list[Record] = []
        group, passed, last, size = "", 0, 0, 0

        async def flush() -> None:
            nonlocal passed, size
            if chunk:
                ready = await self._with_vectors(chunk, told)
                await self.target.restore(archive.head.id, group, ready, last, self.clock())
                chunk.clear()
                size = 0
            on_records(last - passed)
            passed = last

        for line in archive.lines():
            if line.group_id != group or len(chunk) >= CHUNK or size >= CHUNK_BYTES:
                await flush()
                group = line.group_id
            last = line.number
            _note(line.record, told)
            if not isinstance(line.record, EventRecord) and line.number > done:
                chunk.append(line.record)
                size += line.size
        await flush()
        on_records(archive.records - passed)
        return told

    def _check_model(self, archive: Archive) -> None:
        head = archive.head
        try:
            check_model(
                self.embedder.model, head.model, self.embedder.dimension, head.dimension, "the archive"
            )
        except SettingError as error:
            raise SettingError(f"{error}: configure that model, or give --embed-anew") from None

    async def _with_vectors(self, chunk: Sequence[Record], told: Restored) -> list[Record]:
        wanted: dict[int, str] = {}
        for place, record in enumerate(chunk):
            if isinstance(record, Embedded) and (self.anew or record.vector is None):
                wanted[place] = record.text[:MAX_EMBEDDED_CHARACTERS]
        if not wanted:
            return list(chunk)
        texts = list(dict.fromkeys(wanted.values()))
        vectors = dict(zip(texts, await self.embedder.embed(texts), strict=True))
        told.embedded += len(texts)
        return [
            record.model_copy(update={"vector": packed(vectors[wanted[place]])})
            if place in wanted
            else record
            for place, record in enumerate(chunk)
        ]


def _note(record: Record | EventRecord, told: Restored) -> None:
    if isinstance(record, EventRecord):
        if record.dead is None:
            told.unfinished[record.group_id, record.id] = record.event
        else:
            told.dead.append(record)
        return
    told.counts[record.kind] += 1
    if isinstance(record, EpisodeRecord):
        episode = record.episode
        told.sequence = max(told.sequence, episode.sequence)
        if record.state not in FINAL_STATES:
            told.unfinished.setdefault((episode.group_id, episode.id), event_of(episode))
