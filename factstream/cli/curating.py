"""What `forget`, `merges` and `correct` share: an operator over the configured graph, and the way to Kafka."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import typer

from factstream import compose, models
from factstream.cli.common import FAILED, run
from factstream.settings import Settings
from pipeline.clock import system_clock
from pipeline.curation.operator import Curated, Operator
from pipeline.errors import Retryable
from pipeline.observer import SilentObserver
from streams.curation import publish_curation
from streams.producer import Producer


@asynccontextmanager
async def operating(settings: Settings) -> AsyncIterator[Operator]:
    """An operator over the graph that the settings name."""
    observer = SilentObserver()
    embedder = models.build_embedder(settings, observer)
    store = compose.build_store(settings, embedder, observer)
    await store.open()
    try:
        yield Operator(store, embedder, system_clock)
    finally:
        await store.close()


def curate(settings: Settings, group: str, act: Callable[[Operator], Awaitable[Curated]]) -> Curated:
    """Publish what an earlier command could not, act, and publish what has changed."""

    async def main() -> Curated:
        producer = Producer(settings.kafka_bootstrap)
        try:
            async with operating(settings) as operator:
                for earlier in await operator.unsent(group):
                    await _publish(settings, producer, operator, earlier)
                done = await act(operator)
                try:
                    await _publish(settings, producer, operator, done)
                except Retryable as error:
                    raise Retryable(
                        f"the graph is changed, but its changes are not published yet ({error}); "
                        "`factstream forget --unsent`, or the next command on this group, publishes them"
                    ) from error
                return done
        finally:
            await producer.stop()

    return run(main)


def publish_unsent(settings: Settings, group: str) -> int:
    """Publish what earlier commands could not; answers how many there were."""

    async def main() -> int:
        producer = Producer(settings.kafka_bootstrap)
        try:
            async with operating(settings) as operator:
                earlier = await operator.unsent(group)
                for one in earlier:
                    await _publish(settings, producer, operator, one)
                return len(earlier)
        finally:
            await producer.stop()

    return run(main)


def say(done: Curated) -> None:
    """What happened, one line a change."""
    for change in done.changes:
        told = change.fact.fact or change.fact.id
        typer.echo(f"  {change.change.value}: {told}")
    typer.echo(f"{len(done.changes)} changes published")


def stop(message: str) -> typer.Exit:
    """Ends the command with a red line."""
    typer.secho(f"factstream: {message}", err=True, fg=typer.colors.RED)
    return typer.Exit(FAILED)


async def _publish(settings: Settings, producer: Producer, operator: Operator, done: Curated) -> None:
    await publish_curation(
        producer, settings.topic_prefix, done.group_id, done.changes, done.forgotten, done.judged
    )
    await operator.sent(done)
