"""`factstream export` and `factstream import`: whole groups, or raw episodes, to a file and back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated

import orjson
import typer

from factstream import models
from factstream.cli.common import clear_errors, run, settings_or_exit
from factstream.cli.graphs import Graph, neo4j_of, progress, source_of
from factstream.memory import Memory
from factstream.settings import Settings
from factstream.transfer.archive_file import Archive
from factstream.transfer.archiving import archive as archive_to
from factstream.transfer.copying import copy_file
from factstream.transfer.episode_source import EpisodeSource, Neo4jEpisodes, SqliteEpisodes
from factstream.transfer.exporting import export as export_to
from factstream.transfer.importing import check, import_events
from factstream.transfer.into_file import restore_into_file
from factstream.transfer.restoring import Restored, Restoring
from factstream.transfer.waiting import waiting_events
from pipeline.clock import system_clock
from pipeline.graph.neo4j.archive import Neo4jArchiveTarget
from pipeline.graph.sqlite.listing import SqliteListing
from pipeline.observer import SilentObserver

Anew = Annotated[
    bool, typer.Option("--embed-anew", help="Make all vectors with the configured embedding model.")
]


def export(
    file: Annotated[
        Path, typer.Argument(help="File to write: an archive, or, named .db or .sqlite, a copy of --graph.")
    ],
    group: Annotated[
        list[str] | None, typer.Option("--group", "-g", help="Group to export; may be given several times.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Export every group.")] = False,
    graph: Graph = None,
    events: Annotated[
        bool, typer.Option("--events", help="Only the raw episodes, as events of the contract.")
    ] = False,
) -> None:
    """Write everything of groups to an archive that `factstream import` takes into either store, without a model.

    May run while episodes arrive. Interrupted, it goes on where it was when run again. With --events the file holds
    the raw episodes in the order of their arrival, for `factstream publish` (into Kafka) or `factstream import`,
    which derive the graph anew.
    """
    copying = file.suffix in (".db", ".sqlite")
    if bool(group) == every and not (copying and not group):
        raise typer.BadParameter("give --group, or --all for every group")
    settings = settings_or_exit()
    if copying:
        if graph is None or group or events:
            raise typer.BadParameter("a copy is of a whole --graph", param_hint="FILE")
        with clear_errors():
            size = copy_file(graph, file)
        typer.echo(f"{graph} copied to {file}, {size / 2**20:.1f} MiB")
        return
    told = run(lambda: (_events_out if events else _archive_out)(settings, graph, group, file))
    typer.echo(f"{told} in {file}")


async def _archive_out(settings: Settings, graph: Path | None, group: list[str] | None, file: Path) -> str:
    source = source_of(settings, graph)
    await source.open()
    try:
        waiting = await waiting_events(graph) if graph else []
        known = sorted({*await source.groups(), *(event.group_id for event in waiting)})
        groups = known if group is None else list(dict.fromkeys(group))
        if missing := sorted(set(groups) - set(known)):
            raise typer.BadParameter(f"there is no group {missing[0]!r}", param_hint="--group")
        with progress() as bar:
            task = bar.add_task("exporting", total=None)
            lines = await archive_to(source, groups, file, waiting, lambda: bar.advance(task))
    finally:
        await source.close()
    return f"{len(groups)} groups, {lines} lines"


async def _events_out(settings: Settings, graph: Path | None, group: list[str] | None, file: Path) -> str:
    async with _episodes(settings, graph) as source:
        groups = await source.groups() if group is None else list(dict.fromkeys(group))
        with progress() as bar:
            task = bar.add_task("exporting", total=None)
            count = await export_to(source, groups, file, lambda _: bar.advance(task))
    return f"{count} episodes"


def import_(
    file: Annotated[Path, typer.Argument(help="An archive, or one JSON event a line (JSON Lines).")],
    graph: Graph = None,
    anew: Anew = False,
) -> None:
    """Take an archive into Neo4j or a graph file, or read raw episodes into a graph file, through all stages.

    The whole file is checked first. Interrupted, it is simply run again. Raw episodes go into Kafka with
    `factstream publish`.
    """
    settings = settings_or_exit()
    if Archive.is_one(file):
        with clear_errors():
            archive = Archive(file)
        take_in(settings, archive, file, graph, anew=anew)
        return
    if graph is None:
        raise typer.BadParameter(
            "events go into a graph file, --graph; into Kafka: `factstream publish`", param_hint="FILE"
        )
    typer.echo(run(lambda: _events_in(settings, file, graph)))


def take_in(settings: Settings, archive: Archive, file: Path, graph: Path | None, *, anew: bool) -> None:
    """Take an archive in, and say what was done and what is left to do."""
    told = run(lambda: _archive_in(settings, archive, graph, anew))
    counts = ", ".join(f"{count} {kind}" for kind, count in told.counts.items() if kind != "group")
    typer.echo(f"{told.counts['group']} groups: {counts}")
    if told.embedded:
        typer.echo(f"{told.embedded} texts embedded")
    if graph is None and told.unfinished:
        beside = file.with_name(file.name + ".unfinished.jsonl")
        beside.write_bytes(b"".join(orjson.dumps(event) + b"\n" for event in told.unfinished.values()))
        typer.echo(f"{len(told.unfinished)} episodes were under way: `factstream publish {beside}`")
    if told.dead:
        beside = file.with_name(file.name + ".dead.jsonl")
        beside.write_bytes(b"".join(orjson.dumps(dead.event) + b"\n" for dead in told.dead))
        typer.echo(f"{len(told.dead)} episodes were dead; their events are in {beside}")


async def _archive_in(settings: Settings, archive: Archive, graph: Path | None, anew: bool) -> Restored:
    with progress() as bar:
        task = bar.add_task("importing", total=archive.records)

        def passed(lines: int) -> None:
            bar.advance(task, lines)

        if graph is not None:
            return await restore_into_file(archive, graph, settings, passed, anew=anew)
        embedder = models.build_embedder(settings, SilentObserver())
        target = Neo4jArchiveTarget(neo4j_of(settings), embedder.dimension)
        await target.open()
        try:
            return await Restoring(target, embedder, system_clock, anew).run(archive, passed)
        finally:
            await target.close()


async def _events_in(settings: Settings, file: Path, graph: Path) -> str:
    total = check(file)
    async with Memory(graph, settings=settings) as memory:
        with progress() as bar:
            task = bar.add_task("importing", total=total)
            states = await import_events(memory, file, lambda n: bar.advance(task, n))
    return ", ".join(f"{count} {state}" for state, count in sorted(states.items())) or "no episodes"


@asynccontextmanager
async def _episodes(settings: Settings, graph: Path | None) -> AsyncIterator[EpisodeSource]:
    if graph is not None:
        listing = SqliteListing(graph)
        await listing.open()
        try:
            yield SqliteEpisodes(listing)
        finally:
            await listing.close()
        return
    connection = neo4j_of(settings)
    await connection.open()
    try:
        yield Neo4jEpisodes(connection)
    finally:
        await connection.close()
