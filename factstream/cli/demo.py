"""`factstream demo`: the whole of it, from an empty folder to an answer."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from factstream.cli.common import clear_errors, settings_or_exit
from factstream.cli.demo_embedded import demo_embedded
from factstream.demo.services import Services
from factstream.demo.tour import Tour
from factstream.supervisor import Supervisor, Urls


def demo(
    keep: Annotated[
        bool, typer.Option("--keep", help="Leave everything running afterwards, until Ctrl-C.")
    ] = False,
    root: Annotated[
        Path | None, typer.Option(help="Folder of data, logs and pid files.", show_default=False)
    ] = None,
    embedded: Annotated[
        bool,
        typer.Option("--embedded", help="In this process on one SQLite file: no Kafka, no Neo4j, no Java."),
    ] = False,
) -> None:
    """Start Kafka, Neo4j and all services, publish a support chat and a CRM history, and show what is known then."""
    settings = settings_or_exit(stack_root=root, log_level="warning")
    console = Console()
    group = f"demo-{secrets.token_hex(3)}"
    if embedded:
        demo_embedded(settings, group, console, keep=keep)
        return
    with clear_errors():
        supervisor = Supervisor(
            settings, report=lambda line: console.print(f"[dim]{line}[/]", highlight=False)
        )

        def tour(urls: Urls) -> None:
            services = Services(urls.gateway, urls.search, group)
            try:
                Tour(services, group, console).run()
            finally:
                services.close()
            _say_more(console, urls, group, keep)
            if keep:
                supervisor.keep()

        code = supervisor.run(on_ready=lambda urls: console.print(f"ready: {urls.search}"), until=tour)
    raise typer.Exit(code)


def _say_more(console: Console, urls: Urls, group: str, keep: bool) -> None:
    if not keep:
        console.print("\nStopping. `make demo-stack KEEP=1` leaves it running, so that you can look further.")
        return
    console.print(f"\nStill running, until Ctrl-C. The group is [bold]{group}[/]. To look further:")
    console.print(
        f"  factstream search 'Where does Diego work?' -g {group} --url {urls.search}", soft_wrap=True
    )
    console.print(
        f"  factstream context 'What about the printer?' -g {group} --url {urls.search}", soft_wrap=True
    )
    console.print(
        f"  {urls.search}/openapi.json describes all reads, {urls.gateway}/docs the gateway", soft_wrap=True
    )
