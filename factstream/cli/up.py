"""`factstream up`: everything on this machine in one supervised foreground command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from factstream.cli.common import clear_errors, settings_or_exit
from factstream.cli.embedded import serve_embedded
from factstream.supervisor import Supervisor


def up(
    root: Annotated[
        Path | None, typer.Option(help="Folder of data, logs and pid files.", show_default=False)
    ] = None,
    gateway_port: Annotated[
        int | None, typer.Option(help="Port of the gateway; 0 for any.", show_default=False)
    ] = None,
    search_port: Annotated[
        int | None, typer.Option(help="Port of the search service; 0 for any.", show_default=False)
    ] = None,
    kafka_port: Annotated[
        int | None, typer.Option(help="Port of Kafka; 0 for any.", show_default=False)
    ] = None,
    bolt_port: Annotated[
        int | None, typer.Option(help="Port of Neo4j; 0 for any.", show_default=False)
    ] = None,
    embedded: Annotated[
        bool,
        typer.Option("--embedded", help="Everything in this process on one SQLite file: no Kafka, no Neo4j."),
    ] = False,
    file: Annotated[
        Path | None,
        typer.Option(help="With --embedded: the graph file; graph.db in the folder.", show_default=False),
    ] = None,
) -> None:
    """Run Kafka, Neo4j, a worker, the gateway and the search service until Ctrl-C or SIGTERM.

    Prints `ready gateway=URL search=URL` once all of them answer. Stops what it started, and only that. A process
    that ends by itself is started again; one that keeps ending stops everything with its last log lines.
    """
    settings = settings_or_exit(stack_root=root, gateway_port=gateway_port, search_port=search_port)
    if embedded:
        serve_embedded(settings, file)
        return
    if file is not None:
        raise typer.BadParameter("only goes with --embedded", param_hint="--file")
    with clear_errors():
        supervisor = Supervisor(settings, kafka_port=kafka_port, bolt_port=bolt_port, report=_note)
        code = supervisor.run(
            on_ready=lambda urls: typer.echo(f"ready gateway={urls.gateway} search={urls.search}")
        )
    raise typer.Exit(code)


def _note(line: str) -> None:
    typer.echo(line, err=True)
