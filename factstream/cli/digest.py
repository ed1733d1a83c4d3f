"""`factstream digest`: one number for what the graph says of a group."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from factstream.cli.common import run, settings_or_exit
from pipeline.graph.digest import GroupDump, summary
from pipeline.graph.digest import digest as digest_of
from pipeline.graph.neo4j.connection import Neo4jConnection
from pipeline.graph.neo4j.dump import Neo4jDump
from pipeline.observer import SilentObserver


def digest(
    group: Annotated[str, typer.Option("--group", "-g", help="Group to sum up.")],
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
        password = settings.neo4j_password.get_secret_value() if settings.neo4j_password else None
        connection = Neo4jConnection(
            settings.neo4j_uri, settings.neo4j_user, password, settings.neo4j_database, SilentObserver()
        )
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
