"""Events that the tests of the embedded memory add."""

from __future__ import annotations

from typing import Any


def works_at(
    number: int, *, group: str = "g", subject: str | None = None, one: bool = False
) -> dict[str, Any]:
    """Episode `e<number>`: a person works at company `C<number>` from day `number` on."""
    day = f"{2000 + number // 336:04}-{1 + number // 28 % 12:02}-{1 + number % 28:02}"
    return {
        "id": f"e{number}",
        "group_id": group,
        "source": "triples",
        "reference_time": f"{day}T09:00:00Z",
        "content": [
            {
                "subject": {"name": subject or f"P{number % 7}", "type": "Person"},
                "relation": "WORKS_AT",
                "object": {"name": f"C{number}", "type": "Company"},
                "valid_at": day,
                "cardinality": "one" if one else "many",
            }
        ],
    }
