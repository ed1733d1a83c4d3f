"""Client: publish to the gateway and ask the search service."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import Self, TypeVar, Unpack

import httpx
from pydantic import BaseModel

from factstream.client import calls
from factstream.client.errors import NotFound, Unreachable
from factstream.client.options import ContextOptions, Event, SearchOptions, Time
from factstream.client.paging import PAGE, Pages
from factstream.client.publishing import batches
from factstream.client.retrying import Attempts, RetryPolicy
from factstream.client.waiting import Settling
from search_api.answers import (
    CommunityAnswer,
    ContextAnswer,
    EntityAnswer,
    EpisodeAnswer,
    EpisodeList,
    EpisodeSummary,
    FactAnswer,
    SearchAnswer,
)
from search_api.recipes import Recipe

M = TypeVar("M", bound=BaseModel)


class Client:
    """A client of a running factstream.

    Args:
        search_url: the search service.
        gateway_url: the gateway; only needed to publish.
        api_key: sent to both; `FACTSTREAM_API_KEY` of the environment when left out.
        timeout: seconds that one try may take; longer than `wait_for_seconds` of a search.
        retry: how long busy and absent services are tried again.
        trust_env: whether proxies of the environment are used.
        transport: in place of the network, for tests.

    Every method raises `ApiError` with the problem details of the service (`Invalid`, `Unauthorized`, `Forbidden`,
    `NotFound`, `Unavailable`), `Unreachable` when there is no answer, and `BadAnswer` when it cannot be read. Requests
    are repeated at 502, 503 and without an answer, as `retry` says; that is safe for all of them.
    """

    def __init__(
        self,
        search_url: str = "http://127.0.0.1:8081",
        gateway_url: str = "http://127.0.0.1:8080",
        *,
        api_key: str | None = None,
        timeout: float = 60.0,
        retry: RetryPolicy | None = None,
        trust_env: bool = True,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        key = os.environ.get("FACTSTREAM_API_KEY") if api_key is None else api_key
        self._urls = {True: gateway_url.rstrip("/"), False: search_url.rstrip("/")}
        self._retry = retry or RetryPolicy()
        self._http = httpx.Client(
            headers={"Authorization": f"Bearer {key}"} if key else {},
            timeout=httpx.Timeout(timeout, connect=min(timeout, 5.0)),
            trust_env=trust_env,
            transport=transport,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of connections."""
        self._http.close()

    def publish(self, events: Event | Iterable[Event]) -> list[str]:
        """Publish one event or many; their ids, in the order given. Returns when Kafka has them.

        Ids that are left out are derived from group, content and reference time (now, when that is left out too) before
        the first try, so that no try makes a second episode. More than 500 events, or 4 MiB, go in several requests; one
        bad event refuses its request whole; the requests before it are published, those after it are not. Mend it and
        publish all of them again.
        """
        ids: list[str] = []
        for batch in batches(events):
            ids += (self._send(calls.publish(batch))).ids
        return ids

    def wait_for(
        self, ids: str | Sequence[str], group_id: str, *, seconds: float = 60.0
    ) -> tuple[EpisodeAnswer, ...]:
        """Wait until episodes are committed or skipped; what became of them, in the order of `ids`.

        Raises NotSettled when some are still on their way after `seconds`, EpisodesFailed when some are dead.
        """
        settling = Settling(ids, seconds)
        while (one := settling.next) is not None:
            try:
                seen = self.episode(one, group_id)
            except NotFound:
                seen = None
            if pause := settling.saw(seen):
                time.sleep(pause)
        return settling.answers()

    def search(
        self, query: str | None = None, *, group_ids: str | Sequence[str], **options: Unpack[SearchOptions]
    ) -> SearchAnswer:
        """POST /v1/search: what is found, by scope, best first."""
        return self._send(calls.search(query, group_ids, options))

    def context(
        self, query: str | None = None, *, group_ids: str | Sequence[str], **options: Unpack[ContextOptions]
    ) -> ContextAnswer:
        """POST /v1/context: a text for a prompt."""
        return self._send(calls.context(query, group_ids, options))

    def episode(self, episode_id: str, group_id: str, *, known_at: Time | None = None) -> EpisodeAnswer:
        """An episode with its state, facts, entities and cost."""
        return self._send(calls.episode(episode_id, group_id, known_at))

    def episodes(
        self, group_id: str, *, before: Time | None = None, limit: int = 100, thread_id: str | None = None
    ) -> tuple[EpisodeSummary, ...]:
        """The newest episodes of a group or thread, newest first; `before` is exclusive."""
        page = self.episode_page(group_id, before=before, limit=limit, thread_id=thread_id)
        return page.episodes

    def episode_page(
        self,
        group_id: str,
        *,
        before: Time | None = None,
        cursor: str | None = None,
        limit: int = 100,
        thread_id: str | None = None,
    ) -> EpisodeList:
        """The same with `next`, which as `cursor` gives the page behind this one; None when this is the last."""
        return self._send(calls.episodes(group_id, before, cursor, limit, thread_id))

    def iter_episodes(
        self, group_id: str, *, before: Time | None = None, thread_id: str | None = None
    ) -> Iterator[EpisodeSummary]:
        """All of them, page by page, also those of one and the same time."""
        pages = Pages(before)
        while not pages.done:
            page = self.episode_page(
                group_id, before=pages.before, cursor=pages.cursor, limit=PAGE, thread_id=thread_id
            )
            yield from pages.take(page)

    def fact(self, fact_id: str, group_id: str, *, known_at: Time | None = None) -> FactAnswer:
        """A fact; one that is no longer believed as it was last."""
        return self._send(calls.fact(fact_id, group_id, known_at))

    def entity(self, entity_id: str, group_id: str, *, known_at: Time | None = None) -> EntityAnswer:
        """An entity with its summary."""
        return self._send(calls.entity(entity_id, group_id, known_at))

    def timeline(
        self, entity_id: str, group_id: str, *, as_of: Time | None = None, known_at: Time | None = None
    ) -> tuple[FactAnswer, ...]:
        """The facts of an entity in the order of their start; `as_of` left out is any time."""
        return (self._send(calls.timeline(entity_id, group_id, as_of, known_at))).facts

    def community(self, community_id: str, group_id: str, *, known_at: Time | None = None) -> CommunityAnswer:
        """A community with its members."""
        return self._send(calls.community(community_id, group_id, known_at))

    def recipes(self) -> tuple[Recipe, ...]:
        """The named configurations of a search."""
        return (self._send(calls.recipes())).recipes

    def _send(self, call: calls.Call[M]) -> M:
        attempts = Attempts(self._retry, call)
        url = self._urls[call.gateway] + call.path
        headers = {} if call.body is None else {"Content-Type": "application/json"}
        while True:
            try:
                response = self._http.request(
                    call.method, url, params=call.params, content=call.body, headers=headers
                )
            except httpx.RequestError as error:
                pause = attempts.after_error(error)
                if pause is None:
                    raise Unreachable(
                        f"{self._urls[call.gateway]} does not answer: {error or type(error).__name__}"
                    ) from error
            else:
                pause = attempts.after(response)
                if pause is None:
                    return call.read(response.status_code, response.content)
            time.sleep(pause)
