"""`factstream communities`: rebuild the communities of a group."""

from __future__ import annotations

from typing import Annotated

import typer

from factstream import compose
from factstream.cli.common import run, settings_or_exit
from pipeline.clock import system_clock
from pipeline.errors import Fenced
from pipeline.observer import SilentObserver
from pipeline.stages.update_communities import UpdateCommunitiesStage

communities_app = typer.Typer(name="communities", no_args_is_help=True, help="Work with communities.")
TRIES = 20


@communities_app.callback()
def _communities() -> None:
    """Work with communities."""


@communities_app.command()
def rebuild(group: Annotated[str, typer.Option("--group", "-g", help="Group to rebuild.")]) -> None:
    """Propagate labels over the whole group until they settle, and swap the result in at once.

    Reads go on meanwhile. May run while episodes arrive: it starts again when one was committed under it.
    """
    settings = settings_or_exit()

    async def main() -> int:
        observer = SilentObserver()
        embedder = compose.build_embedder(settings, observer)
        store = compose.build_store(settings, embedder, observer)
        await store.open()
        try:
            stage = UpdateCommunitiesStage(store, embedder, system_clock, observer)
            for attempt in range(TRIES):
                try:
                    return await stage.rebuild(group)
                except Fenced:
                    typer.echo(f"an episode was committed meanwhile; again ({attempt + 1})", err=True)
            return await stage.rebuild(group)
        finally:
            await store.close()

    typer.echo(f"{run(main)} communities in group {group}")
