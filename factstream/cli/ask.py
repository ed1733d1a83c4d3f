"""`factstream search` and `factstream context`: questions to the search service."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from factstream.cli.client import request
from factstream.cli.common import settings_or_exit

Question = Annotated[str, typer.Argument(help="Any text, in any language.")]
Groups = Annotated[
    list[str], typer.Option("--group", "-g", help="Group to search; may be given several times.")
]
Scopes = Annotated[
    list[str] | None,
    typer.Option("--scope", "-s", help="facts, entities, episodes, communities.", show_default=False),
]
Recipe = Annotated[str | None, typer.Option(help="A named configuration; GET /v1/recipes lists them.")]
AsOf = Annotated[str | None, typer.Option(help="True at this time (default now); 'any' for any time.")]
KnownAt = Annotated[str | None, typer.Option(help="As believed at this time (default now).")]
Url = Annotated[str | None, typer.Option(help="Address of the search service.", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="Print the answer as it is.")]


def search(
    query: Question,
    group: Groups,
    scope: Scopes = None,
    recipe: Recipe = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=100, help="Results per scope.")] = 10,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Search facts, entities, episodes and communities: what is true now, was true then, or was believed."""
    body = _body(query, group, scope, recipe, as_of, known_at) | {"limit": limit}
    answer = request("POST", f"{_base(url)}/v1/search", json=body)
    if as_json:
        typer.echo(json.dumps(answer, ensure_ascii=False, indent=2))
    else:
        _show(answer)


def context(
    query: Question,
    group: Groups,
    scope: Scopes = None,
    recipe: Recipe = None,
    max_tokens: Annotated[int, typer.Option(min=1, help="Budget of the text.")] = 2000,
    replaced: Annotated[bool, typer.Option("--replaced", help="With each fact, what it replaced.")] = False,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """The text to put into a prompt for a question."""
    body = _body(query, group, scope, recipe, as_of, known_at) | {"max_tokens": max_tokens}
    if replaced:
        # Only then: a service that does not know the field refuses it.
        body["replaced"] = True
    answer = request("POST", f"{_base(url)}/v1/context", json=body)
    typer.echo(json.dumps(answer, ensure_ascii=False, indent=2) if as_json else answer["context"])


def _base(url: str | None) -> str:
    settings = settings_or_exit()
    return (url or f"http://{settings.host}:{settings.search_port}").rstrip("/")


def _body(
    query: str,
    groups: list[str],
    scopes: list[str] | None,
    recipe: str | None,
    as_of: str | None,
    known_at: str | None,
) -> dict[str, Any]:
    body: dict[str, Any] = {"query": query, "group_ids": groups}
    optional = {"scopes": scopes, "recipe": recipe, "known_at": known_at, "as_of": as_of}
    body |= {name: value for name, value in optional.items() if value}
    if as_of == "any":
        body["as_of"] = None
    return body


def _show(answer: dict[str, Any]) -> None:
    console = Console()
    if answer["facts"]:
        table = Table("fact", "from", "to", "score", box=None, pad_edge=False)
        for fact in answer["facts"]:
            table.add_row(
                fact["fact"], date(fact["valid_at"]), date(fact["invalid_at"]), f"{fact['score']:.4f}"
            )
        console.print(table)
    for entity in answer["entities"]:
        console.print(f"[bold]{entity['name']}[/] ({', '.join(entity['labels'])}) {entity['summary']}")
    for episode in answer["episodes"]:
        console.print(f"[dim]{date(episode['reference_time'])}[/] {episode['id']}: {episode['content']}")
    for community in answer["communities"]:
        console.print(f"[bold]{community['name']}[/]: {community['summary']}")
    if not any(answer[scope] for scope in ("facts", "entities", "episodes", "communities")):
        console.print("nothing found")
    for reason in answer.get("degraded", []):
        console.print(f"[yellow]degraded:[/] {reason}")


def date(moment: str | None) -> str:
    """The day of an ISO time; "–" when there is none."""
    return moment[:10] if moment else "–"
