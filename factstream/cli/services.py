"""`factstream worker`, `gateway` and `serve`: one process each."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer
import uvicorn

from factstream import compose, models
from factstream.cli.common import clear_errors, run, settings_or_exit, until_stopped
from factstream.cli.stop_limit import StopLimit
from pipeline.clock import system_clock
from pipeline.errors import Retryable
from search_api.app import create_app
from search_api.metrics import SearchMetrics
from search_api.observer import MetricsObserver
from streams.broker import admin_client, require_topics, wait_for_broker
from streams.canary.looking import Looking
from streams.errors import StartError
from streams.gateway.app import GatewaySettings, create_gateway
from streams.producer import Producer
from streams.prometheus_observer import PrometheusObserver
from streams.topic_setup import ensure_topics
from streams.topics import ALL_TOPICS
from streams.worker import Worker, WorkerSettings

CLOSE_WITHIN = 30.0
"""Seconds that a worker gets after its grace time, to leave its consumer group and close its connections."""

Port = Annotated[int | None, typer.Option(help="Port to serve on.", show_default=False)]


def worker(port: Port = None) -> None:
    """Run the four agents: extract, resolve entities, resolve facts, update communities.

    Waits for Kafka and Neo4j, creates topics and indexes that are missing. SIGTERM lets running work finish.
    """
    settings = settings_or_exit(worker_port=port)

    async def main() -> None:
        observer = PrometheusObserver(top_groups=settings.metric_groups)
        embedder = models.build_embedder(settings, observer)
        store = compose.build_store(settings, embedder, observer)
        stages = compose.build_stages(settings, store, embedder, observer)
        await wait_for_broker(settings.kafka_bootstrap)
        await ensure_topics(
            settings.kafka_bootstrap,
            settings.topic_prefix,
            partitions=settings.partitions,
            replication=settings.replication,
            insync=settings.min_insync_replicas,
        )
        await models.check_models(embedder)
        reader = compose.build_reader(settings, observer, warm=False)
        await _open(store.open)
        await _open(reader.open)
        try:
            made = Worker(
                WorkerSettings(
                    compose.delivery(settings),
                    compose.policy(settings),
                    settings.host,
                    settings.worker_port,
                    compose.build_ontologies(settings).names,
                    compose.health_limits(settings),
                    compose.canary(settings),
                    compose.halt(settings),
                ),
                stages,
                store,
                observer,
                system_clock,
                models.model_probes(),
                Looking(reader, store, settings.topic_prefix),
            )
            await until_stopped(made.run, StopLimit(settings.grace + CLOSE_WITHIN))
        finally:
            await reader.close()
            await store.close()

    run(main)


def gateway(port: Port = None) -> None:
    """Run the HTTP door for producers: POST /v1/episodes answers 202 once Kafka has the episodes."""
    settings = settings_or_exit(gateway_port=port)

    async def prepare() -> None:
        await wait_for_broker(settings.kafka_bootstrap)
        await ensure_topics(
            settings.kafka_bootstrap,
            settings.topic_prefix,
            partitions=settings.partitions,
            replication=settings.replication,
            insync=settings.min_insync_replicas,
        )

    run(prepare)
    observer = PrometheusObserver()
    producer = Producer(settings.kafka_bootstrap, observer=observer)
    names = [topic.named(settings.topic_prefix) for topic in ALL_TOPICS]

    async def ready() -> None:
        try:
            async with admin_client(settings.kafka_bootstrap):
                pass
            await require_topics(settings.kafka_bootstrap, names)
        except StartError as error:
            raise Retryable(str(error)) from error

    with clear_errors():
        app = create_gateway(
            GatewaySettings(
                topic_prefix=settings.topic_prefix,
                max_waiting=settings.gateway_requests,
                max_waiting_bytes=settings.gateway_bytes,
                host=settings.host,
                api_keys=settings.api_keys,
                api_keys_file=settings.api_keys_file,
                ontologies=compose.build_ontologies(settings).names,
            ),
            producer,
            ready=ready,
            observer=observer,
            on_stop=producer.stop,
        )
    uvicorn.run(app, host=settings.host, port=settings.gateway_port, log_level="warning", access_log=False)


def serve(port: Port = None) -> None:
    """Run the search service: read only, OpenAPI at /openapi.json."""
    settings = settings_or_exit(search_port=port)
    with clear_errors():
        metrics = SearchMetrics()
        observer = MetricsObserver(metrics)
        app = create_app(
            compose.api_settings(settings),
            compose.build_reader(settings, observer),
            models.build_embedder(settings, observer),
            metrics=metrics,
        )
    uvicorn.run(app, host=settings.host, port=settings.search_port, log_level="warning", access_log=False)


async def _open(opening: object) -> None:
    """Opens a store, waiting for its database as long as it takes."""
    pause = 0.5
    while True:
        try:
            await opening()  # type: ignore[operator]
            return
        except Retryable as error:
            typer.echo(f"waiting for the graph: {error}", err=True)
            await asyncio.sleep(pause)
            pause = min(15.0, pause * 2)
