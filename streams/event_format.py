"""The version of what stands in the topics, in a header of every record that factstream sends.

It grows when a reader of the version before would misread a record. Records without the header, such as those of other
producers, have the first version: that of the contract.
"""

from __future__ import annotations

from collections.abc import Iterable

from pipeline.errors import NewerFormat

EVENT_FORMAT = 1
FORMAT_HEADER = "factstream-format"


def stamped(headers: Iterable[tuple[str, bytes]]) -> list[tuple[str, bytes]]:
    """The headers with the version; one that is there already (of a record that is sent again) stays."""
    given = list(headers)
    if any(name == FORMAT_HEADER for name, _ in given):
        return given
    return [*given, (FORMAT_HEADER, str(EVENT_FORMAT).encode())]


def check_format(place: str, header: bytes | None) -> None:
    """NewerFormat when a record at `place` has a version that this program does not know. What is no number is not
    taken for a version."""
    if header is not None and header.isdigit() and int(header) > EVENT_FORMAT:
        raise NewerFormat(
            f"the record at {place} has format {int(header)}, this program knows up to {EVENT_FORMAT}: nothing of it is "
            "acknowledged; use a newer program"
        )
