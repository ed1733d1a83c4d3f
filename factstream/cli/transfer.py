"""`factstream export` and `factstream import`: episodes to a file, and from a file into a graph file."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from factstream.cli.common import run, settings_or_exit
from factstream.cli.embedded import graph_file
from factstream.memory import Memory
from factstream.settings import Settings
from factstream.transfer.episode_source import EpisodeSource, Neo4jEpisodes, SqliteEpisodes
from factstream.transfer.exporting import export as export_to
from factstream.transfer.importing import check, import_events
from pipeline.graph.neo4j.connection import Neo4jConnection
from pipeline.graph.sqlite.listing import SqliteListing
from pipeline.observer import SilentObserver

Graph = Annotated[
    Path | None, typer.Option("--graph", help="SQLite graph file; Neo4j when left out.", show_default=False)
]


def export(
    file: Annotated[Path, typer.Argument(help="File to write, one event a line (JSON Lines).")],
    group: Annotated[
        list[str] | None, typer.Option("--group", "-g", help="Group to export; may be given several times.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Export every group.")] = False,
    graph: Graph = None,
) -> None:
    """Write the raw episodes of groups to a file, in the order of their arrival, as events of the contract.

    The file can be read by `factstream import` (into a graph file) and by `factstream publish` (into Kafka), which
    derive the graph anew. May run while episodes arrive. Interrupted, it goes on where it was when run again.
    """
    if bool(group) == every:
        raise typer.BadParameter("give --group, or --all for every group")
    settings = settings_or_exit()

    async def main() -> int:
        async with _source(settings, graph) as source:
            groups = await source.groups() if every else list(dict.fromkeys(group or []))
            with _progress() as progress:
                task = progress.add_task("exporting", total=None)
                return await export_to(source, groups, file, lambda _: progress.advance(task))

    typer.echo(f"{run(main)} episodes in {file}")


def import_(
    file: Annotated[Path, typer.Argument(help="One JSON event a line (JSON Lines).")],
    graph: Annotated[
        Path | None,
        typer.Option(help="SQLite graph file; graph.db in the folder of the settings.", show_default=False),
    ] = None,
) -> None:
    """Read episodes from a file into a graph file, through all stages. Into Kafka: `factstream publish`.

    The whole file is checked first. Interrupted, it is simply run again: an id is one episode.
    """
    settings = settings_or_exit()

    async def main() -> str:
        total = check(file)
        async with Memory(graph_file(settings, graph), settings=settings) as memory:
            with _progress() as progress:
                task = progress.add_task("importing", total=total)
                states = await import_events(memory, file, lambda n: progress.advance(task, n))
        return ", ".join(f"{count} {state}" for state, count in sorted(states.items())) or "no episodes"

    typer.echo(run(main))


@asynccontextmanager
async def _source(settings: Settings, graph: Path | None) -> AsyncIterator[EpisodeSource]:
    if graph is not None:
        listing = SqliteListing(graph)
        await listing.open()
        try:
            yield SqliteEpisodes(listing)
        finally:
            await listing.close()
        return
    password = settings.neo4j_password.get_secret_value() if settings.neo4j_password else None
    connection = Neo4jConnection(
        settings.neo4j_uri, settings.neo4j_user, password, settings.neo4j_database, SilentObserver()
    )
    await connection.open()
    try:
        yield Neo4jEpisodes(connection)
    finally:
        await connection.close()


def _progress() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)
