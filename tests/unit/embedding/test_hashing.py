"""HashingEmbedder: deterministic unit vectors, nearer for texts that share words."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.embedding.hashing import HashingEmbedder

EXPECTED = [-0.025224, -0.44299, 0.045007, -0.551932, -0.600539, 0.334881, -0.015338, -0.153104]


async def _vector(text: str, dimension: int = 256) -> list[float]:
    return (await HashingEmbedder(dimension).embed([text]))[0]


def _cosine(a: list[float], b: list[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


@given(st.text(max_size=60), st.sampled_from([8, 64, 256]))
async def test_every_text_has_a_unit_vector(text: str, dimension: int) -> None:
    vector = await _vector(text, dimension)
    assert len(vector) == dimension
    assert math.isclose(_cosine(vector, vector), 1.0, rel_tol=1e-9)


async def test_the_same_on_every_machine() -> None:
    vector = await _vector("Ana works at Acme", 8)
    assert [round(value, 6) for value in vector] == EXPECTED


async def test_case_and_accents_do_not_count() -> None:
    assert await _vector("Ángel MÜLLER") == await _vector("angel muller")


@pytest.mark.parametrize(
    ("text", "near", "far"),
    [
        ("Ana works at Acme", "Acme is where Ana works", "The river froze in winter"),
        ("Acme Corporation", "Acme Corp", "Borealis Ltd"),
        ("安娜住在利马", "利马的安娜", "河流在冬天结冰"),
    ],
)
async def test_shared_words_and_parts_of_words_bring_texts_near(text: str, near: str, far: str) -> None:
    here = await _vector(text)
    assert _cosine(here, await _vector(near)) > _cosine(here, await _vector(far)) + 0.2


async def test_questions_are_texts_and_order_is_kept() -> None:
    embedder = HashingEmbedder()
    one, two = await embedder.embed(["one", "two"])
    assert await embedder.embed(["two", "one"], query=True) == [two, one]
    assert await embedder.embed([]) == []


def test_the_model_names_its_space() -> None:
    assert HashingEmbedder(64).model != HashingEmbedder(65).model
    with pytest.raises(ValueError, match="at least 8"):
        HashingEmbedder(4)
