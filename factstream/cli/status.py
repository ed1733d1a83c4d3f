"""`factstream status`: is everything up, and how far behind is it."""

from __future__ import annotations

import json
from typing import Annotated, Any

import httpx
import typer
from rich.console import Console
from rich.table import Table

from factstream.cli.common import run, settings_or_exit
from factstream.lag import Backlog, backlog

NOT_READY = 3


def status(as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False) -> None:
    """Show whether gateway, search service and worker are ready, and the backlog of each stage.

    Exit code 3 when something is not ready.
    """
    settings = settings_or_exit()
    pages = {
        "gateway": settings.gateway_port,
        "search": settings.search_port,
        "worker": settings.worker_port,
    }
    services = {name: _ready(f"http://{settings.host}:{port}") for name, port in pages.items()}
    behind: Backlog = run(
        lambda: backlog(settings.kafka_bootstrap, settings.topic_prefix, settings.consumer_group)
    )
    if as_json:
        told: dict[str, Any] = {
            "services": services,
            "backlog": behind.topics,
            "dead_letters": behind.dead_letters,
        }
        typer.echo(json.dumps(told, indent=2))
    else:
        _show(services, behind)
    if any(state != "ready" for state in services.values()) or behind.unreachable:
        raise typer.Exit(NOT_READY)


def _ready(url: str) -> str:
    try:
        answer = httpx.get(f"{url}/readyz", timeout=6, trust_env=False)
    except httpx.HTTPError:
        return "does not answer"
    if answer.status_code == 200:
        return "ready"
    try:
        return f"not ready: {_reason(answer.json())}"
    except ValueError:
        return f"not ready: status {answer.status_code}"


def _reason(body: dict[str, Any]) -> str:
    reasons = [
        f"{one['stage']}: {one['detail']}" if "stage" in one else str(one["detail"])
        for one in body.get("reasons", ())
    ]
    return "; ".join(reasons) or str(body.get("detail"))


def _show(services: dict[str, str], behind: Backlog) -> None:
    console = Console()
    table = Table("service", "state", box=None, pad_edge=False)
    for name, state in services.items():
        table.add_row(name, f"[green]{state}[/]" if state == "ready" else f"[red]{state}[/]")
    console.print(table)
    if behind.unreachable:
        console.print(f"\n[red]Kafka: {behind.unreachable}[/]")
        return
    console.print()
    table = Table("topic", "waiting", box=None, pad_edge=False)
    for topic, events in behind.topics.items():
        table.add_row(topic, str(events))
    console.print(table)
    console.print(f"\ndead letters: {behind.dead_letters}")
