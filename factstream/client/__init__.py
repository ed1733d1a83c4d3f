"""The typed clients of a running factstream: the gateway to publish, the search service to ask."""

from factstream.client.async_client import AsyncClient
from factstream.client.client import Client
from factstream.client.errors import (
    ApiError,
    BadAnswer,
    ClientError,
    EpisodesFailed,
    Forbidden,
    Invalid,
    NotFound,
    NotSettled,
    Unauthorized,
    Unavailable,
    Unreachable,
)
from factstream.client.retrying import RetryPolicy

__all__ = [
    "ApiError",
    "AsyncClient",
    "BadAnswer",
    "Client",
    "ClientError",
    "EpisodesFailed",
    "Forbidden",
    "Invalid",
    "NotFound",
    "NotSettled",
    "RetryPolicy",
    "Unauthorized",
    "Unavailable",
    "Unreachable",
]
