"""What the demonstration asks of the gateway and the search service."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import httpx

from pipeline.errors import FactstreamError

SETTLED = ("committed", "skipped")
SETTLE_SECONDS = 180.0


class DemoFailed(FactstreamError):
    """The demonstration did not get the answer that it needs."""


class Services:
    """A gateway and a search service, for one group."""

    def __init__(self, gateway: str, search: str, group: str) -> None:
        self._client = httpx.Client(timeout=30, trust_env=False)
        self._gateway = gateway
        self._search = search
        self._group = group

    def publish(self, events: list[dict[str, Any]]) -> list[str]:
        """Post the events in one request; their ids once Kafka has them."""
        answer = self._client.post(f"{self._gateway}/v1/episodes", json=events)
        if answer.status_code != 202:
            raise DemoFailed(f"the gateway answered {answer.status_code}: {answer.text[:500]}")
        ids: list[str] = answer.json()["ids"]
        return ids

    def follow(self, ids: list[str], settled: Callable[[str], None]) -> None:
        """Wait until all episodes are settled, telling of each one."""
        deadline = time.monotonic() + SETTLE_SECONDS
        waiting = list(ids)
        while waiting:
            for episode in list(waiting):
                found = self._client.get(
                    f"{self._search}/v1/episodes/{quote(episode, safe='')}", params={"group_id": self._group}
                )
                state = found.json()["state"] if found.status_code == 200 else None
                if state == "dead":
                    raise DemoFailed(f"episode {episode} is dead: {found.text[:500]}")
                if state in SETTLED:
                    waiting.remove(episode)
                    settled(episode)
            if time.monotonic() > deadline:
                raise DemoFailed(f"not settled after {SETTLE_SECONDS:.0f} s: {', '.join(waiting)}")
            time.sleep(0.2)

    def search(self, query: str, **more: Any) -> dict[str, Any]:
        """One search in the group."""
        return self._post("search", {"query": query, "group_ids": [self._group], **more})

    def context(self, query: str, **more: Any) -> str:
        """The context text for a question."""
        text: str = self._post("context", {"query": query, "group_ids": [self._group], **more})["context"]
        return text

    def entity(self, name: str) -> dict[str, Any]:
        """The entity of that name."""
        for entity in self.search(name, scopes=["entities"])["entities"]:
            if entity["name"] == name:
                found: dict[str, Any] = entity
                return found
        raise DemoFailed(f"there is no entity {name}")

    def timeline(self, entity_id: str, **more: Any) -> list[dict[str, Any]]:
        """The facts of an entity, by start."""
        answer = self._client.get(
            f"{self._search}/v1/entities/{entity_id}/facts", params={"group_id": self._group, **more}
        )
        answer.raise_for_status()
        facts: list[dict[str, Any]] = answer.json()["facts"]
        return facts

    def close(self) -> None:
        """Let go of connections."""
        self._client.close()

    def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = self._client.post(f"{self._search}/v1/{path}", json=body)
        if answer.status_code != 200:
            raise DemoFailed(f"/v1/{path} answered {answer.status_code}: {answer.text[:500]}")
        decoded: dict[str, Any] = answer.json()
        return decoded
