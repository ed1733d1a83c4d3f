"""Paging through the episodes of a group, newest first, by the cursors that the service gives."""

from __future__ import annotations

from collections.abc import Sequence

from factstream.client.errors import ClientError
from factstream.client.options import Time
from search_api.answers import EpisodeList, EpisodeSummary

PAGE = 100


class Pages:
    """Where the next page begins: `before` a time for the first, behind a `cursor` from then on. A cursor tells episodes
    of one and the same time apart, so none is lost and none comes twice."""

    def __init__(self, before: Time | None) -> None:
        self.before = before
        self.cursor: str | None = None
        self.done = False

    def take(self, page: EpisodeList) -> Sequence[EpisodeSummary]:
        """The episodes of a page. Raises ClientError when it is full and the service, an old one, gives no cursor."""
        if page.next is None and len(page.episodes) >= PAGE:
            raise ClientError(
                "the search service gives no cursor behind a full page: it is older than this client"
            )
        self.before, self.cursor, self.done = None, page.next, page.next is None
        return page.episodes
