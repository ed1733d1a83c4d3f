"""Rebuilding beside readers, writers, other rebuilds, and after a kill."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from factstream.rebuild.leasing import Leasing
from factstream.rebuild.parts import From, Options, RebuildRefused
from factstream.rebuild.rebuild import Rebuild
from factstream.rebuild.shadow import Shadow
from pipeline.errors import Poison, Retryable
from pipeline.graph.ledger import CurationCommit
from pipeline.graph.search import Method, Scope, SearchPlan
from pipeline.graph.sqlite.store import SqliteGraphStore
from pipeline.model.episode import Episode, EpisodeState
from pipeline.model.extraction import Extraction
from pipeline.model.fact import Fact
from tests.contract.curation_kit import Teller, says
from tests.contract.kit import Graph
from tests.contract.rebuild_kit import ListLog, Published, current, rebuild, stated, tools_of
from tests.contract.test_rebuild import same

READERS = 20


class Shouting:
    """An extractor with better rules: every relation is found to be another."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    async def extract(self, episode: Episode, context: Any) -> Extraction:
        found: Extraction = await self._inner.extract(episode, context)
        louder = [s.model_copy(update={"fact": s.fact.upper()}) for s in found.statements]
        return found.model_copy(update={"statements": tuple(louder)})


async def many(graph: Graph, group: str, count: int = 12) -> Teller:
    teller = Teller(graph, group)
    for number in range(count):
        await teller.tell(says("Ana", "KNOWS", f"friend {number}"), at=number + 1)
    await teller.communities().rebuild(group)
    return teller


async def test_readers_see_the_old_state_or_the_new_one(graph: Graph, group: str, tmp_path: Path) -> None:
    teller = await many(graph, group)
    plan = SearchPlan(
        group_ids=(group,),
        scopes=(Scope.facts,),
        methods=(Method.bm25,),
        limit=50,
        terms=("ana",),
        as_of=None,
    )
    seen: list[frozenset[str]] = []
    ended = asyncio.Event()

    async def read(look: Callable[[], Awaitable[frozenset[str]]]) -> None:
        while not ended.is_set():
            seen.append(await look())

    ana = await teller.named("Ana")

    async def timeline() -> frozenset[str]:
        facts = await graph.reader.entity_facts(group, ana)
        return frozenset(f.fact for f in facts or ())

    async def found() -> frozenset[str]:
        hits = await graph.reader.search(plan)
        items = hits.items.get(Scope.facts, {}).values()
        return frozenset(item.fact for item in items if isinstance(item, Fact))

    before = await timeline()
    readers = [asyncio.create_task(read(look)) for look in [timeline, found] * (READERS // 2)]
    await asyncio.sleep(0.3)
    tools = tools_of(teller)
    await rebuild(teller, tmp_path, extractor=Shouting(tools.extractor))
    after = await timeline()
    await asyncio.sleep(0.3)
    ended.set()
    await asyncio.gather(*readers)
    assert after == {text.upper() for text in before}
    if isinstance(graph.store, SqliteGraphStore):
        assert set(seen) <= {before, after}
    # Neo4j reads what is committed while a statement runs: one that runs at the very moment may see some of both.
    assert all(state <= before | after for state in seen)
    assert {before, after} <= set(seen)


async def test_episodes_that_come_meanwhile_are_all_there(graph: Graph, group: str, tmp_path: Path) -> None:
    teller = await many(graph, group, 6)
    log = ListLog(raw=list(await graph.store.raw_episodes(group, sorted((await teller.ledger()).episodes))))
    writing = asyncio.Event()

    class Slow(ListLog):
        async def refresh(self) -> None:
            writing.set()
            await asyncio.sleep(0.2)

    slow = Slow(raw=log.raw)

    async def write() -> None:
        await writing.wait()
        for number in range(6, 12):
            episode = teller.episode([says("Ana", "KNOWS", f"friend {number}")], at=number + 1)
            slow.raw.append(episode)
            while True:
                try:
                    touched = await teller.facts_of(episode)
                    await teller.communities().run(episode.ref, touched)
                    break
                except Retryable:
                    await asyncio.sleep(0.05)
                except AssertionError:
                    # The stage found the mark that the swap had set: the episode is done.
                    break

    writer = asyncio.create_task(write())
    published = Published()
    await rebuild(teller, tmp_path, slow, publish=published)
    await writer
    ledger = await teller.ledger()
    assert {f.target.name for f in ledger.facts.values()} == {f"friend {n}" for n in range(12)}
    assert {k.state for k in await graph.store.known_episodes(group)} == {EpisodeState.committed}
    assert len(ledger.facts) == 12
    assert (await rebuild(teller, tmp_path, slow)).changes == ()
    assert (await teller.ledger()).facts == ledger.facts


async def test_a_second_rebuild_is_refused(graph: Graph, group: str, tmp_path: Path) -> None:
    teller = await many(graph, group, 2)
    async with Leasing(graph.store, group, "another"):
        with pytest.raises(RebuildRefused, match="is being rebuilt by process"):
            await rebuild(teller, tmp_path)
    await rebuild(teller, tmp_path)


async def test_a_second_rebuild_with_the_same_folder_is_refused(
    graph: Graph, group: str, tmp_path: Path
) -> None:
    teller = await many(graph, group, 2)

    class Refusing(ListLog):
        async def refresh(self) -> None:
            with pytest.raises(RebuildRefused, match="another process on this machine"):
                await rebuild(teller, tmp_path)

    raw = list(await graph.store.raw_episodes(group, ["e1", "e2"]))
    await rebuild(teller, tmp_path, Refusing(raw=raw))


@pytest.mark.parametrize("point", ["third episode", "before commit", "after commit", "before publish"])
async def test_what_was_interrupted_goes_on(
    graph: Graph, group: str, tmp_path: Path, point: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    teller = Teller(graph, group)
    log = ListLog(raw=[teller.episode([says("Ana", "KNOWS", f"friend {n}")], at=n + 1) for n in range(6)])
    counted = tools_of(teller).extractor
    asked: list[str] = []

    class Counting:
        async def extract(self, episode: Episode, context: Any) -> Extraction:
            asked.append(episode.id)
            return await counted.extract(episode, context)

    class Killed(BaseException):
        """Nothing catches it, as nothing catches a kill."""

    calls = 0

    def cut(owner: Any, name: str, *, after: bool = False, at: int = 1) -> None:
        inner = getattr(owner, name)

        async def wrapped(*args: Any, **kwargs: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == at and not after:
                raise Killed
            answer = await inner(*args, **kwargs)
            if calls == at and after:
                raise Killed
            return answer

        monkeypatch.setattr(owner, name, wrapped)

    published = Published()
    if point == "third episode":
        cut(Shadow, "_finish", at=3)
    elif point == "before publish":
        cut(Published, "__call__")
    else:
        cut(graph.store, "commit_curation", after=point == "after commit")
    with pytest.raises(Killed):
        await rebuild(teller, tmp_path, log, extractor=Counting(), publish=published)
    monkeypatch.undo()
    await rebuild(teller, tmp_path, log, extractor=Counting(), publish=published)
    ledger = await teller.ledger()
    assert len(ledger.facts) == 6
    assert current(published.changes) == stated(ledger)
    assert {i for one in published.swapped for i in one.settled} == {e.id for e in log.raw}
    # What was extracted once is not extracted again, but for what was under way side by side.
    if point != "third episode":
        assert sorted(asked) == sorted(e.id for e in log.raw)
    assert not any(stage == "notice" for _, stage in ledger.outputs)
    assert (await rebuild(teller, tmp_path, log)).changed == 0


async def test_a_failure_of_the_extractor_does_not_cost_what_is_there(
    graph: Graph, group: str, tmp_path: Path
) -> None:
    teller = await many(graph, group, 3)
    before = await teller.ledger()
    inner = tools_of(teller).extractor

    class Failing:
        async def extract(self, episode: Episode, context: Any) -> Extraction:
            if episode.id == "e2":
                raise Poison("not today", "content")
            return await inner.extract(episode, context)

    with pytest.raises(RebuildRefused, match=r"e2.*not today"):
        await rebuild(teller, tmp_path, extractor=Failing())
    assert same(await teller.ledger(), before)
    done = await rebuild(teller, tmp_path, extractor=Failing(), allow_dead=True)
    assert list(done.dead) == ["e2"]
    assert {f.target.name for f in (await teller.ledger()).facts.values()} == {"friend 0", "friend 2"}
    stored = await graph.reader.episode(group, "e2")
    assert stored is not None
    assert (stored.state, stored.reason) == (EpisodeState.dead, "extract: content: not today")


async def test_from_extracted_asks_nobody(graph: Graph, group: str, tmp_path: Path) -> None:
    teller = await many(graph, group, 3)
    raw = list(await graph.store.raw_episodes(group, ["e1", "e2", "e3"]))
    inner = tools_of(teller).extractor
    kept = {e.id: await inner.extract(e, ()) for e in raw}
    before = await teller.ledger()

    class Nobody:
        async def extract(self, episode: Episode, context: Any) -> Extraction:
            raise AssertionError("asked")

    with pytest.raises(RebuildRefused, match="--from raw"):
        await rebuild(teller, tmp_path, ListLog(raw=raw), source=From.extracted, extractor=Nobody())
    log = ListLog(raw=raw, extracted=kept)
    done = await rebuild(teller, tmp_path, log, source=From.extracted, extractor=Nobody())
    assert (done.episodes, done.changed) == (3, 0)
    assert same(await teller.ledger(), before)


async def test_everything_can_be_written_again(graph: Graph, group: str, tmp_path: Path) -> None:
    teller = await many(graph, group, 3)
    before = await teller.ledger()
    done = await rebuild(teller, tmp_path, everything=True)
    assert (done.changed, done.changes) == (0, ())
    after = await teller.ledger()
    assert replace(after, lanes={}) == replace(before, lanes={})


@pytest.mark.parametrize("name", ['客户/支持 "a\'b`c"', "a/../b", "%2F{x}$y\\n"])
async def test_groups_of_any_name(graph: Graph, group: str, tmp_path: Path, name: str) -> None:
    odd = f"{name} {group}"
    teller = await many(graph, odd, 2)
    before = await teller.ledger()
    assert (await rebuild(teller, tmp_path)).changed == 0
    assert same(await teller.ledger(), before)
    await teller.operator.forget_group(odd)


async def test_a_fenced_swap_catches_up_and_tries_again(
    graph: Graph, group: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    teller = await many(graph, group, 2)
    inner, tries = graph.store.commit_curation, 0

    async def overtaken(commit: CurationCommit) -> None:
        nonlocal tries
        tries += 1
        if tries == 1:
            # The hold has run out while the process stood still, and a stage has committed.
            await graph.store.end_lease(group, commit.lease)
            await teller.tell(says("Ana", "KNOWS", "late"), at=50)
        await inner(commit)

    monkeypatch.setattr(graph.store, "commit_curation", overtaken)
    await rebuild(teller, tmp_path, everything=True)
    assert tries == 2
    assert "late" in {f.target.name for f in (await teller.ledger()).facts.values()}


async def test_another_way_to_read_begins_anew(graph: Graph, group: str, tmp_path: Path) -> None:
    teller = await many(graph, group, 2)
    options = Options(From.raw, tmp_path / "rebuild", identity="one")

    class Broken(ListLog):
        async def told(self, group_id: str) -> Any:
            raise Retryable("away")

    raw = list(await graph.store.raw_episodes(group, ["e1", "e2"]))
    with pytest.raises(Retryable, match="away"):
        await Rebuild(group, tools_of(teller, Broken(raw=raw)), options).run()
    assert list(options.folder.glob("*.db"))
    changed = replace(tools_of(teller), extractor=Shouting(tools_of(teller).extractor))
    await Rebuild(group, changed, replace(options, identity="two")).run()
    assert {f.fact for f in (await teller.ledger()).facts.values()} == {
        "ANA KNOWS FRIEND 0",
        "ANA KNOWS FRIEND 1",
    }
