"""Puts the parts together as the settings say. With `models`, the only place that knows all of them."""

from __future__ import annotations

from factstream.models import build_budgets, build_chat
from factstream.settings import Settings
from pipeline.clock import Clock, system_clock
from pipeline.cost.gate import BudgetedExtractor, BudgetGate
from pipeline.embedding.port import Embedder
from pipeline.errors import SettingError
from pipeline.extraction.model.extractor import ModelExtractor
from pipeline.extraction.port import Extractor
from pipeline.extraction.router import RoutingExtractor
from pipeline.extraction.triples import TriplesExtractor
from pipeline.graph.neo4j.connection import Neo4jConnection
from pipeline.graph.neo4j.reader import Neo4jGraphReader
from pipeline.graph.neo4j.store import Neo4jGraphStore
from pipeline.graph.port import GraphStore
from pipeline.llm.community_teller import ModelCommunityTeller
from pipeline.llm.entity_judge import ModelEntityJudge
from pipeline.llm.fact_judge import ModelFactJudge
from pipeline.llm.port import ChatModel
from pipeline.observer import Observer
from pipeline.ontology.registry import OntologyRegistry
from pipeline.ontology.rules import rules_of
from pipeline.ontology.yaml_file import load_ontologies
from pipeline.stages.community_summaries import CommunitySummaries
from pipeline.stages.extract import ExtractStage
from pipeline.stages.resolve_entities import ResolveEntitiesStage
from pipeline.stages.resolve_facts import ResolveFactsStage
from pipeline.stages.stating import Vocabulary
from pipeline.stages.update_communities import UpdateCommunitiesStage
from search_api.settings import ApiSettings
from streams.canary.canary import CanarySettings
from streams.delivery_settings import DeliverySettings
from streams.halt_policy import HaltPolicy
from streams.health.limits import HealthLimits
from streams.lane_policy import LanePolicy
from streams.worker import Stages


def build_ontologies(settings: Settings) -> OntologyRegistry:
    """The configured ontologies; none without a file. Raises SettingError that names the place in the file."""
    if settings.ontologies is None:
        if settings.ontology is not None:
            raise SettingError("FACTSTREAM_ONTOLOGY names an ontology, but FACTSTREAM_ONTOLOGIES is not set")
        return OntologyRegistry()
    return load_ontologies(settings.ontologies, default=settings.ontology)


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


def build_connection(settings: Settings, observer: Observer) -> Neo4jConnection:
    """A connection to the Neo4j that the settings name, not open yet."""
    return Neo4jConnection(
        settings.neo4j_uri,
        settings.neo4j_user,
        settings.neo4j_password.get_secret_value() if settings.neo4j_password else None,
        settings.neo4j_database,
        observer,
    )


def build_reader(settings: Settings, observer: Observer, *, warm: bool = True) -> Neo4jGraphReader:
    """The read side of the graph, for the search service and, without warming, for the canary."""
    return Neo4jGraphReader(build_connection(settings, observer), timeout=settings.request_seconds, warm=warm)


def api_settings(settings: Settings) -> ApiSettings:
    """How the search service answers."""
    return ApiSettings(
        host=settings.host,
        api_keys=settings.api_keys,
        api_keys_file=settings.api_keys_file,
        request_seconds=settings.request_seconds,
    )


def build_extractor(
    settings: Settings, chat: ChatModel | None, observer: Observer, gate: BudgetGate | None = None
) -> Extractor:
    """Triples need nothing; text is read by whoever the settings name, while the budget lasts."""
    ontologies = build_ontologies(settings)
    triples = TriplesExtractor(ontologies)
    if chat is not None:
        reflexion = settings.max_reflexion_iterations
        reader: Extractor = ModelExtractor(chat, observer, reflexion=reflexion, ontologies=ontologies)
        return RoutingExtractor(BudgetedExtractor(reader, gate) if gate else reader, triples)
    from pipeline.extraction.local.extractor import LocalExtractor

    return RoutingExtractor(LocalExtractor(), triples)


def build_summaries(
    settings: Settings,
    store: GraphStore,
    embedder: Embedder,
    observer: Observer,
    clock: Clock = system_clock,
    *,
    chat: ChatModel | None,
    gate: BudgetGate | None = None,
) -> CommunitySummaries | None:
    """Who sums up communities; None without a model, or where the settings want none."""
    if chat is None or not settings.community_settle:
        return None
    teller = ModelCommunityTeller(chat, observer)
    return CommunitySummaries(
        store, teller, embedder, clock, observer, settle=settings.community_settle, gate=gate
    )


def build_stages(
    settings: Settings,
    store: GraphStore,
    embedder: Embedder,
    observer: Observer,
    clock: Clock = system_clock,
) -> Stages:
    """The four stages over one store."""
    budgets = build_budgets(settings)
    gate = BudgetGate(store, budgets, clock, observer) if budgets else None
    chat = build_chat(settings, observer)
    judge = ModelEntityJudge(chat, observer) if chat else None
    fact_judge = ModelFactJudge(chat, observer) if chat else None
    vocabulary = Vocabulary(ontology=rules_of(build_ontologies(settings)))
    return Stages(
        extract=ExtractStage(
            store,
            build_extractor(settings, chat, observer, gate),
            embedder,
            clock,
            observer,
            embeds_ahead=chat is not None,
        ),
        resolve_entities=ResolveEntitiesStage(store, embedder, clock, observer, judge),
        resolve_facts=ResolveFactsStage(store, embedder, clock, observer, fact_judge, vocabulary),
        update_communities=UpdateCommunitiesStage(
            store,
            embedder,
            clock,
            observer,
            build_summaries(settings, store, embedder, observer, clock, chat=chat, gate=gate),
        ),
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
        share=settings.share,
        max_held=settings.max_held,
        attempts=settings.attempts,
        longest_attempt=settings.handler_timeout,
    )


def health_limits(settings: Settings) -> HealthLimits:
    """When a worker says that it is not ready."""
    return HealthLimits(
        stuck=settings.stuck_after,
        polling=settings.polling_after,
        oldest=settings.oldest_after,
        canary=settings.canary_after,
    )


def halt(settings: Settings) -> HaltPolicy:
    """When a stage stops itself."""
    return HaltPolicy(settings.halt_consecutive, settings.halt_ratio, pause=settings.halt_pause)


def canary(settings: Settings) -> CanarySettings:
    """How often a canary is flown."""
    return CanarySettings(settings.canary_every)
