"""A small history that has all that resolution can trip over, and what must be left of it in the graph."""

from __future__ import annotations

from typing import Any

EPISODES = 7
ENTITIES = {"Ana", "Ben", "Carla", "Acme", "Globex", "Initech"}
FACTS = {
    # (source, relation, target): (valid_at, invalid_at, episodes)
    ("Ana", "WORKS_AT", "Acme"): ("2024-01-01", "2024-02-01", ["e1"]),
    ("Ben", "WORKS_AT", "Acme"): ("2024-01-01", None, ["e1"]),
    ("Ana", "KNOWS", "Ben"): ("2024-01-02", "2024-06-01", ["e2", "e4", "e6"]),
    ("Ana", "WORKS_AT", "Globex"): ("2024-03-01", None, ["e3"]),
    ("Carla", "KNOWS", "Ana"): ("2024-04-01", None, ["e4"]),
    ("Ana", "WORKS_AT", "Initech"): ("2024-02-01", "2024-03-01", ["e5"]),
}
EVIDENCE = 8
MENTIONS = 14
COMMUNITIES = [{"Ana", "Carla", "Globex"}, {"Ben", "Acme"}]
STATES = {"quiet": "skipped"} | {f"e{n}": "committed" for n in range(1, 7)}


def story(group_id: str) -> list[dict[str, Any]]:
    """Eight events, seven episodes: a slot that changes, news that comes late, repeats, an end, a repeated event, and
    a record that says nothing."""

    def triples(name: str, day: str, *content: dict[str, Any]) -> dict[str, Any]:
        return {
            "id": name,
            "group_id": group_id,
            "source": "triples",
            "reference_time": f"{day}T12:00:00Z",
            "content": list(content),
        }

    second = triples("e2", "2024-01-02", knows("Ana", "Ben", valid_at="2024-01-02"))
    return [
        triples("e1", "2024-01-01", works_at("Ana", "Acme", "2024-01"), works_at("Ben", "Acme", "2024-01")),
        second,
        triples("e3", "2024-03-01", works_at("Ana", "Globex", "2024-03-01")),
        {
            "id": "quiet",
            "group_id": group_id,
            "source": "json",
            "reference_time": "2024-03-02T12:00:00Z",
            "content": {},
        },
        second,
        triples(
            "e4",
            "2024-04-01",
            knows("Ana", "Ben", valid_at="2024-01-02"),
            knows("Carla", "Ana", valid_at="2024-04-01", attributes={"since": "school"}),
        ),
        triples("e5", "2024-05-01", works_at("Ana", "Initech", "2024-02")),
        triples("e6", "2024-06-02", knows("Ana", "Ben", valid_at="2024-01-02", invalid_at="2024-06-01")),
    ]


def works_at(person: str, company: str, valid_at: str) -> dict[str, Any]:
    """A slot of one value."""
    return {
        "subject": {"name": person, "type": "Person"},
        "relation": "WORKS_AT",
        "object": {"name": company, "type": "Company", "attributes": {"named_by": person}},
        "fact": f"{person} works at {company}",
        "valid_at": valid_at,
        "cardinality": "one",
    }


def knows(who: str, whom: str, **more: Any) -> dict[str, Any]:
    """A relation of many values."""
    return {
        "subject": {"name": who, "type": "Person"},
        "relation": "KNOWS",
        "object": {"name": whom, "type": "Person"},
        **more,
    }
