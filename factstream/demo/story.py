"""The episodes of the demonstration: Lucía Ferrer's printer prints ghost images, and her life goes on meanwhile.

The chat is held in English, Spanish and Chinese; the CRM sends structured changes. One change of address arrives
late, after everything else.
"""

from __future__ import annotations

from typing import Any

CUSTOMER = "Lucía Ferrer"
LATE_ADDRESS = "crm-6"


def chat(group: str) -> list[dict[str, Any]]:
    """The support conversation: a restart does not help, a new cartridge does."""
    lines = [
        (
            "en",
            "2024-03-04T09:00:00Z",
            CUSTOMER,
            "user",
            "Hello, my LaserFox 300 prints ghost images on every page.",
        ),
        (
            "en",
            "2024-03-04T09:02:00Z",
            "Marco Bianchi",
            "assistant",
            "Sorry to hear that. Please restart the printer.",
        ),
        (
            "en",
            "2024-03-04T09:20:00Z",
            CUSTOMER,
            "user",
            "I restarted the LaserFox 300 today. It still prints ghost images.",
        ),
        (
            "en",
            "2024-03-04T09:24:00Z",
            "Marco Bianchi",
            "assistant",
            "Then it is the drum. I ordered a DR-41 cartridge for you.",
        ),
        (
            "en",
            "2024-03-07T15:10:00Z",
            CUSTOMER,
            "user",
            "I replaced the cartridge today. The LaserFox 300 works again, thank you!",
        ),
        (
            "es",
            "2024-05-20T10:00:00Z",
            "Diego Salas",
            "user",
            "Hola, trabajo en Imprenta Otoño y vivo en Sevilla.",
        ),
        (
            "es",
            "2024-05-20T10:03:00Z",
            "Diego Salas",
            "user",
            "Mi jefa compró una LaserFox 300 el mes pasado.",
        ),
        (
            "es",
            "2024-09-02T08:30:00Z",
            "Diego Salas",
            "user",
            "Ya no trabajo en Imprenta Otoño. Ahora trabajo en Papelera Sur.",
        ),
        ("zh", "2024-06-11T02:00:00Z", "王晓岚", "user", "你好，我住在苏州，我在星河科技工作。"),
        ("zh", "2024-06-11T02:05:00Z", "王晓岚", "user", "我上周买了LaserFox 300，打印出来有重影。"),
        ("zh", "2024-10-15T02:00:00Z", "王晓岚", "user", "我上个月搬到了杭州。"),
    ]
    return [
        {
            "id": f"chat-{language}-{number}",
            "group_id": group,
            "source": "message",
            "content": text,
            "speaker": {"name": name, "role": role},
            "reference_time": at,
            "thread_id": f"chat-{language}",
            "source_description": "support chat",
            "metadata": {"channel": "chat", "language": language},
        }
        for number, (language, at, name, role, text) in enumerate(lines, 1)
    ]


def crm(group: str) -> list[dict[str, Any]]:
    """The history of the customer, all but the change that comes late."""
    changes = [
        ("2021-02-01", "WORKS_AT", "Brightwell Ltd", "Company", f"{CUSTOMER} works at Brightwell Ltd"),
        ("2021-02-01", "HAS_PLAN", "Basic Plan", "Plan", f"{CUSTOMER} has the Basic Plan"),
        ("2021-03-15", "LIVES_IN", "Leeds", "City", f"{CUSTOMER} lives in Leeds"),
        ("2023-06-01", "HAS_PLAN", "Pro Plan", "Plan", f"{CUSTOMER} has the Pro Plan"),
        ("2024-01-15", "WORKS_AT", "Kestrel Print", "Company", f"{CUSTOMER} works at Kestrel Print"),
    ]
    return [_change(group, f"crm-{n}", *change) for n, change in enumerate(changes, 1)]


def late_address(group: str) -> dict[str, Any]:
    """She moved to Valencia in September 2022; the CRM tells it only now."""
    return _change(
        group, LATE_ADDRESS, "2022-09-01", "LIVES_IN", "Valencia", "City", f"{CUSTOMER} lives in Valencia"
    )


def _change(
    group: str, episode_id: str, since: str, relation: str, name: str, kind: str, fact: str
) -> dict[str, Any]:
    return {
        "id": episode_id,
        "group_id": group,
        "source": "triples",
        "content": [
            {
                "subject": {"name": CUSTOMER, "type": "Person"},
                "relation": relation,
                "object": {"name": name, "type": kind},
                "fact": fact,
                "valid_at": since,
                "cardinality": "one",
            }
        ],
        "reference_time": f"{since}T09:00:00Z",
        "source_description": "CRM webhook",
        "metadata": {"channel": "crm"},
    }
