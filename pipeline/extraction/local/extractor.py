"""The extractor that needs no model endpoint."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from pipeline.extraction.json_record import JsonRecordReader
from pipeline.extraction.local.reader import TextReader
from pipeline.extraction.local.tongues import Tongues
from pipeline.model.episode import Episode, Source
from pipeline.model.extraction import Extraction


class LocalExtractor:
    """Implements `Extractor` by rules in English, Spanish and Chinese; costs no token and needs no network.

    Small language models (spaCy for English, jieba for Chinese) are used when they are installed and loaded when the
    first text of their language comes; without them patterns do all the work. The work runs in one
    thread, one episode at a time, so that the event loop is never blocked.
    """

    def __init__(self) -> None:
        self._texts = TextReader(Tongues())
        self._records = JsonRecordReader()
        # A thread of its own: the language models are not shared, and other threads of the process stay free.
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="local-extractor")

    async def extract(self, episode: Episode, context: Sequence[Episode]) -> Extraction:
        """What the rules find; raises nothing for any content of source `message`, `text` or `json`."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._read, episode, list(context))

    def _read(self, episode: Episode, context: Sequence[Episode]) -> Extraction:
        if episode.source is Source.json:
            return self._records.read(episode)
        return self._texts.read(episode, context)
