"""The order of vectors: the same as if all of them were sorted, however few are asked for."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.graph.sqlite import vectors
from pipeline.graph.sqlite.vectors import _best_first


def sorted_whole(nos: list[int], scores: list[float]) -> list[tuple[int, float]]:
    return sorted(zip(nos, scores, strict=True), key=lambda one: (-one[1], one[0]))


@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.25, 0.5, 1.0]), max_size=200), st.integers(1, 300))
def test_every_prefix_is_that_of_the_whole_order(scores: list[float], asked: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vectors, "_HEAD", 3)
        nos = list(range(len(scores), 0, -1))
        found = _best_first(np.array(nos, dtype=np.int64), np.array(scores, dtype=np.float32))
        assert list(islice(found, asked)) == sorted_whole(nos, scores)[:asked]


def test_no_more_is_sorted_than_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = np.random.default_rng(1).random(100_000, dtype=np.float32)
    sizes: list[int] = []
    original = np.lexsort

    def counted(keys: tuple[object, ...]) -> object:
        sizes.append(len(keys[0]))  # type: ignore[arg-type]
        return original(keys)  # type: ignore[arg-type]

    monkeypatch.setattr(vectors.np, "lexsort", counted)
    found = list(islice(_best_first(np.arange(100_000, dtype=np.int64), scores), 100))
    assert [no for no, _ in found] == np.argsort(-scores)[:100].tolist()
    assert sizes == [512]
