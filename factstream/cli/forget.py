"""`factstream forget` and `scrub-check`: take back what was said, and prove that no word of it is left."""

from __future__ import annotations

from typing import Annotated

import typer

from factstream.cli.common import FAILED, run, settings_or_exit
from factstream.cli.curating import curate, operating, publish_unsent, say, stop
from pipeline.curation.forgetting import episodes_about
from pipeline.curation.operator import Curated, Operator
from pipeline.graph.ledger import Trace

Group = Annotated[str, typer.Option("--group", "-g", help="Group to work in.")]


def forget(
    group: Group,
    episode: Annotated[
        list[str] | None, typer.Option(help="Episode to take back; may be given again.", show_default=False)
    ] = None,
    entity: Annotated[
        str | None,
        typer.Option(
            help="Take back every episode that tells of this entity (id or name).", show_default=False
        ),
    ] = None,
    group_all: Annotated[bool, typer.Option("--group-all", help="Remove everything of the group.")] = False,
    unsent: Annotated[
        bool, typer.Option("--unsent", help="Only publish what an earlier command could not.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Take episodes back for good, as if they had never come.

    Their text, what was read out of it, and everything that rested on it alone go; facts that they had closed are open
    again; the changes go to `facts.changes`. A replay does not bring the episodes back. The topic `episodes` itself is
    not touched: docs/curation.md says how to clear it.
    """
    if sum([bool(episode), entity is not None, group_all, unsent]) != 1:
        raise stop("give one of --episode, --entity, --group-all, --unsent")
    settings = settings_or_exit()
    if unsent:
        typer.echo(f"{publish_unsent(settings, group)} notices published")
        return

    async def count() -> int:
        async with operating(settings) as operator:
            ledger = await operator.store.ledger(group)
            if entity is None:
                return len(ledger.episodes)
            return len(episodes_about(ledger, entity)[1])

    async def act(operator: Operator) -> Curated:
        if entity is not None:
            return await operator.forget_entity(group, entity)
        if group_all:
            return await operator.forget_group(group)
        return await operator.forget_episodes(group, episode or [])

    if not yes:
        number = len(episode) if episode else run(count)
        typer.confirm(f"Forget {number} episodes of group {group} for good?", abort=True)
    done = curate(settings, group, act)
    say(done)
    typer.echo(f"{len(done.forgotten)} episodes forgotten")


def scrub_check(
    text: Annotated[str, typer.Argument(help="What must not be found, such as a name.")], group: Group
) -> None:
    """Search every property of every node and relationship of a group for a text, whatever its case.

    Ends with code 1 when it is found, and says where. A group that was forgotten still has the ids of its episodes.
    """
    settings = settings_or_exit()
    if not text.strip():
        raise stop("the text is empty")

    async def main() -> tuple[Trace, ...]:
        async with operating(settings) as operator:
            return await operator.store.traces(group, text)

    found = run(main)
    for trace in found:
        typer.echo(f"{trace.kind} {trace.id}: {trace.field}")
    if found:
        raise typer.Exit(FAILED)
    typer.echo("not found")
