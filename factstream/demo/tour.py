"""The tour: publish the story, follow it, and show what has become of it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from rich.console import Console
from rich.panel import Panel
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from factstream.demo.services import Services
from factstream.demo.story import CUSTOMER, chat, crm, late_address

QUESTION = f"Where does {CUSTOMER} live, and what happened to her printer?"
EARLIER = "2023-01-01T00:00:00Z"


class Tour:
    """Runs the demonstration against running services and prints what it finds."""

    def __init__(self, services: Services, group: str, console: Console) -> None:
        self._services = services
        self._group = group
        self._console = console

    def run(self) -> None:
        """Publish, follow, show. Raises DemoFailed when an answer is missing."""
        self._publish(
            [*crm(self._group), *chat(self._group)], "Publishing a CRM history and three support chats"
        )
        before = datetime.now(UTC)
        self._publish([late_address(self._group)], "A change of address arrives late")

        customer = self._services.entity(CUSTOMER)
        self._current(customer["id"])
        self._timeline(customer["id"])
        self._as_of(customer["id"])
        self._as_known(customer["id"], before)
        self._languages()
        self._communities()
        self._context()

    def _publish(self, events: list[dict[str, Any]], title: str) -> None:
        ids = self._services.publish(events)
        columns = (TextColumn("[progress.description]{task.description}"), BarColumn(), MofNCompleteColumn())
        with Progress(*columns, console=self._console) as progress:
            task = progress.add_task(title, total=len(ids))
            self._services.follow(ids, lambda _: progress.advance(task))

    def _current(self, entity_id: str) -> None:
        now = datetime.now(UTC).isoformat()
        self._facts("What is true now", self._services.timeline(entity_id, as_of=now))

    def _timeline(self, entity_id: str) -> None:
        self._facts(f"The timeline of {CUSTOMER}", self._services.timeline(entity_id))

    def _as_of(self, entity_id: str) -> None:
        self._facts(f"What was true on {EARLIER[:10]}", self._services.timeline(entity_id, as_of=EARLIER))

    def _as_known(self, entity_id: str, before: datetime) -> None:
        believed = self._services.timeline(entity_id, as_of=EARLIER, known_at=before.isoformat())
        self._facts("The same day, as believed before the late change of address arrived", believed)

    def _languages(self) -> None:
        table = Table(
            "question", "best answer", "from", "to", title="Three languages, one graph", title_justify="left"
        )
        for question in ("Where does Diego Salas work?", "¿Dónde vive Diego Salas?", "王晓岚住在哪里？"):
            facts = self._services.search(question, limit=1)["facts"]
            told = (
                (facts[0]["fact"], day(facts[0]["valid_at"]), day(facts[0]["invalid_at"]))
                if facts
                else ("–", "", "")
            )
            table.add_row(question, *told)
        self._console.print(table)

    def _communities(self) -> None:
        table = Table("community", "what joins it", title="Communities", title_justify="left")
        for community in self._services.search(CUSTOMER, scopes=["communities"])["communities"]:
            table.add_row(community["name"], community["summary"])
        self._console.print(table)

    def _context(self) -> None:
        text = self._services.context(QUESTION, max_tokens=400)
        self._console.print(
            Panel(text, title=f"Context for the prompt: {QUESTION}", title_align="left", highlight=False)
        )

    def _facts(self, title: str, facts: list[dict[str, Any]]) -> None:
        table = Table("fact", "from", "to", title=title, title_justify="left")
        for fact in facts:
            table.add_row(fact["fact"], day(fact["valid_at"]), day(fact["invalid_at"]))
        self._console.print(table)


def day(moment: str | None) -> str:
    """The day of an ISO time; nothing when there is none."""
    return moment[:10] if moment else ""
