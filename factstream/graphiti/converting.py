"""Reads groups of Graphiti and writes them as an archive. The source is only read."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from factstream.graphiti import queries as q
from factstream.graphiti.group import GroupReading
from factstream.graphiti.report import Report
from factstream.graphiti.values import text
from factstream.transfer.archive_file import ArchiveWriter
from pipeline.errors import SettingError
from pipeline.graph.archive import GroupRecord, Record
from pipeline.graph.neo4j.connection import Neo4jConnection, Row

UNNAMED = "graphiti"
"""What Graphiti's default group, the empty text, is called here."""
MAX_GROUP_ID = 128


async def groups_of(source: Neo4jConnection) -> list[str]:
    """The groups that Graphiti wrote; the empty text is its default one."""
    return sorted(row["id"] for row in await source.run("graphiti", q.GROUPS, {}))


async def rows_of(source: Neo4jConnection, group: str) -> int:
    """How many rows of a group there are to read."""
    return int((await source.run("graphiti", q.COUNTS, {"group": group}))[0]["rows"])


def names_of(groups: list[str], renamed: Mapping[str, str]) -> dict[str, str]:
    """What each group is called here. Raises SettingError when two would be one."""
    names = {group: renamed.get(group) or _allowed(group) for group in groups}
    taken: dict[str, str] = {}
    for group, name in names.items():
        if name in taken:
            raise SettingError(
                f"groups {taken[name]!r} and {group!r} would both be {name!r}: rename one, --group OLD=NEW"
            )
        taken[name] = group
    return names


def _allowed(group: str) -> str:
    cleaned = "".join(c for c in group if c.isprintable())[:MAX_GROUP_ID].strip()
    return cleaned or UNNAMED


class Converting:
    """Turns groups of one source into an archive.

    Args:
        source: opened.
        dimension: length of the vectors at the target.
        vectors: keep those of the source that have this length; else all are made anew.
        at: when the import is.
    """

    def __init__(self, source: Neo4jConnection, dimension: int, *, vectors: bool, at: datetime) -> None:
        self._source = source
        self._dimension = dimension
        self._vectors = vectors
        self._at = at

    async def run(
        self, names: Mapping[str, str], path: Path, reports: Path, on_row: Callable[[], Any]
    ) -> None:
        """Write the groups, under their names here, to `path`, and what was decided to `reports`.

        Goes on where an earlier run was interrupted, with the group in which it ended.
        """
        originals = {name: group for group, name in names.items()}
        with ArchiveWriter(path, sorted(originals), None, self._dimension) as writer:
            for name in sorted(originals):
                if name in writer.done:
                    continue
                writer.begin(name)
                report = Report(groups=[name])
                if name != originals[name]:
                    report.note("group_renamed", f"{originals[name]!r} is {name!r}")
                async for record in self._group(originals[name], name, report, on_row):
                    writer.put(record)
                report.keep(reports)
                writer.flush()
            writer.finish()

    async def _group(
        self, group: str, name: str, report: Report, on_row: Callable[[], Any]
    ) -> AsyncIterator[Record]:
        reading = GroupReading(name, self._dimension, self._at, report)
        yield GroupRecord(id=name)
        for record in reading.communities([row async for row in self._rows(q.COMMUNITIES, group)]):
            yield record
        telling = {text(row["id"]) async for row in self._rows(q.TELLING, group)}
        async for row in self._rows(q.EPISODES, group):
            for record in reading.episodes([row], telling):
                yield record
            on_row()
        async for row in self._rows(q.ENTITIES, group):
            for record in reading.entities([row]):
                yield record
            on_row()
        reading.mentions([row async for row in self._rows(q.MENTIONS, group)])
        same: list[Row] = []
        async for row in self._rows(q.FACTS, group):
            if same and _triplet(row) != _triplet(same[0]):
                for record in reading.facts(same):
                    yield record
                same = []
            same.append(row)
            on_row()
        for record in reading.facts(same):
            yield record
        for record in reading.rest():
            yield record

    def _rows(self, query: str, group: str) -> AsyncIterator[Row]:
        return self._source.stream("graphiti", query, {"group": group, "vectors": self._vectors})


def _triplet(row: Row) -> tuple[str, str, str]:
    return text(row["source"]), text(row["props"].get("name")).strip(), text(row["target"])
