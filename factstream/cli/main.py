"""The command line."""

from __future__ import annotations

import typer

from factstream.cli import (
    ask,
    communities,
    dead,
    demo,
    digest,
    forget,
    mcp,
    publish,
    rebuild,
    services,
    status,
    transfer,
    up,
)
from factstream.cli.correct import correct_app
from factstream.cli.import_app import import_app
from factstream.cli.merges import merges_app
from factstream.cli.stack import stack_app

app = typer.Typer(
    name="factstream",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Memory for agents as a streaming system: episodes in through Kafka, a graph of facts in two timelines out.",
)
app.command()(up.up)
app.command()(demo.demo)
app.command()(services.worker)
app.command()(services.gateway)
app.command()(services.serve)
app.command()(publish.publish)
app.command()(ask.search)
app.command()(ask.context)
app.command()(mcp.mcp)
app.command()(status.status)
app.command()(digest.digest)
app.command()(transfer.export)
app.command()(forget.forget)
app.command()(rebuild.rebuild)
app.command("scrub-check")(forget.scrub_check)
app.add_typer(import_app)
app.add_typer(merges_app)
app.add_typer(correct_app)
app.add_typer(stack_app)
app.add_typer(dead.dead_app)
app.add_typer(communities.communities_app)


def main() -> None:
    """Entry point of the `factstream` command."""
    app()
