"""One OpenAI-compatible endpoint: sends requests, obeys its limits, and turns its bad days into our vocabulary."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import httpx
import orjson

from pipeline.errors import Retryable
from pipeline.llm.address import Address
from pipeline.llm.breaker import Breaker
from pipeline.llm.dialect import about_form, about_route
from pipeline.llm.errors import OperatorFault, Rejected
from pipeline.llm.limits import EndpointLimits, Rates
from pipeline.llm.retry_after import retry_after, told_wait
from pipeline.llm.timing import Timing
from pipeline.llm.trouble import message_of, trouble_in

Report = Callable[[str, float], None]
"""Told of every failed request: what happened ("429", "timeout", "connection", "500", …) and seconds it took."""

FORM_TROUBLE = frozenset({500, 501})
"""With these some servers answer a form of structured output that they cannot give, beside 400 and 422."""
TRANSIENT = frozenset({408, 409, 425, 500, 502, 503, 504, 507, 520, 521, 522, 523, 524, 529})


@dataclass(frozen=True)
class EndpointPolicy:
    """How patient one request is. `attempts` within one call; `timeout`, pauses and waits in seconds.

    A `Retry-After` up to `longest_wait` is waited for inside the call and costs no attempt that counts as a failure;
    a longer one goes back to the lane as Retryable, while everyone else is held back until it is over.
    """

    attempts: int = 3
    refusals: int = 8
    timeout: float = 60.0
    connect_timeout: float = 5.0
    first_pause: float = 0.5
    longest_pause: float = 10.0
    longest_wait: float = 60.0


class Endpoint:
    """Posts JSON and gets JSON. Share one per address: limits and breaker are the endpoint's.

    Args:
        base_url: up to and including the version: "https://api.openai.com/v1", "http://localhost:11434/v1". A bare
            host is tried without a version first; a query ("?api-version=…") goes with every request.
        key: the bearer token; empty for endpoints that want none.
        client: an httpx client to use; by default one of its own, closed by `close`.
    """

    def __init__(
        self,
        base_url: str,
        key: str = "",
        *,
        rates: Rates | None = None,
        policy: EndpointPolicy | None = None,
        timing: Timing | None = None,
        client: httpx.AsyncClient | None = None,
    ) -> None:
        self._address = Address.read(base_url)
        self._timing = timing or Timing()
        self._policy = policy or EndpointPolicy()
        self.limits = EndpointLimits(rates or Rates(), self._timing)
        self.breaker = Breaker(self.base_url, self._timing)
        timeout = httpx.Timeout(self._policy.timeout, connect=self._policy.connect_timeout, pool=None)
        self._client = client or httpx.AsyncClient(timeout=timeout, limits=httpx.Limits(max_connections=None))
        self._headers = {"content-type": "application/json"}
        if key:
            self._headers["authorization"] = f"Bearer {key}"
            if self._address.is_azure:
                self._headers["api-key"] = key

    @property
    def base_url(self) -> str:
        """The address, as messages show it."""
        return self._address.base

    async def close(self) -> None:
        """Let go of the connections."""
        await self._client.aclose()

    async def post(
        self, path: str, payload: Mapping[str, Any], *, tokens: int, purpose: str, report: Report
    ) -> dict[str, Any]:
        """The decoded answer to one request of about `tokens` tokens.

        Raises Retryable (down, overloaded), OperatorFault (wrong key, address or model) or Rejected (this request).
        """
        body = orjson.dumps(payload)
        failures = refusals = 0
        while True:
            self.breaker.check()
            try:
                async with self.limits.slot(tokens) as epoch:
                    outcome = await self._once(path, body, purpose, report)
            except BaseException:
                self.breaker.abandoned()
                raise
            if isinstance(outcome, dict):
                self.breaker.succeeded()
                self.limits.succeeded(tokens, _total_tokens(outcome, tokens))
                return outcome
            wait = outcome.wait
            if outcome.refused:
                self.breaker.succeeded()
                refusals += 1
                wait = self._pause(refusals) if wait is None else wait
                self.limits.refused(wait, epoch)
                if refusals > self._policy.refusals or wait > self._policy.longest_wait:
                    raise Retryable(f"{self.base_url} is overloaded, wait {wait:.0f} s: {outcome.message}")
                continue
            self.breaker.failed()
            failures += 1
            if failures >= self._policy.attempts:
                raise Retryable(f"{self.base_url} failed {failures} times: {outcome.message}")
            wait = self._pause(failures) if wait is None else wait
            if wait > self._policy.longest_wait:
                raise Retryable(f"{self.base_url} asks to wait {wait:.0f} s: {outcome.message}")
            await self._timing.sleep(wait)

    def _pause(self, failures: int) -> float:
        longest = min(self._policy.longest_pause, self._policy.first_pause * 2.0 ** (failures - 1))
        return longest * (0.5 + 0.5 * self._timing.chance())

    async def _once(self, path: str, body: bytes, purpose: str, report: Report) -> dict[str, Any] | _Failed:
        started = self._timing.monotonic()

        def failed(kind: str) -> None:
            report(kind, self._timing.monotonic() - started)

        headers = self._headers | {"x-request-purpose": purpose}
        try:
            async with asyncio.timeout(self._policy.timeout):
                answer = await self._sent(path, body, headers)
        except (httpx.TimeoutException, TimeoutError):
            failed("timeout")
            return _Failed(f"no answer within {self._policy.timeout:g} s")
        except httpx.InvalidURL as error:
            raise OperatorFault(f"{self.base_url} is not an address: {error}") from None
        except httpx.UnsupportedProtocol as error:
            raise OperatorFault(f"{self.base_url} is not an address: {error}") from None
        except httpx.TransportError as error:
            failed("connection")
            return _Failed(f"connection failed: {type(error).__name__} {error}".strip())
        except httpx.DecodingError:
            failed("garbled")
            return _Failed("the answer cannot be decoded")
        decoded = _decoded(answer.content)
        status = answer.status_code
        if status == 200:
            trouble = trouble_in(decoded)
            if trouble is None and isinstance(decoded, dict):
                return decoded
            if trouble is None or trouble.status is None:
                failed("garbled")
                told = message_of(decoded, answer.text)
                return _Failed(f"answered with something else than the API's JSON: {told}")
            # Some gateways put the provider's refusal into an answer of status 200.
            status = trouble.status
        failed(str(status))
        return self._judged(status, answer, message_of(decoded, answer.text))

    async def _sent(self, path: str, body: bytes, headers: Mapping[str, str]) -> httpx.Response:
        """The answer at the address; where a bare host does not know the path, that at its version, if it does."""
        answer = await self._client.post(self._address.of(path), content=body, headers=headers)
        versioned = self._address.versioned()
        if versioned is None or not _unknown_path(answer):
            return answer
        other = await self._client.post(versioned.of(path), content=body, headers=headers)
        if _unknown_path(other):
            return answer
        self._address = versioned
        return other

    def _judged(self, status: int, answer: httpx.Response, message: str) -> _Failed:
        wait = retry_after(answer.headers, self._timing.clock())
        if status == 429:
            if "insufficient_quota" in message:
                raise OperatorFault(f"{self.base_url}: the quota is used up: {message}")
            wait = told_wait(answer.text) if wait is None else wait
            return _Failed(message, wait, refused=True)
        if (status in FORM_TROUBLE and about_form(message)) or (status == 404 and about_route(message)):
            self.breaker.succeeded()
            raise Rejected(status, message)
        if status in TRANSIENT or status >= 500:
            return _Failed(f"{status}: {message}", wait)
        self.breaker.succeeded()
        if status in (401, 403):
            raise OperatorFault(f"{self.base_url} refuses the key ({status}): {message}")
        if status in (402, 404, 405) or 300 <= status < 400:
            raise OperatorFault(f"{self.base_url} does not serve this address or model ({status}): {message}")
        raise Rejected(status, message)


@dataclass(frozen=True)
class _Failed:
    message: str
    wait: float | None = None
    refused: bool = False


def _decoded(content: bytes) -> Any:
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        return None


def _unknown_path(answer: httpx.Response) -> bool:
    """Whether an answer comes from a place that is no API: no such path, or a page."""
    return answer.status_code in (404, 405) or (
        answer.status_code == 200 and _decoded(answer.content) is None
    )


def _total_tokens(answer: dict[str, Any], estimated: int) -> int:
    usage = answer.get("usage")
    total = usage.get("total_tokens") if isinstance(usage, dict) else None
    return total if isinstance(total, int) and total >= 0 else estimated
