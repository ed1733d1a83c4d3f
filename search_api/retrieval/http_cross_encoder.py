"""A cross-encoder behind an HTTP rerank endpoint."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import httpx

from pipeline.errors import Retryable


class HttpCrossEncoder:
    """Speaks the rerank request that Cohere, Jina, vLLM and others share.

    It posts `{model, query, documents, top_n}` to `url` and reads `{results: [{index, relevance_score}]}`.
    The API key goes into the Authorization header and nowhere else.
    """

    def __init__(
        self,
        url: str,
        model: str,
        api_key: str | None = None,
        *,
        timeout_seconds: float = 10.0,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._client = httpx.AsyncClient(headers=headers, timeout=timeout_seconds, transport=transport)
        self._url = url
        self._model = model

    async def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """One score per text, in order. Raises Retryable on an error status, a time-out or a malformed answer."""
        body = {"model": self._model, "query": query, "documents": list(texts), "top_n": len(texts)}
        try:
            answer = await self._client.post(self._url, json=body)
            answer.raise_for_status()
            return _scores(answer.json(), len(texts))
        except httpx.HTTPStatusError as error:
            raise Retryable(f"the rerank endpoint answered {error.response.status_code}") from error
        except httpx.HTTPError as error:
            raise Retryable(f"the rerank endpoint cannot be reached ({type(error).__name__})") from error
        except (ValueError, TypeError, KeyError) as error:
            raise Retryable("the rerank endpoint gave no score for each text") from error

    async def close(self) -> None:
        """Close the connections to the endpoint."""
        await self._client.aclose()


def _scores(answer: Any, count: int) -> list[float]:
    scores = {int(one["index"]): float(one["relevance_score"]) for one in answer["results"]}
    if scores.keys() != set(range(count)) or not all(map(math.isfinite, scores.values())):
        raise ValueError("not one finite score for each text")
    return [scores[place] for place in range(count)]
