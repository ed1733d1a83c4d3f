"""`factstream import graphiti`: carry on a graph that Graphiti wrote into Neo4j."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated

import typer

from factstream import models
from factstream.cli.common import clear_errors, run, settings_or_exit
from factstream.cli.graphs import Graph, neo4j_of, progress
from factstream.cli.transfer import take_in
from factstream.graphiti.converting import Converting, groups_of, names_of, rows_of
from factstream.graphiti.report import Report
from factstream.settings import Settings
from factstream.transfer.archive_file import Archive
from pipeline.clock import system_clock
from pipeline.errors import SettingError
from pipeline.graph.archive import ArchiveTarget
from pipeline.graph.neo4j.archive import Neo4jArchiveTarget
from pipeline.graph.neo4j.connection import Neo4jConnection
from pipeline.graph.sqlite.archive import SqliteArchiveTarget
from pipeline.observer import SilentObserver


def graphiti(
    uri: Annotated[str, typer.Option("--from", help="Bolt address of the Neo4j that Graphiti wrote to.")],
    user: Annotated[str | None, typer.Option(help="User there.", show_default=False)] = None,
    password: Annotated[
        str | None,
        typer.Option(
            help="Password there.", show_default=False, envvar="GRAPHITI_NEO4J_PASSWORD", show_envvar=True
        ),
    ] = None,
    database: Annotated[str, typer.Option(help="Database there.")] = "neo4j",
    group: Annotated[
        list[str] | None,
        typer.Option("--group", "-g", help="Group to import, or OLD=NEW; again for more. Default: all."),
    ] = None,
    graph: Graph = None,
    vectors: Annotated[
        bool,
        typer.Option(
            "--keep-vectors", help="They were made by the configured embedding model: do not make them anew."
        ),
    ] = False,
    work: Annotated[
        Path | None,
        typer.Option(help="Folder for what is read; the settings' folder.", show_default=False),
    ] = None,
) -> None:
    """Import groups of Graphiti: episodes, entities, facts with their times, communities. No chat model is asked.

    The source is only read. Interrupted, it goes on where it was when run again. At the end a report says what was
    decided and what could not be carried over.
    """
    settings = settings_or_exit()
    with clear_errors():
        embedder = models.build_embedder(settings, SilentObserver())
    folder = work or settings.stack_root
    asked = (uri, database, sorted(group or []), vectors, embedder.model, embedder.dimension, str(graph))
    key = hashlib.sha256(repr(asked).encode()).hexdigest()[:12]
    file, reports = folder / f"graphiti-{key}.jsonl", folder / f"graphiti-{key}.report.jsonl"
    with clear_errors():
        folder.mkdir(parents=True, exist_ok=True)
    if not file.exists():
        if not file.with_name(file.name + ".part").exists():
            reports.unlink(missing_ok=True)
        source = Neo4jConnection(uri, user, password, database, SilentObserver())
        run(lambda: _convert(source, settings, graph, group, file, reports, vectors, embedder.dimension))
    with clear_errors():
        archive = Archive(file)
    take_in(settings, archive, file, graph, anew=False)
    for line in Report.read(reports).lines():
        typer.echo(line)
    file.unlink()
    typer.echo(f"report: {reports}")


async def _convert(
    source: Neo4jConnection,
    settings: Settings,
    graph: Path | None,
    wanted: list[str] | None,
    file: Path,
    reports: Path,
    vectors: bool,
    dimension: int,
) -> None:
    await source.open()
    try:
        found = await groups_of(source)
        renamed = dict(_pair(one) for one in wanted or [])
        groups = found if wanted is None else list(renamed)
        if missing := sorted(set(groups) - set(found)):
            raise typer.BadParameter(
                f"Graphiti has no group {missing[0]!r} there; it has {', '.join(map(repr, found)) or 'none'}",
                param_hint="--group",
            )
        names = names_of(groups, renamed)
        await _check_free(settings, graph, dimension, sorted(names.values()))
        total = sum([await rows_of(source, one) for one in groups])
        with progress() as bar:
            task = bar.add_task("reading", total=total)
            converting = Converting(source, dimension, vectors=vectors, at=system_clock())
            await converting.run(names, file, reports, lambda: bar.advance(task))
    finally:
        await source.close()


async def _check_free(settings: Settings, graph: Path | None, dimension: int, groups: list[str]) -> None:
    """SettingError when the target holds anything of a group already, before anything is read."""
    target: ArchiveTarget
    if graph is None:
        target = Neo4jArchiveTarget(neo4j_of(settings), dimension)
    else:
        target = SqliteArchiveTarget(graph, dimension)
    await target.open()
    try:
        if occupied := await target.occupied(groups):
            raise SettingError(
                f"group {occupied[0]!r} is there already: give it another name, --group OLD=NEW, or another graph"
            )
    finally:
        await target.close()


def _pair(told: str) -> tuple[str, str]:
    old, _, new = told.partition("=")
    return old, new
