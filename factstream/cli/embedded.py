"""`factstream up --embedded`: gateway, stages and search service in this process, on one file."""

from __future__ import annotations

from pathlib import Path

import typer

from factstream.cli.common import run, until_stopped
from factstream.embedded import EmbeddedServer, EmbeddedUrls
from factstream.settings import Settings


def serve_embedded(settings: Settings, file: Path | None) -> None:
    """Prints `ready gateway=URL search=URL` once both answer; stops on SIGTERM and Ctrl-C."""
    path = graph_file(settings, file)
    server = EmbeddedServer(settings, path)
    typer.echo(f"graph file {path}", err=True)

    def ready(urls: EmbeddedUrls) -> None:
        typer.echo(f"ready gateway={urls.gateway} search={urls.search}")

    run(lambda: until_stopped(lambda stop: server.run(stop, ready)))


def graph_file(settings: Settings, file: Path | None) -> Path:
    """The file that was named, else graph.db in the folder of the settings, which is made."""
    if file is not None:
        return file
    settings.stack_root.mkdir(parents=True, exist_ok=True)
    return settings.stack_root / "graph.db"
