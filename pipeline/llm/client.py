"""The chat client: one class for OpenAI, Gemini, vLLM, Ollama and whatever else speaks the same API."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import orjson
from pydantic import BaseModel

from pipeline.cost.prices import Prices
from pipeline.errors import Poison
from pipeline.llm.completion import Said, said_in
from pipeline.llm.dialect import Dialect, about_form, about_model, poorer
from pipeline.llm.endpoint import Endpoint
from pipeline.llm.errors import OperatorFault, Rejected
from pipeline.llm.port import Question, Reply
from pipeline.llm.reading import Reading, Unreadable, joined, read_answer
from pipeline.llm.schema import answer_schema
from pipeline.llm.timing import Timing
from pipeline.llm.tokens import estimate
from pipeline.model.episode import Usage
from pipeline.observer import Observer

A = TypeVar("A", bound=BaseModel)

CONTINUATIONS = 2
"""How often the rest of a cut answer is asked for."""
SHOWN_BACK = 2000
"""Characters of an unusable answer that the model is shown when it is asked again."""
ANSWER_TOKENS = 1000
"""What an answer is expected to take of a token rate when the question does not bound it."""


class OpenAIChat:
    """Implements `ChatModel` over an OpenAI-compatible endpoint.

    Args:
        endpoint: where to; shared with the embedder when both have one address.
        model: the model for questions of size "model".
        small_model: the model for questions of size "small"; the same one by default.
        observer: told of every call: "ok", "malformed", "truncated", "rejected", "429", "timeout", …
        clock in `timing`: for the seconds that are reported.
        prices: what the models' tokens cost; nothing has a cost without.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        model: str,
        observer: Observer,
        *,
        small_model: str | None = None,
        timing: Timing | None = None,
        prices: Prices | None = None,
    ) -> None:
        self._endpoint = endpoint
        self._models = {"model": model, "small": small_model or model}
        self._observer = observer
        self._timing = timing or Timing()
        self._prices = prices or Prices()
        self._dialects: dict[str, Dialect] = {}

    async def ask(self, question: Question[A]) -> Reply[A]:
        """As `ChatModel.ask`. A wrong answer is asked for once more, with what was wrong with it."""
        model = self._models[question.size]
        talk = [{"role": "system", "content": question.system}, {"role": "user", "content": question.user}]
        usage = Usage()
        text = reason = ""
        for attempt in range(2):
            again = _complaint(text, reason) if attempt else []
            said = await self._complete(question, model, [*talk, *again])
            usage += said.usage
            text = said.text
            try:
                reading = self._read(question, text, said)
            except Unreadable as error:
                reason = said.refusal or str(error)
                continue
            if reading.complete:
                return Reply(reading.answer, usage)
            return await self._continued(question, model, talk, reading.answer, usage)
        raise Poison(f"{question.purpose}: model {model} gave no usable answer twice: {reason}")

    async def _continued(
        self, question: Question[A], model: str, talk: list[dict[str, str]], answer: A, usage: Usage
    ) -> Reply[A]:
        """Ask for what a cut answer left out, as long as that brings something new."""
        for _ in range(CONTINUATIONS):
            said = await self._complete(question, model, [*talk, *_rest(answer)])
            usage += said.usage
            try:
                reading = self._read(question, said.text, said)
            except Unreadable:
                break
            more = joined(answer, reading.answer)
            if reading.complete:
                return Reply(more, usage)
            if more == answer:
                break
            answer = more
        self._observer.event("answer_cut_off")
        return Reply(answer, usage, complete=False)

    def _read(self, question: Question[A], text: str, said: Said) -> Reading[A]:
        outcome = "malformed"
        try:
            reading = read_answer(text, question.answer)
            outcome = "ok" if reading.complete else "truncated"
            if reading.dropped:
                self._observer.event("answer_items_dropped", reading.dropped)
            if reading.repeated:
                self._observer.event("answer_items_repeated", reading.repeated)
            return reading
        finally:
            tokens = said.usage
            self._observer.model_call(
                question.purpose, outcome, tokens.prompt_tokens, tokens.completion_tokens, said.seconds
            )

    async def _complete(self, question: Question[A], model: str, talk: list[dict[str, str]]) -> Said:
        """One completion, in the richest dialect that the model is known to understand."""
        known = self._dialects.get(model)
        dialect = known or Dialect()
        wasted = Usage()
        while True:
            started = self._timing.monotonic()
            try:
                body = await self._post(question, model, talk, dialect)
            except Rejected as error:
                self._observer.model_call(
                    question.purpose, "rejected", 0, 0, self._timing.monotonic() - started
                )
                if about_model(error.reason):
                    raise OperatorFault(
                        f"{self._endpoint.base_url} does not serve {model}: {error.reason}"
                    ) from None
                simpler = poorer(dialect, error.reason)
                if simpler is not None and question.tentative and simpler.form != dialect.form:
                    simpler = None
                if simpler is None or (known and not about_form(error.reason) and simpler.form != known.form):
                    raise Poison(f"{question.purpose}: model {model} rejects the request: {error}") from None
                dialect = simpler
                continue
            self._dialects[model] = dialect
            said = said_in(body, talk, self._timing.monotonic() - started)
            priced = said.usage.model_copy(update={"cost": self._prices.chat(model, said.usage)})
            if said.starved and dialect.limit and question.max_tokens is not None:
                # A reasoning model has thought up to the limit and said nothing: it is asked without one.
                self._observer.model_call(
                    question.purpose,
                    "starved",
                    priced.prompt_tokens,
                    priced.completion_tokens,
                    said.seconds,
                )
                wasted += priced
                known = dialect = replace(dialect, limit=None)
                continue
            return replace(said, usage=wasted + priced)

    async def _post(
        self, question: Question[A], model: str, talk: list[dict[str, str]], dialect: Dialect
    ) -> dict[str, Any]:
        if dialect.form != "json_schema":
            form = orjson.dumps(answer_schema(question.answer)).decode()
            told = f"{talk[0]['content']}\n\nAnswer with one JSON object and nothing else. Its JSON schema:\n{form}"
            talk = [{"role": "system", "content": told}, *talk[1:]]
        payload = {
            "model": model,
            "messages": dialect.messages(talk),
            **dialect.parameters(question.purpose, question.answer, question.max_tokens),
        }
        expected = sum(estimate(part["content"]) for part in talk) + (question.max_tokens or ANSWER_TOKENS)

        def report(outcome: str, seconds: float) -> None:
            if outcome not in ("400", "422"):
                self._observer.model_call(question.purpose, outcome, 0, 0, seconds)

        return await self._endpoint.post(
            "/chat/completions", payload, tokens=expected, purpose=question.purpose, report=report
        )


def _complaint(text: str, reason: str) -> list[dict[str, str]]:
    return [
        {"role": "assistant", "content": text[:SHOWN_BACK] or "(nothing)"},
        {
            "role": "user",
            "content": f"That answer cannot be used: {reason}. Answer again, with the JSON object only.",
        },
    ]


def _rest(answer: BaseModel) -> list[dict[str, str]]:
    return [
        {"role": "assistant", "content": answer.model_dump_json(exclude_defaults=True)},
        {
            "role": "user",
            "content": "Your answer was cut off; the items above are noted. Answer with the same JSON object, holding "
            "only the items that are still missing, each once. Empty lists when nothing is missing.",
        },
    ]
