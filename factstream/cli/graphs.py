"""What the commands that move graphs share: which graph is meant, and how far a command is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from factstream import compose
from factstream.settings import Settings
from pipeline.graph.archive import ArchiveSource
from pipeline.graph.neo4j.archive import Neo4jArchiveSource
from pipeline.graph.neo4j.connection import Neo4jConnection
from pipeline.graph.sqlite.archive import SqliteArchiveSource
from pipeline.observer import SilentObserver

Graph = Annotated[
    Path | None,
    typer.Option(
        "--graph", help="SQLite graph file; Neo4j of the settings when left out.", show_default=False
    ),
]


def neo4j_of(settings: Settings) -> Neo4jConnection:
    """A connection to the Neo4j that the settings name, not open yet."""
    return compose.build_connection(settings, SilentObserver())


def source_of(settings: Settings, graph: Path | None) -> ArchiveSource:
    """The graph to read, not open yet."""
    return Neo4jArchiveSource(neo4j_of(settings)) if graph is None else SqliteArchiveSource(graph)


def progress() -> Progress:
    """A progress bar on standard error."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)
