"""The server: takes requests, records them, answers by its script."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.model_server import toy
from tests.model_server.bodies import chat_body, error_answer, json_answer
from tests.model_server.faults import Drop, Hang, Raw, Status
from tests.model_server.http import HttpAnswer, HttpRequest, HttpServer
from tests.model_server.request import RecordedRequest
from tests.model_server.vectors import embedding

Matcher = Callable[[RecordedRequest], bool]


@dataclass
class _Rule:
    matches: Matcher
    answer: Any
    left: int | None


class ModelServer:
    """An OpenAI-compatible endpoint on loopback; an async context manager.

    An answer may be a dict or list (sent as JSON text), a string (sent as it is), a fault, or a callable that takes
    the request and gives one of these. Rules are tried in the order in which they were added; a rule with `times`
    is used up after that. What no rule matches is answered by the toy grammar (chat) or by hashed words (embeddings).

    Args:
        latency: seconds that every answer takes, or a callable that tells them of a request;
            of embeddings `embedding_latency`, when that is given.
        json_schema, json_object: whether response_format is understood; if not, it is a 400.
        refused: request parameters that are a 400 ("max_tokens", "temperature").
        models: the models that exist; None: any.
        key: the only key that is accepted; None: any.
        dimension: of the embeddings.
        versioned: whether the API is at /v1 only, not at the root too.

    `requests` are all that came, `received` is set by each of them, `most_running` is how many ran side by side.
    """

    def __init__(
        self,
        *,
        latency: float | Callable[[RecordedRequest], float] = 0.0,
        embedding_latency: float | Callable[[RecordedRequest], float] | None = None,
        json_schema: bool = True,
        json_object: bool = True,
        refused: tuple[str, ...] = (),
        models: frozenset[str] | None = None,
        key: str | None = None,
        dimension: int = 64,
        versioned: bool = False,
    ) -> None:
        self.latency = latency
        self.embedding_latency = latency if embedding_latency is None else embedding_latency
        self.json_schema = json_schema
        self.json_object = json_object
        self.refused = refused
        self.models = models
        self.key = key
        self.dimension = dimension
        self.versioned = versioned
        self.requests: list[RecordedRequest] = []
        self.received = asyncio.Event()
        self.running = self.most_running = 0
        self._rules: list[_Rule] = []
        self._counts: Counter[str] = Counter()
        self._http = HttpServer(self._handle)
        self.port = 0

    async def __aenter__(self) -> ModelServer:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def start(self, port: int = 0) -> None:
        """Listen on a port, a free one by default."""
        self.port = await self._http.start(port)

    async def stop(self) -> None:
        """Close every connection."""
        await self._http.stop()

    @property
    def url(self) -> str:
        """The base URL for a client."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def chats(self) -> list[RecordedRequest]:
        """The chat requests so far."""
        return [r for r in self.requests if r.path == "/chat/completions"]

    @property
    def embeddings(self) -> list[RecordedRequest]:
        """The embedding requests so far."""
        return [r for r in self.requests if r.path == "/embeddings"]

    def on(
        self,
        answer: Any,
        *,
        purpose: str | None = None,
        contains: str | None = None,
        when: Matcher | None = None,
        times: int | None = None,
    ) -> None:
        """Add a rule: requests that fit all that is given are answered so."""

        def matches(request: RecordedRequest) -> bool:
            return (
                (purpose is None or request.purpose == purpose)
                and (contains is None or contains in request.text)
                and (when is None or when(request))
            )

        self._rules.append(_Rule(matches, answer, times))

    def clear(self) -> None:
        """Forget rules and recorded requests."""
        self._rules.clear()
        self.requests.clear()
        self._counts.clear()

    def summary(self) -> dict[str, Any]:
        """Calls and prompt tokens by purpose."""
        made: dict[str, Any] = {}
        for request in self.requests:
            entry = made.setdefault(
                request.purpose or request.path, {"calls": 0, "prompt_tokens": 0, "texts": 0}
            )
            entry["calls"] += 1
            entry["prompt_tokens"] += request.prompt_tokens
            entry["texts"] += len(request.inputs)
        return made

    async def _handle(self, request: HttpRequest) -> HttpAnswer | None:
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            return await self._answered(request)
        finally:
            self.running -= 1

    async def _answered(self, request: HttpRequest) -> HttpAnswer | None:
        path = request.path.partition("?")[0]
        if self.versioned and not path.startswith("/v1/"):
            return HttpAnswer(404, b"404 page not found")
        path = path.removeprefix("/v1")
        if path == "/models":
            return json_answer(200, {"data": [{"id": m} for m in sorted(self.models or {"toy"})]})
        if path == "/requests":
            if request.method == "DELETE":
                self.requests.clear()
            return json_answer(200, self.summary())
        if path == "/rules" and request.method == "POST":
            return self._remote_rule(json.loads(request.body))
        if self.key is not None and request.headers.get("authorization") != f"Bearer {self.key}":
            return error_answer(Status(401, "Incorrect API key provided"))
        if path not in ("/chat/completions", "/embeddings"):
            return error_answer(Status(404, "no such path"))
        recorded = self._record(path, request)
        latency = self.embedding_latency if path == "/embeddings" else self.latency
        if seconds := latency(recorded) if callable(latency) else latency:
            await asyncio.sleep(seconds)
        given = self._rejection(recorded) or self._scripted(recorded)
        if isinstance(given, Status):
            return error_answer(given)
        if isinstance(given, Hang):
            await asyncio.sleep(given.seconds)
            return None
        if isinstance(given, Drop) and not given.midway:
            return None
        if isinstance(given, Raw):
            return HttpAnswer(given.status, given.body.encode())
        body = (
            self._embedded(recorded)
            if path == "/embeddings" and given is None
            else chat_body(recorded, given)
        )
        return HttpAnswer(200, json.dumps(body).encode(), send=0.5 if isinstance(given, Drop) else 1.0)

    def _record(self, path: str, request: HttpRequest) -> RecordedRequest:
        self._counts[path] += 1
        payload = json.loads(request.body)
        recorded = RecordedRequest(
            path=path,
            number=self._counts[path],
            purpose=request.headers.get("x-request-purpose", ""),
            model=str(payload.get("model", "")),
            payload=payload,
            headers=request.headers,
            target=request.path,
        )
        self.requests.append(recorded)
        self.received.set()
        return recorded

    def _rejection(self, request: RecordedRequest) -> Status | None:
        if self.models is not None and request.model not in self.models:
            return Status(404, f"The model `{request.model}` does not exist")
        form = request.payload.get("response_format", {}).get("type")
        if (form == "json_schema" and not self.json_schema) or (
            form == "json_object" and not self.json_object
        ):
            return Status(400, f"response_format of type {form} is not supported")
        for name in self.refused:
            if name in request.payload:
                return Status(400, f"Unsupported parameter: '{name}' is not supported with this model")
        return None

    def _scripted(self, request: RecordedRequest) -> Any:
        for rule in self._rules:
            if rule.left == 0 or not rule.matches(request):
                continue
            if rule.left is not None:
                rule.left -= 1
            return rule.answer(request) if callable(rule.answer) else rule.answer
        return None if request.path == "/embeddings" else toy.answer(request)

    def _embedded(self, request: RecordedRequest) -> dict[str, Any]:
        rows = [
            {"index": i, "embedding": embedding(text, self.dimension)}
            for i, text in enumerate(request.inputs)
        ]
        used = {"prompt_tokens": request.prompt_tokens, "total_tokens": request.prompt_tokens}
        return {"data": rows, "model": request.model, "usage": used}

    def _remote_rule(self, rule: dict[str, Any]) -> HttpAnswer:
        """For other processes: {"status": 503, "every": 3, "retry_after": 1, "purpose": …}; {} forgets the rules."""
        if not rule:
            self._rules.clear()
            return json_answer(200, {"rules": 0})
        every = int(rule.get("every", 1))
        self.on(
            Status(int(rule["status"]), retry_after=rule.get("retry_after")),
            purpose=rule.get("purpose"),
            when=lambda request: request.number % every == 0,
            times=rule.get("times"),
        )
        return json_answer(200, {"rules": len(self._rules)})
