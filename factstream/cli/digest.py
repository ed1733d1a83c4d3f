"""`factstream digest`: one number for what the graph says of a group."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from factstream.cli.common import run, settings_or_exit
from factstream.cli.graphs import Graph, neo4j_of
from pipeline.graph.digest import GroupDump, summary
from pipeline.graph.digest import digest as digest_of
from pipeline.graph.neo4j.dump import Neo4jDump
from pipeline.graph.sqlite.dump import SqliteDump


def digest(
    group: Annotated[str, typer.Option("--group", "-g", help="Group to sum up.")],
    graph: Graph = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print what the digest is made of instead.")
    ] = False,
) -> None:
    """Print the digest of a group: equal for two graphs that say the same, whatever their ids and system times.

    Compare before and after a replay or a restore, when no episode is under way. With --json, two graphs that
    differ can be compared line by line.
    """
    settings = settings_or_exit()

    async def main() -> GroupDump:
        if graph is not None:
            return await SqliteDump(graph).dump(group)
        connection = neo4j_of(settings)
        await connection.open()
        try:
            return await Neo4jDump(connection).dump(group)
        finally:
            await connection.close()

    found = run(main)
    if as_json:
        typer.echo(json.dumps(summary(found), sort_keys=True, ensure_ascii=False, indent=2))
    else:
        typer.echo(digest_of(found))
