from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.extraction.json_record import JsonRecordReader
from pipeline.extraction.local import english_model, sections
from pipeline.extraction.local.extractor import LocalExtractor
from pipeline.extraction.local.reader import TextReader
from pipeline.extraction.local.tongues import Tongues
from pipeline.model.episode import Episode, Source, Speaker
from pipeline.model.extraction import Extraction, StatementKind
from tests.unit.extraction.conftest import REFERENCE, episode, facts

READER = TextReader(Tongues())
PIECES = st.sampled_from(
    [
        "I work at Acme",
        ". ",
        ", ",
        "Ana",
        ": ",
        "\n",
        "no longer ",
        "lived in ",
        "Lima",
        "(user)",
        "last week",
        "'s ",
        " and ",
        "？",
        "。",
        "我",
        "在",
        "工作",
        "住在",
        "北京",
        "trabajo en ",
        "ya no ",
        "mi hermana ",
        "\ue000",
        "\uf000",
        "�",
        "\x00",
        "《",
        "》",
        "—",
        "<",
        "{",
        "$1",
        "\\",
        '"',
        "the ",
        "don't ",
    ]
)
TEXT = st.one_of(st.text(max_size=300), st.lists(PIECES, max_size=30).map("".join))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=15,
)


def check(found: Extraction) -> None:
    for s in found.statements:
        assert 0 <= s.subject < len(found.mentions)
        assert 0 <= s.object < len(found.mentions)
        assert s.fact
        assert s.valid_at is None or s.invalid_at is None or s.valid_at < s.invalid_at
        assert s.kind is StatementKind.asserts or s.invalid_at is not None
    keys = [m.name for m in found.mentions]
    assert len(keys) == len(set(keys))


@settings(max_examples=150, deadline=None)
@given(text=TEXT, name=TEXT, source=st.sampled_from([Source.message, Source.text]), before=TEXT)
def test_any_text_in_any_field_is_read(text: str, name: str, source: Source, before: str) -> None:
    context = Episode(
        id="c", group_id="g", source=Source.text, content=before, reference_time=REFERENCE, sequence=0
    )
    for speaker in (None, Speaker(name=name or "Ana")):
        read = episode(text, source).model_copy(update={"speaker": speaker, "source_description": name})
        check(READER.read(read, [context]))


@settings(max_examples=150, deadline=None)
@given(content=JSON)
def test_any_json_is_read(content: Any) -> None:
    check(JsonRecordReader().read(episode(content, Source.json)))


@pytest.mark.parametrize(
    "piece", ["I work at Acme and I live in Lima. ", "我在Acme工作，住在北京。", "A ", "Ana: hi\n", ". ", "x"]
)
def test_a_mebibyte_is_read_within_the_documented_budget(piece: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # The limits are made small, so that the test shows that they bound the work and not how fast the machine is.
    monkeypatch.setattr(sections, "FULL_CHARACTERS", 2_000)
    monkeypatch.setattr(sections, "FACT_SENTENCES", 20)
    asked: list[int] = []
    resolve = sections.resolve

    def counted(*arguments: Any) -> Any:
        asked.append(1)
        return resolve(*arguments)

    monkeypatch.setattr(sections, "resolve", counted)
    text = (piece * (1024 * 1024 // len(piece.encode()) + 1))[
        : 1024 * 1024 // (len(piece.encode()) // len(piece))
    ]
    check(READER.read(episode(text), []))
    assert len(asked) <= 20


async def test_the_event_loop_goes_on_while_a_text_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    extractor = LocalExtractor()
    entered, release = threading.Event(), threading.Event()

    def slow(*_: Any) -> Extraction:
        entered.set()
        assert release.wait(30)
        return Extraction()

    monkeypatch.setattr(TextReader, "read", slow)
    task = asyncio.ensure_future(extractor.extract(episode("I work at Acme."), ()))
    assert await asyncio.to_thread(entered.wait, 30)
    assert not task.done()
    release.set()
    assert (await task).empty


def test_without_spacy_patterns_do_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(english_model, "MODULES", ("no_such_model_is_installed",))
    found = TextReader(Tongues()).read(episode("I work at Acme and live in Lima.", speaker="Ana"), [])
    assert facts(found) == {("asserts", "Ana", "WORKS_AT", "Acme"), ("asserts", "Ana", "LIVES_IN", "Lima")}


def test_without_jieba_patterns_do_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "jieba", None)
    found = TextReader(Tongues()).read(episode("我在Acme工作。我住在北京。", speaker="Ana"), [])
    assert facts(found) == {("asserts", "Ana", "WORKS_AT", "Acme"), ("asserts", "Ana", "LIVES_IN", "北京")}
