"""Which extractor reads which episode: triples are read as they stand, all else goes to the configured one."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.extraction.port import Extractor
from pipeline.extraction.triples import TriplesExtractor
from pipeline.model.episode import Episode, Source
from pipeline.model.extraction import Extraction


class RoutingExtractor:
    """Implements `Extractor` over two others.

    Args:
        reader: reads messages, texts and JSON records; a model's or the local one.
        triples: reads triples.
    """

    def __init__(self, reader: Extractor, triples: Extractor | None = None) -> None:
        self._reader = reader
        self._triples: Extractor = triples or TriplesExtractor()

    async def extract(self, episode: Episode, context: Sequence[Episode]) -> Extraction:
        """What the extractor for the episode's source finds; raises what that one raises."""
        extractor = self._triples if episode.source is Source.triples else self._reader
        return await extractor.extract(episode, context)
