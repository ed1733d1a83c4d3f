"""`factstream import FILE` and `factstream import graphiti`."""

from __future__ import annotations

import typer
from typer.core import TyperGroup

from factstream.cli import import_graphiti, transfer

FILE = "file"


class _FileByDefault(TyperGroup):
    """What is neither a subcommand nor an option is a file."""

    def parse_args(self, ctx, args):  # type: ignore[no-untyped-def]
        """As of click, with `file` put before what names no subcommand."""
        if args and args[0] not in self.commands and args[0] != "--help":
            args = [FILE, *args]
        return super().parse_args(ctx, args)


import_app = typer.Typer(
    name="import",
    cls=_FileByDefault,
    no_args_is_help=True,
    help="Take in an archive, a file of events (FILE), or a graph that Graphiti wrote.",
)
import_app.command(FILE)(transfer.import_)
import_app.command("graphiti")(import_graphiti.graphiti)
