"""Embeddings from any endpoint that speaks OpenAI's API: BGE-m3 on vLLM or TEI, OpenAI, Gemini, Ollama."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from pipeline.cost.metering import charge
from pipeline.cost.prices import Prices
from pipeline.errors import Poison, Retryable
from pipeline.llm.endpoint import Endpoint
from pipeline.llm.errors import OperatorFault, Rejected
from pipeline.llm.timing import Timing
from pipeline.llm.tokens import estimate
from pipeline.model.episode import Usage
from pipeline.observer import Observer


class OpenAIEmbedder:
    """Implements `Embedder`. Vectors come back as unit vectors of exactly the configured dimension.

    Args:
        endpoint: where to; shared with the chat client when both have one address.
        model: the model's name there.
        dimension: the length that the index has; an answer of another length is an OperatorFault, never cut or padded.
        observer: told of every request as a model call of purpose "embed".
        batch: texts in one request.
        request_dimension: ask the endpoint for vectors of that length, for models that can (OpenAI's third
            generation); most others reject the parameter.
        query_prefix, text_prefix: for models that want questions and texts marked ("query: ", "passage: ").
        prices: what its tokens cost; charged to whoever is metered (see pipeline.cost.metering).
    """

    def __init__(
        self,
        endpoint: Endpoint,
        model: str,
        dimension: int,
        observer: Observer,
        *,
        batch: int = 64,
        request_dimension: bool = False,
        query_prefix: str = "",
        text_prefix: str = "",
        timing: Timing | None = None,
        prices: Prices | None = None,
    ) -> None:
        self._endpoint = endpoint
        self._model = model
        self._dimension = dimension
        self._observer = observer
        self._batch = batch
        self._request_dimension = request_dimension
        self._prefixes = {True: query_prefix, False: text_prefix}
        self._timing = timing or Timing()
        self._prices = prices or Prices()

    @property
    def model(self) -> str:
        """The model's name, as the endpoint knows it."""
        return self._model

    @property
    def dimension(self) -> int:
        """The configured dimension."""
        return self._dimension

    async def check(self) -> None:
        """At start: one text is embedded. Raises OperatorFault (a SettingError) when model or dimension are wrong."""
        await self.embed(["dimension"])

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> list[list[float]]:
        """One unit vector per text, in order; requests of at most `batch` texts.

        Raises Retryable (down, overloaded), OperatorFault (key, model, dimension), Poison (a text that is rejected).
        """
        prefix = self._prefixes[query]
        # An empty text is rejected by most endpoints; a space has a vector like any other text.
        prepared = [prefix + text or " " for text in texts]
        vectors: list[list[float]] = []
        for start in range(0, len(prepared), self._batch):
            vectors += await self._request(prepared[start : start + self._batch])
        return vectors

    async def _request(self, texts: list[str]) -> list[list[float]]:
        payload: dict[str, Any] = {"model": self._model, "input": texts}
        if self._request_dimension:
            payload["dimensions"] = self._dimension
        started = self._timing.monotonic()

        def report(outcome: str, seconds: float) -> None:
            self._observer.model_call("embed", outcome, 0, 0, seconds)

        tokens = sum(map(estimate, texts))
        try:
            answer = await self._endpoint.post(
                "/embeddings", payload, tokens=tokens, purpose="embed", report=report
            )
        except Rejected as error:
            if "model" in error.reason.lower() or "dimension" in error.reason.lower():
                raise OperatorFault(
                    f"{self._endpoint.base_url} rejects {self._model}: {error.reason}"
                ) from None
            raise Poison(f"embed: model {self._model} rejects the texts: {error}") from None
        usage = answer.get("usage")
        told = usage.get("prompt_tokens") if isinstance(usage, dict) else None
        spent = told if isinstance(told, int) else tokens
        charge(Usage(embedding_tokens=spent, cost=self._prices.embedding(self._model, spent)))
        self._observer.model_call("embed", "ok", spent, 0, self._timing.monotonic() - started)
        return self._vectors(answer, len(texts))

    def _vectors(self, answer: dict[str, Any], expected: int) -> list[list[float]]:
        rows = answer.get("data")
        if not isinstance(rows, list) or len(rows) != expected or not all(isinstance(r, dict) for r in rows):
            got = len(rows) if isinstance(rows, list) else "no"
            raise Retryable(f"{self._endpoint.base_url} answered {got} vectors for {expected} texts")
        ordered: list[list[float] | None] = [None] * expected
        for place, row in enumerate(rows):
            index = row.get("index", place)
            if isinstance(index, int) and 0 <= index < expected:
                ordered[index] = self._unit(row.get("embedding"))
        vectors = [vector for vector in ordered if vector is not None]
        if len(vectors) != expected:
            raise Retryable(f"{self._endpoint.base_url} answered vectors with wrong indexes")
        return vectors

    def _unit(self, raw: Any) -> list[float]:
        if not isinstance(raw, list) or not all(isinstance(x, (int, float)) for x in raw):
            raise Retryable(f"{self._endpoint.base_url} answered something that is no vector")
        if len(raw) != self._dimension:
            raise OperatorFault(
                f"model {self._model} answers vectors of {len(raw)} numbers, but FACTSTREAM_EMBEDDING_DIMENSION is "
                f"{self._dimension}: set it to {len(raw)} for a new database, or choose the model that filled this one"
            )
        norm = math.sqrt(sum(x * x for x in raw))
        if not math.isfinite(norm) or norm == 0:
            raise Retryable(f"model {self._model} answered a vector without a length")
        return [x / norm for x in raw]
