"""`factstream merges`: which entities became one, by whom, and how to part them."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from factstream.cli.common import run, settings_or_exit
from factstream.cli.curating import curate, operating, say
from pipeline.graph.ledger import Ledger
from pipeline.model.moments import iso

merges_app = typer.Typer(
    name="merges", no_args_is_help=True, help="Look at merges of entities and undo them."
)
Group = Annotated[str, typer.Option("--group", "-g", help="Group to work in.")]


@merges_app.command("list")
def list_(
    group: Group,
    entity: Annotated[
        str | None, typer.Option(help="Only merges into this entity (id).", show_default=False)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """List merges, oldest first: which name was taken for which entity, by whom and why."""
    settings = settings_or_exit()

    async def main() -> Ledger:
        async with operating(settings) as operator:
            return await operator.store.ledger(group)

    ledger = run(main)
    found = sorted(ledger.merges.values(), key=lambda m: (m.at, m.id))
    found = [m for m in found if entity is None or m.into == entity]
    if as_json:
        for merge in found:
            typer.echo(json.dumps(merge.model_dump(mode="json"), ensure_ascii=False))
        return
    if not found:
        typer.echo("no merges")
        return
    table = Table("id", "name", "into", "by", "at", "mentions", "reason", box=None, pad_edge=False)
    for merge in found:
        stays = ledger.entities.get(merge.into)
        reason = f"undone {iso(merge.undone_at)[:10]}" if merge.undone_at else merge.reason
        table.add_row(
            merge.id,
            merge.name,
            stays.name if stays else merge.into,
            merge.by.value,
            iso(merge.at)[:19],
            str(len(merge.mentions)),
            reason or "–",
        )
    Console().print(table)


@merges_app.command()
def undo(merge_id: Annotated[str, typer.Argument(help="Id from `merges list`.")], group: Group) -> None:
    """Part two entities again. Mentions that came since by a name of the merge go with it."""
    done = curate(settings_or_exit(), group, lambda operator: operator.undo_merge(group, merge_id))
    say(done)
    if done.merge is not None:
        typer.echo(f"entity {done.merge.apart} stands apart from {done.merge.into}")
