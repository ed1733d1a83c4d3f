"""`factstream dead` against real Kafka: what is listed, sent again once, and dropped without being lost."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from typer.testing import CliRunner

from factstream.cli.main import app
from pipeline.errors import Poison
from streams.dead_letters import DeadLetters
from streams.event import Event
from streams.failure import Failure
from streams.topics import DEAD, EPISODES

pytestmark = pytest.mark.integration

Command = Callable[..., Awaitable[tuple[int, str]]]


@pytest.fixture
def command(installation: Any, monkeypatch: pytest.MonkeyPatch) -> Command:
    monkeypatch.setenv("FACTSTREAM_KAFKA_BOOTSTRAP", installation.bootstrap)
    monkeypatch.setenv("FACTSTREAM_TOPIC_PREFIX", installation.prefix)

    async def call(*arguments: str) -> tuple[int, str]:
        # The command runs an event loop of its own.
        done = await asyncio.to_thread(CliRunner().invoke, app, ["dead", *arguments])
        # Log lines go to stderr, and a broker that has just made a topic has something to say.
        return done.exit_code, done.output if done.exit_code else done.stdout

    return call


async def bury(installation: Any, number: int, group: str, stage: str, reason: str, day: int) -> None:
    at = datetime(2026, 3, day, tzinfo=UTC)
    letters = DeadLetters(installation.producer, DEAD.named(installation.prefix), lambda: at)
    value = json.dumps({"id": f"e{number}", "group_id": group}).encode()
    event = Event(EPISODES.named(installation.prefix), 0, number, group.encode(), value, at)
    await letters.bury(event, Failure(stage, "handle", 1, Poison(reason)))


async def listed(command: Command, *options: str) -> dict[str, dict[str, Any]]:
    code, output = await command("list", "--json", *options)
    assert code == 0, output
    return {one["episode_id"]: one for one in map(json.loads, output.splitlines())}


async def test_filters_replay_once_and_drop_that_stays_visible(installation: Any, command: Command) -> None:
    await bury(installation, 1, "a", "extract", "not a time", 1)
    await bury(installation, 2, "a", "resolve_facts", "no such entity", 2)
    await bury(installation, 3, "b", "extract", "Not A Time either", 3)
    assert set(await listed(command)) == {"e1", "e2", "e3"}
    assert set(await listed(command, "--group", "a")) == {"e1", "e2"}
    assert set(await listed(command, "--stage", "extract", "--reason", "a time")) == {"e1", "e3"}
    found = await listed(command, "--since", "2026-03-02", "--until", "2026-03-03")
    assert set(found) == {"e2"}
    assert "event" not in found["e2"]
    code, output = await command("list", "--since", "whenever")
    assert (code, "--since" in output) == (1, True)

    code, output = await command("replay", "--all", "--reason", "a time", "--group", "a")
    assert (code, output.strip()) == (0, "1 sent again")
    assert [r.value for r in await installation.read(EPISODES, lambda got: len(got) == 1)] == [
        b'{"id":"e1","group_id":"a"}'
    ]
    code, output = await command("drop", "--all", "--stage", "extract", "--note", "the CRM was wrong")
    assert (code, output.strip()) == (0, "1 dropped")
    assert set(await listed(command)) == {"e2"}
    assert set(await listed(command, "--replayed")) == {"e1"}
    dropped = await listed(command, "--dropped")
    assert dropped["e3"]["error"] == "Not A Time either"
    assert dropped["e3"]["note"] == "the CRM was wrong"
    _, output = await command("list")
    assert "not shown: 1 replayed, 1 dropped" in output

    for settled in (dropped["e3"]["id"], (await listed(command, "--replayed"))["e1"]["id"]):
        code, output = await command("replay", settled)
        assert (code, "settled before" in output) == (1, True)
        code, output = await command("drop", settled)
        assert (code, "settled before" in output) == (1, True)
    code, output = await command("replay", "--all")
    assert output.strip() == "1 sent again"
    code, output = await command("replay", "--force", dropped["e3"]["id"])
    assert output.strip() == "1 sent again"
    assert len(await installation.read(EPISODES, lambda got: len(got) == 3)) == 3
    assert set(await listed(command)) == set()
    _, output = await command("show", dropped["e3"]["id"])
    shown = json.loads(output)
    assert (shown["state"], shown["event"]["id"]) == ("replayed", "e3")
    code, output = await command("drop", "9-9")
    assert (code, "no dead letter 9-9" in output) == (1, True)


async def test_a_letter_that_dies_again_is_a_new_one(installation: Any, command: Command) -> None:
    await bury(installation, 1, "a", "extract", "still bad", 1)
    await command("replay", "--all")
    await bury(installation, 1, "a", "extract", "still bad", 2)
    assert {one["at"][:10] for one in (await listed(command)).values()} == {"2026-03-02"}
