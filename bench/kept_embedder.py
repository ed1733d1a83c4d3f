"""An embedder that keeps its vectors in a file, so that a measurement does not embed the same texts at every run."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pipeline.embedding.port import Embedder


class KeptEmbedder:
    """Asks the inner embedder once for each text and kind."""

    def __init__(self, inner: Embedder, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._inner = inner
        self._file = sqlite3.connect(folder / "embeddings.db")
        self._file.execute(
            "CREATE TABLE IF NOT EXISTS kept (model TEXT, query INTEGER, text TEXT, vector BLOB, "
            "PRIMARY KEY (model, query, text)) WITHOUT ROWID"
        )

    @property
    def model(self) -> str:
        """The inner embedder's."""
        return self._inner.model

    @property
    def dimension(self) -> int:
        """The inner embedder's."""
        return self._inner.dimension

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> list[list[float]]:
        """One vector per text."""
        kept = {text: self._kept(text, query) for text in texts}
        if new := [text for text, vector in kept.items() if vector is None]:
            for text, vector in zip(new, await self._inner.embed(new, query=query), strict=True):
                data = np.asarray(vector, dtype=np.float32).tobytes()
                row = (self.model, query, text, data)
                self._file.execute("INSERT OR REPLACE INTO kept VALUES (?, ?, ?, ?)", row)
                kept[text] = vector
            self._file.commit()
        return [vector for text in texts if (vector := kept[text]) is not None]

    def _kept(self, text: str, query: bool) -> list[float] | None:
        row = self._file.execute(
            "SELECT vector FROM kept WHERE model = ? AND query = ? AND text = ?", (self.model, query, text)
        ).fetchone()
        if row is None:
            return None
        vector: list[float] = np.frombuffer(row[0], dtype=np.float32).tolist()
        return vector
