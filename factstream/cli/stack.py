"""`factstream stack`: the local Kafka and Neo4j."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from factstream.stack.errors import StackError
from factstream.stack.local_stack import LocalStack
from factstream.stack.memory import StackMemory
from factstream.stack.status import StackStatus

stack_app = typer.Typer(
    name="stack",
    no_args_is_help=True,
    help="Run Kafka and Neo4j on this machine, on loopback only. Needs no Java and no Docker.",
)

NOT_RUNNING = 3

Root = Annotated[
    Path,
    typer.Option(help="Folder for data, logs and pid files; delete it to be rid of the stack."),
]
DEFAULT_ROOT = Path(".factstream")


@contextmanager
def _errors() -> Iterator[None]:
    try:
        yield
    except StackError as error:
        typer.secho(str(error), err=True, fg=typer.colors.RED)
        raise typer.Exit(1) from error


def _note(line: str) -> None:
    typer.echo(line, err=True)


@stack_app.command()
def up(
    root: Root = DEFAULT_ROOT,
    kafka_port: Annotated[
        int | None, typer.Option(help="Default 19092, or a free one if taken; 0 for any.", show_default=False)
    ] = None,
    bolt_port: Annotated[
        int | None, typer.Option(help="Default 17687, or a free one if taken; 0 for any.", show_default=False)
    ] = None,
    memory: Annotated[
        str | None, typer.Option(help="Heap of Neo4j, such as 768m or 2g (default 1g).", show_default=False)
    ] = None,
) -> None:
    """Start what does not run yet and wait until it answers. The first time downloads about 215 MiB.

    Running it again is harmless. Exit code 1: something could not be started, and the message says why.
    """
    with _errors():
        stack = LocalStack(
            root,
            kafka_port=kafka_port,
            bolt_port=bolt_port,
            memory=None if memory is None else StackMemory.parse(memory),
            report=_note,
            console=Console(stderr=True),
        )
        _show(stack.up())


@stack_app.command()
def down(root: Root = DEFAULT_ROOT) -> None:
    """Stop the servers that `up` started in this folder. The data stays."""
    with _errors():
        LocalStack(root, report=_note).down()


@stack_app.command()
def status(
    root: Root = DEFAULT_ROOT,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show addresses, processes and memory. Exit code 3 when a server does not run or does not answer."""
    with _errors():
        found = LocalStack(root).status()
    if as_json:
        typer.echo(found.model_dump_json(indent=2))
    else:
        _show(found)
    if not found.ready:
        raise typer.Exit(NOT_RUNNING)


@stack_app.command()
def logs(
    server: Annotated[str, typer.Argument(help="neo4j, kafka, or one node such as kafka-1.")],
    lines: Annotated[int, typer.Option("--lines", "-n", min=1, help="How many lines.")] = 50,
    root: Root = DEFAULT_ROOT,
) -> None:
    """Print the end of a server's log."""
    with _errors():
        for line in LocalStack(root).logs(server, lines):
            typer.echo(line)


def _show(found: StackStatus) -> None:
    if not found.servers:
        typer.echo(f"nothing was started in {found.data} yet")
        return
    table = Table(box=None, pad_edge=False)
    for column in ("server", "state", "port", "pid", "MiB"):
        table.add_column(column)
    for server in found.servers:
        state = "ready" if server.ready else "not answering" if server.running else "stopped"
        pid, rss = ("-" if value is None else str(value) for value in (server.pid, server.rss_mib))
        table.add_row(server.name, state, str(server.port), pid, rss)
    console = Console()
    console.print(table)
    console.print(
        f"\nKafka  {found.kafka_bootstrap}\nNeo4j  {found.bolt_uri}\nData   {found.data}", soft_wrap=True
    )
