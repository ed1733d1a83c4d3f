"""`forget`, `merges`, `correct` and `scrub-check` over a graph in a file, with Kafka there or away."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from factstream import compose, models
from factstream.cli import correct, curating, forget, merges
from pipeline.embedding.hashing import HashingEmbedder
from pipeline.errors import Retryable
from pipeline.graph.ledger import Ledger
from pipeline.graph.sqlite.store import SqliteGraphStore
from tests.unit.curation.conftest import GROUP, Story, story
from tests.unit.stages.conftest import triple

app = typer.Typer()
app.command()(forget.forget)
app.command()(forget.scrub_check)
app.add_typer(merges.merges_app)
app.add_typer(correct.correct_app)


class Kafka:
    """Takes records while it is there."""

    def __init__(self) -> None:
        self.there = True
        self.records: list[tuple[str, bytes | None, bytes | None]] = []

    def __call__(self, bootstrap: str) -> Kafka:
        return self

    async def send_all(
        self, topic: str, records: Sequence[tuple[bytes | None, bytes | None]], headers: Iterable[Any] = ()
    ) -> None:
        if not self.there:
            raise Retryable("Kafka is away")
        self.records += [(topic, key, value) for key, value in records]

    async def stop(self) -> None:
        """There is no connection to close."""

    def changes(self) -> list[str]:
        return [json.loads(v or b"")["change"] for topic, _, v in self.records if topic == "facts.changes"]


@pytest.fixture
def kafka(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Kafka]:
    made = Kafka()
    embedder = HashingEmbedder()

    def store(*_: Any) -> SqliteGraphStore:
        return SqliteGraphStore(tmp_path / "graph.db", dimension=embedder.dimension)

    def the_embedder(*_: Any) -> HashingEmbedder:
        return embedder

    monkeypatch.setattr(compose, "build_store", store)
    monkeypatch.setattr(models, "build_embedder", the_embedder)
    monkeypatch.setattr(curating, "Producer", made)

    async def tell() -> None:
        async with story(tmp_path) as one:
            await fill(one)

    asyncio.run(tell())
    return made


async def fill(one: Story) -> None:
    await one.tell(triple("Ana", "LIVES_IN", "Lima", cardinality="one"))
    await one.tell(triple("Ana", "LIVES_IN", "Zanzibar", cardinality="one"), at="2024-02-01")
    await one.tell(triple("Annie", "KNOWS", "Bob"))


def ledger(folder: Path) -> Ledger:
    async def read() -> Ledger:
        async with story(folder) as one:
            return await one.ledger()

    return asyncio.run(read())


def call(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, [*arguments, "--group", GROUP])
    return done.exit_code, done.output


def named(folder: Path, name: str) -> str:
    return next(e.id for e in ledger(folder).entities.values() if e.name == name)


def test_forget_takes_back_publishes_and_proves(kafka: Kafka, tmp_path: Path) -> None:
    code, output = call("scrub-check", "zanzibar")
    assert code == 1
    assert "episode e2: body" in output
    code, output = call("forget", "--episode", "e2", "--yes")
    assert (code, "1 episodes forgotten" in output) == (0, True), output
    assert kafka.changes() == ["reopened", "retracted"] or kafka.changes() == ["retracted", "reopened"]
    tombstones = [(topic, key) for topic, key, value in kafka.records if value is None]
    assert tombstones == [
        ("episodes.extracted", b"g\0e2"),
        ("episodes.resolved", b"g\0e2"),
        ("episodes.judged", b"g\0e2\0resolve_entities"),
        ("episodes.judged", b"g\0e2\0resolve_facts"),
    ]
    assert call("scrub-check", "zanzibar") == (0, "not found\n")
    assert ledger(tmp_path).outputs == {}


def test_what_kafka_did_not_take_is_published_later(kafka: Kafka, tmp_path: Path) -> None:
    kafka.there = False
    code, output = call("forget", "--entity", "ana", "--yes")
    assert code == 1
    assert "the graph is changed" in output
    assert sorted(e.name for e in ledger(tmp_path).entities.values()) == ["Annie", "Bob"]
    kafka.there = True
    assert call("forget", "--unsent") == (0, "1 notices published\n")
    assert "retracted" in kafka.changes()
    assert len([key for _, key, value in kafka.records if value is None]) == 8
    assert call("forget", "--unsent") == (0, "0 notices published\n")


def test_forget_asks_and_does_nothing_without_a_yes(kafka: Kafka, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["forget", "--group", GROUP, "--entity", "Ana"], input="n\n")
    assert (done.exit_code, "Forget 2 episodes" in done.output) == (1, True)
    assert len(ledger(tmp_path).episodes) == 3
    code, output = call("forget", "--episode", "e1", "--group-all")
    assert (code, "give one of" in output) == (1, True)
    code, output = call("forget", "--episode", "none", "--yes")
    assert (code, "has no episode" in output) == (1, True)


def test_a_whole_group_goes(kafka: Kafka, tmp_path: Path) -> None:
    code, output = call("forget", "--group-all", "--yes")
    assert (code, "3 episodes forgotten" in output) == (0, True)
    assert ledger(tmp_path).entities == {}


def test_merge_list_undo(kafka: Kafka, tmp_path: Path) -> None:
    annie, ana = named(tmp_path, "Annie"), named(tmp_path, "Ana")
    code, output = call("correct", "entity", annie, "--merge-into", ana, "--reason", "nickname")
    assert code == 0, output
    code, output = call("merges", "list", "--json")
    record = json.loads(output)
    assert (record["name"], record["into"], record["by"], record["reason"]) == (
        "Annie",
        ana,
        "operator",
        "nickname",
    )
    code, output = call("merges", "list")
    assert (code, "nickname" in output) == (0, True)
    code, output = call("merges", "undo", record["id"])
    assert (code, annie in output) == (0, True)
    assert named(tmp_path, "Annie") == annie
    code, output = call("correct", "entity", annie, "--merge-into", ana, "--name", "X")
    assert (code, "alone" in output) == (1, True)


def test_entities_and_facts_are_set_right(kafka: Kafka, tmp_path: Path) -> None:
    bob = named(tmp_path, "Bob")
    code, output = call(
        "correct", "entity", bob, "--name", "Robert", "--type", "Person", "--set", "age=41", "--set", "t=x"
    )
    assert (code, "episode operator-" in output) == (0, True)
    entity = ledger(tmp_path).entities[bob]
    assert (entity.name, entity.type, entity.attributes) == ("Robert", "Person", {"age": 41, "t": "x"})
    knows = next(f.id for f in ledger(tmp_path).facts.values() if f.relation == "KNOWS")
    assert call("correct", "fact", knows, "--invalid-at", "2024-06")[0] == 0
    belief = ledger(tmp_path).facts[knows].beliefs[-1]
    assert (str(belief.invalid_at)[:10], belief.invalid_at_precision) == ("2024-06-01", "month")
    assert call("correct", "fact", knows, "--invalid-at", "never", "--valid-at", "2024-01-05")[0] == 0
    belief = ledger(tmp_path).facts[knows].beliefs[-1]
    assert (str(belief.valid_at)[:10], belief.invalid_at) == ("2024-01-05", None)
    assert call("correct", "fact", knows, "--retract")[0] == 0
    assert not ledger(tmp_path).facts[knows].beliefs[-1].holds
    for wrong, said in (
        (["--invalid-at", "soon"], "--invalid-at"),
        (["--retract", "--valid-at", "2024"], "alone"),
    ):
        code, output = call("correct", "fact", knows, *wrong)
        assert (code, said in output) == (1, True)
    code, output = call("correct", "entity", bob, "--set", "novalue")
    assert (code, "key=value" in output) == (1, True)
