"""The episodes that `bench/spine.py` publishes: the same for the same seed."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import Any

PEOPLE = ("Ana", "Ben", "Carla", "Dmitri", "Elif", "Farid", "Grace", "Hiro", "Ines", "Jonas", "Katya", "Liam")
COMPANIES = ("Acme", "Globex", "Initech", "Hooli", "Umbra", "Vandelay", "Wayne Foods", "Stark Metals")
CITIES = ("Lisbon", "Oslo", "Quito", "Kyoto", "Leeds", "Porto", "Turin", "Ghent")
SAYINGS = (
    "I work at {company} now.",
    "I moved to {city} last month.",
    "{other} is my manager at {company}.",
    "Do you know when {other} comes back?",
    "{other} lives in {city}, and works for {company}.",
    "Thanks, that helps!",
    "My sister {other} lives in {city}.",
    "We signed the contract with {company} on 3 May 2024.",
)
START = datetime(2024, 1, 1, tzinfo=UTC)


def crm(events: int, groups: int, run: str, seed: int = 1) -> list[dict[str, Any]]:
    """Triples, one or two an episode: jobs (one at a time) that change, acquaintances, customers."""
    chance = random.Random(seed)
    made = []
    for n in range(events):
        person, other = chance.sample(PEOPLE, 2)
        statements = [_job(chance, person)] if n % 2 else [_knows(person, other)]
        if n % 5 == 0:
            statements.append(_job(chance, other))
        made.append(
            {
                "id": f"crm-{n}",
                "group_id": f"bench-{run}-crm-{n % groups}",
                "source": "triples",
                "reference_time": _at(n),
                "content": statements,
            }
        )
    return made


def chat(events: int, groups: int, run: str, seed: int = 2) -> list[dict[str, Any]]:
    """Short messages of two people a group, in one thread."""
    chance = random.Random(seed)
    made = []
    for n in range(events):
        said = chance.choice(SAYINGS).format(
            company=chance.choice(COMPANIES), city=chance.choice(CITIES), other=chance.choice(PEOPLE[2:])
        )
        group = n % groups
        made.append(
            {
                "id": f"chat-{n}",
                "group_id": f"bench-{run}-chat-{group}",
                "source": "message",
                "speaker": {"name": PEOPLE[(n // groups) % 2], "role": "user"},
                "thread_id": "bench",
                "reference_time": _at(n),
                "content": said,
            }
        )
    return made


def probes(events: int, run: str) -> list[dict[str, Any]]:
    """Triples whose names and words occur nowhere else, so that a search for them has one right answer."""
    return [
        {
            "id": f"probe-{n}",
            "group_id": f"bench-{run}-crm-{n % 7}",
            "source": "triples",
            "reference_time": _at(n),
            "content": [
                {
                    "subject": {"name": f"Zq{n}person", "type": "Person"},
                    "relation": "WORKS_AT",
                    "object": {"name": f"Zq{n}company", "type": "Company"},
                    "cardinality": "one",
                }
            ],
        }
        for n in range(events)
    ]


def _job(chance: random.Random, person: str) -> dict[str, Any]:
    return {
        "subject": {"name": person, "type": "Person"},
        "relation": "WORKS_AT",
        "object": {"name": chance.choice(COMPANIES), "type": "Company"},
        "cardinality": "one",
    }


def _knows(person: str, other: str) -> dict[str, Any]:
    return {
        "subject": {"name": person, "type": "Person"},
        "relation": "KNOWS",
        "object": {"name": other, "type": "Person"},
    }


def _at(n: int) -> str:
    return (START + timedelta(hours=n)).isoformat()
