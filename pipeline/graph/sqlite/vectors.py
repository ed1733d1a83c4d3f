"""Exact cosine over the vectors of a group, kept in memory and brought up to date by what changed since.

Every write of vectors raises the group's change counter and stamps its rows with it, in one transaction; so a
process that reads sees by one number whether another process wrote, and loads only the newer rows.
"""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from pipeline.graph.sqlite import queries
from pipeline.graph.sqlite.codec import Floats, json_list, pack

Scored = tuple[int, float]

_HEAD = 512


class _Block:
    """The vectors of one kind in one group: row i belongs to item `nos[i]`; room is left for more."""

    def __init__(self, dimension: int) -> None:
        self.change = 0
        self.size = 0
        self.rows: dict[int, int] = {}
        self.nos: npt.NDArray[np.int64] = np.empty(16, dtype=np.int64)
        self.matrix: Floats = np.empty((16, dimension), dtype=np.float32)

    def put(self, no: int, data: bytes) -> None:
        row = self.rows.get(no)
        if row is None:
            row = self.rows[no] = self.size
            if row == len(self.nos):
                self.nos = np.concatenate([self.nos, np.empty_like(self.nos)])
                self.matrix = np.concatenate([self.matrix, np.empty_like(self.matrix)])
            self.nos[row] = no
            self.size += 1
        self.matrix[row] = np.frombuffer(data, dtype=np.float32)


def _best_first(nos: npt.NDArray[np.int64], scores: Floats) -> Iterator[Scored]:
    """Numbers and scores in order. Few are asked for as a rule, so only as many are sorted as it comes to."""
    told, wanted = 0, _HEAD
    while told < len(scores):
        if wanted < len(scores):
            # Everything that scores as the last of these or better: equal ones stay together.
            least = np.partition(scores, len(scores) - wanted)[len(scores) - wanted]
            places = np.flatnonzero(scores >= least)
        else:
            places = np.arange(len(scores))
        places = places[np.lexsort((nos[places], -scores[places]))]
        new = places[told:]
        yield from zip(nos[new].tolist(), np.clip(scores[new], -1.0, 1.0).tolist(), strict=True)
        told, wanted = len(places), wanted * 8


class VectorIndex:
    """Vectors by kind and group; the groups used least recently give way beyond `max_bytes`. For one thread."""

    def __init__(self, dimension: int, max_bytes: int = 1 << 30) -> None:
        self._dimension = dimension
        self._max_bytes = max_bytes
        self._blocks: OrderedDict[tuple[str, int], _Block] = OrderedDict()

    def ranked(
        self, connection: sqlite3.Connection, kind: str, groups: Sequence[int], vector: Sequence[float]
    ) -> Iterator[Scored]:
        """All items of the groups with their cosine, best first; equal ones in the order of their numbers."""
        query = np.frombuffer(pack(vector, self._dimension), dtype=np.float32)
        blocks = [self._current(connection, kind, group) for group in groups]
        if not any(block.size for block in blocks) or not query.any():
            return
        nos = np.concatenate([block.nos[: block.size] for block in blocks])
        scores = np.concatenate([block.matrix[: block.size] @ query for block in blocks])
        yield from _best_first(nos, scores)

    def among(
        self, connection: sqlite3.Connection, kind: str, nos: Sequence[int]
    ) -> dict[tuple[int, int], float]:
        """The cosine of each ordered pair of the items that have a vector."""
        found = connection.execute(queries.VECTORS_BY_NO, {"kind": kind, "nos": json_list(nos)}).fetchall()
        if not found:
            return {}
        matrix = np.stack([np.frombuffer(data, dtype=np.float32) for _, data in found])
        cosine = np.clip(matrix @ matrix.T, -1.0, 1.0)
        return {
            (a, b): float(cosine[i, j])
            for i, (a, _) in enumerate(found)
            for j, (b, _) in enumerate(found)
            if i != j
        }

    def nearest(
        self, connection: sqlite3.Connection, kind: str, nos: Sequence[int], vector: Sequence[float]
    ) -> list[Scored]:
        """The given items that have a vector, with their cosine, best first; equal ones in the order of their numbers."""
        query = np.frombuffer(pack(vector, self._dimension), dtype=np.float32)
        found = connection.execute(queries.VECTORS_BY_NO, {"kind": kind, "nos": json_list(nos)}).fetchall()
        scored = [(no, float(np.frombuffer(data, dtype=np.float32) @ query)) for no, data in found]
        return sorted(scored, key=lambda one: (-one[1], one[0]))

    def _current(self, connection: sqlite3.Connection, kind: str, group: int) -> _Block:
        change = connection.execute(queries.GROUP_CHANGES, {"group": group}).fetchone()[0]
        block = self._blocks.get((kind, group)) or _Block(self._dimension)
        if block.change != change:
            self._load(connection, kind, group, block)
            if (
                block.size
                != connection.execute(queries.VECTOR_COUNT, {"kind": kind, "group": group}).fetchone()[0]
            ):
                block = _Block(self._dimension)
                self._load(connection, kind, group, block)
            block.change = change
        self._blocks[kind, group] = block
        self._blocks.move_to_end((kind, group))
        self._forget()
        return block

    def _load(self, connection: sqlite3.Connection, kind: str, group: int, block: _Block) -> None:
        newer = {"kind": kind, "group": group, "change": block.change}
        for no, data in connection.execute(queries.VECTORS_SINCE, newer):
            block.put(no, data)

    def _forget(self) -> None:
        held = sum(block.matrix.nbytes for block in self._blocks.values())
        while held > self._max_bytes and len(self._blocks) > 1:
            _, oldest = self._blocks.popitem(last=False)
            held -= oldest.matrix.nbytes
