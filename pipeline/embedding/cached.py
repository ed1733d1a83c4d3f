"""CachingEmbedder: what was embedded lately is not embedded again."""

from __future__ import annotations

import asyncio
import time
from array import array
from collections import OrderedDict
from collections.abc import Sequence

from pipeline.cost.metering import Meter, charge, shares
from pipeline.embedding.port import Embedder
from pipeline.model.episode import Usage
from pipeline.observer import Observer

_Key = tuple[str, bool, str]


class CachingEmbedder:
    """An embedder that keeps the vectors used last, by model, kind (question or not) and text.

    A request asks the inner embedder once, for its texts that are neither kept nor on their way. Requests for a text
    that another request has asked for share that call; when the call fails, each of them fails with its error, and
    nothing is kept. A caller that is cancelled does not take the call away from the others.

    What a text has cost is charged to the first metered task that uses its vector (see pipeline.cost.metering).

    Args:
        inner: what makes the vectors.
        max_entries: how many are kept; the one used least recently gives way.
        observer: hears how many texts were asked for, how many of them cost nothing, and how long it took.
    """

    def __init__(self, inner: Embedder, max_entries: int, observer: Observer) -> None:
        if max_entries < 1:
            raise ValueError(f"max_entries must be at least 1, not {max_entries}")
        self._inner = inner
        self._max_entries = max_entries
        self._observer = observer
        # Eight bytes a number; in a list, a number is an object of its own and takes four times that.
        self._kept: OrderedDict[_Key, array[float]] = OrderedDict()
        self._coming: dict[_Key, asyncio.Task[dict[_Key, array[float]]]] = {}
        self._owed: dict[_Key, Usage] = {}

    @property
    def inner(self) -> Embedder:
        """The embedder behind the cache."""
        return self._inner

    @property
    def model(self) -> str:
        """The inner embedder's."""
        return self._inner.model

    @property
    def dimension(self) -> int:
        """The inner embedder's."""
        return self._inner.dimension

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> list[list[float]]:
        """One vector per text, in order; the caller may change them. Raises what the inner embedder raises."""
        started = time.perf_counter()
        keys: list[_Key] = [(self._inner.model, query, text) for text in texts]
        found: dict[_Key, array[float]] = {}
        missing: list[_Key] = []
        for key in dict.fromkeys(keys):
            if key in self._kept:
                self._kept.move_to_end(key)
                found[key] = self._kept[key]
            elif key not in self._coming:
                missing.append(key)
        asked = set(missing)
        cached = sum(key not in asked for key in keys)
        if missing:
            task = asyncio.create_task(self._ask(missing, query))
            task.add_done_callback(_seen)
            self._coming.update(dict.fromkeys(missing, task))
        for task in dict.fromkeys(self._coming[key] for key in keys if key not in found):
            found |= await asyncio.shield(task)
        for key in found:
            if key in self._owed and charge(self._owed[key]):
                del self._owed[key]
        if texts:
            self._observer.embedded(len(texts), cached, time.perf_counter() - started)
        return [found[key].tolist() for key in keys]

    async def _ask(self, keys: list[_Key], query: bool) -> dict[_Key, array[float]]:
        # This is a task of its own, so its meter does not take the place of the caller's.
        meter = Meter.begin()
        try:
            texts = [text for _, _, text in keys]
            vectors = await self._inner.embed(texts, query=query)
            made = {key: array("d", vector) for key, vector in zip(keys, vectors, strict=True)}
            self._kept.update(made)
            if meter.usage.tokens:
                self._owed.update(zip(keys, shares(meter.usage, texts), strict=True))
            while len(self._kept) > self._max_entries:
                gone, _ = self._kept.popitem(last=False)
                self._owed.pop(gone, None)
            return made
        finally:
            for key in keys:
                self._coming.pop(key, None)


def _seen(task: asyncio.Task[dict[_Key, array[float]]]) -> None:
    # Without this, the error of a call whose callers were all cancelled is logged as never retrieved.
    if not task.cancelled():
        task.exception()
