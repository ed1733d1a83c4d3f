"""`factstream communities`: rebuild the communities of a group."""

from __future__ import annotations

from typing import Annotated

import typer

from factstream import compose, models
from factstream.cli.common import run, settings_or_exit
from factstream.settings import Settings
from pipeline.clock import system_clock
from pipeline.cost.gate import BudgetGate
from pipeline.embedding.port import Embedder
from pipeline.errors import Fenced
from pipeline.graph.port import GraphStore
from pipeline.observer import Observer, SilentObserver
from pipeline.stages.community_summaries import CommunitySummaries
from pipeline.stages.update_communities import UpdateCommunitiesStage

communities_app = typer.Typer(name="communities", no_args_is_help=True, help="Work with communities.")
TRIES = 20


@communities_app.callback()
def _communities() -> None:
    """Work with communities."""


@communities_app.command()
def rebuild(group: Annotated[str, typer.Option("--group", "-g", help="Group to rebuild.")]) -> None:
    """Propagate labels over the whole group until they settle, and swap the result in at once.

    Reads go on meanwhile. Where a chat model is configured it then sums up the large ones, within the group's budget. May run while episodes arrive: it starts again when one was committed under it.
    """
    settings = settings_or_exit()

    async def main() -> int:
        observer = SilentObserver()
        embedder = models.build_embedder(settings, observer)
        store = compose.build_store(settings, embedder, observer)
        await store.open()
        try:
            summaries = _summaries(settings, store, embedder, observer)
            stage = UpdateCommunitiesStage(store, embedder, system_clock, observer, summaries)
            for attempt in range(TRIES):
                try:
                    return await _rebuilt(stage, group)
                except Fenced:
                    typer.echo(f"an episode was committed meanwhile; again ({attempt + 1})", err=True)
            return await _rebuilt(stage, group)
        finally:
            await store.close()

    typer.echo(f"{run(main)} communities in group {group}")


def _summaries(
    settings: Settings, store: GraphStore, embedder: Embedder, observer: Observer
) -> CommunitySummaries | None:
    """As a worker's, but at once: whoever rebuilds does not wait for a group to be quiet."""
    chat = models.build_chat(settings, observer)
    budgets = models.build_budgets(settings)
    gate = BudgetGate(store, budgets, system_clock, observer) if budgets else None
    made = compose.build_summaries(settings, store, embedder, observer, chat=chat, gate=gate)
    return made.at_once() if made else None


async def _rebuilt(stage: UpdateCommunitiesStage, group: str) -> int:
    made = await stage.rebuild(group)
    if stage.summaries is not None:
        await stage.summaries.settled()
    return made
