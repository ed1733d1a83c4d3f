"""The input of all scenarios: for each group a history that has all that delivery can trip over.

A counter whose slot moves with every step, people who change their work and home (read by the scripted model), facts of
many values, news that comes late, an event that is sent twice, a record that says nothing, and an event that is no
episode. Groups of the same variant say the same, so one undisturbed group tells what all of them must become.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

VARIANTS = 3
COUNTER = ("Counter", "STANDS_AT")
START = datetime(2024, 1, 1, 12, tzinfo=UTC)
COMPANIES = ("Acme", "Globex", "Initech", "Umbrella", "Hooli")
TOWNS = ("Paris", "Lima", "Oslo", "Quito")
PEOPLE = ("Ana", "Ben", "Carla", "Dora")


@dataclass(frozen=True)
class Sent:
    """One record for `episodes`. `episode` is None for what is no episode and must become a dead letter."""

    key: bytes
    value: bytes
    episode: str | None

    @property
    def group(self) -> str:
        """The group, as in the key."""
        return self.key.decode("utf-8", "replace")


def history(group: str, events: int, variant: int = 0) -> list[Sent]:
    """So many events of one group, in order."""
    made = [_sent(_event(group, n, variant)) for n in range(events)]
    middle = events // 2
    bad = {"id": "bad", "group_id": group, "source": "triples", "content": [{"subject": {"name": "Nobody"}}]}
    made.insert(middle, Sent(group.encode(), orjson.dumps(bad), None))
    made.insert(middle + 2, made[middle + 1])
    quiet = {
        "id": "quiet",
        "group_id": group,
        "source": "json",
        "reference_time": _day(middle),
        "content": {},
    }
    made.insert(1, _sent(quiet))
    return made


def histories(groups: list[str], events: int) -> list[list[Sent]]:
    """One for each group, variants in turn."""
    return [history(group, events, place % VARIANTS) for place, group in enumerate(groups)]


def slices(made: list[list[Sent]], rounds: int) -> Iterator[list[Sent]]:
    """All histories cut into so many rounds, side by side; each history in its order."""
    for n in range(rounds):
        yield [sent for one in made for sent in one[len(one) * n // rounds : len(one) * (n + 1) // rounds]]


def last_step(events: int) -> str:
    """The value at which the counter must stand."""
    return f"Step {max(n for n in range(events) if n % 2 == 0)}"


def _event(group: str, n: int, variant: int) -> dict[str, Any]:
    """Steps of the counter in between all else, so that order shows everywhere."""
    base = {"id": f"e{n}", "group_id": group, "reference_time": _day(n)}
    if n % 2 == 0:
        step = {
            "subject": {"name": COUNTER[0], "type": "Thing"},
            "relation": COUNTER[1],
            "object": {"name": f"Step {n}", "type": "Value"},
            "valid_at": _day(n),
            "cardinality": "one",
        }
        return base | {"source": "triples", "content": [step]}
    turn = n // 2 + variant
    who, company = PEOPLE[turn % len(PEOPLE)], COMPANIES[turn % len(COMPANIES)]
    kind = (n // 2) % 4
    if kind == 0:
        words, speaker = f"I work at {company}.", {"name": who, "role": "user"}
        return base | {"source": "message", "content": words, "speaker": speaker, "thread_id": "talk"}
    if kind == 1:
        town, other = TOWNS[turn % len(TOWNS)], PEOPLE[(turn + 1) % len(PEOPLE)]
        return base | {"source": "text", "content": f"{who} lives in {town}. {who} knows {other}."}
    if kind == 2:
        late = {"subject": {"name": who, "type": "Person"}, "relation": "WORKS_AT", "cardinality": "one"}
        late |= {"object": {"name": company, "type": "Organization"}, "valid_at": _day(n - 5)}
        return base | {"source": "triples", "reference_time": _day(n - 5), "content": [late]}
    return base | {"source": "json", "content": {"name": who, "team": company, "city": TOWNS[n % 4]}}


def _sent(event: dict[str, Any]) -> Sent:
    return Sent(str(event["group_id"]).encode(), orjson.dumps(event), str(event["id"]))


def _day(n: int) -> str:
    return (START + timedelta(days=n)).isoformat()
