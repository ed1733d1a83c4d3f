"""EntityRows: rows of communities, entities and mentions, to records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from factstream.graphiti.remembered import Remembered
from factstream.graphiti.values import attributes, text
from pipeline.graph.archive import CommunityRecord, EntityRecord, Record
from pipeline.identity import entity_key
from pipeline.model.community import Community
from pipeline.model.entity import Entity
from pipeline.model.extraction import Mention

# Properties that have a meaning of their own; the others are attributes.
_ENTITY = frozenset({"uuid", "group_id", "name", "summary", "created_at", "name_embedding", "labels"})


class EntityRows:
    """Reads the communities of a group, then its entities, then which episode mentions which."""

    def __init__(self, group: Remembered) -> None:
        self._group = group
        self._community: dict[str, str] = {}
        self._keys: set[tuple[str, str]] = set()

    def communities(self, rows: Iterable[Mapping[str, Any]]) -> Iterator[Record]:
        """Communities; who belongs to them is told with the entities."""
        for row in rows:
            props = row["props"]
            if not (uuid := text(props.get("uuid"))):
                self._group.report.note("lost_no_id", "Community")
                continue
            for member in row["members"]:
                if self._community.setdefault(text(member), uuid) != uuid:
                    self._group.report.note("lost_member", f"{uuid}: {member}")
            self._group.report.note("communities")
            yield CommunityRecord(
                community=Community(
                    id=uuid,
                    group_id=self._group.id,
                    name=text(props.get("name")) or uuid,
                    summary=text(props.get("summary")),
                    created_at=self._group.created(props, uuid),
                ),
                vector=self._group.vector(row["vector"], uuid),
            )

    def entities(self, rows: Iterable[Mapping[str, Any]]) -> Iterator[Record]:
        """Entities, and the types, summaries and attributes that Graphiti gave them."""
        for row in rows:
            props = row["props"]
            if not (uuid := text(props.get("uuid"))):
                self._group.report.note("lost_no_id", f"Entity {text(props.get('name'))}")
                continue
            mention = self._mention(props, row["labels"], uuid)
            self._group.mentions[uuid] = mention
            key = entity_key(mention.name)
            if (key, mention.type or "") in self._keys:
                self._group.report.note("entities_alike", mention.name)
            self._keys.add((key, mention.type or ""))
            self._group.report.note("entities")
            yield EntityRecord(
                entity=Entity(
                    id=uuid,
                    group_id=self._group.id,
                    name=mention.name,
                    type=mention.type,
                    keys=(key,) if key else (),
                    summary=mention.summary or "",
                    description=mention.summary or "",
                    attributes=mention.attributes,
                    created_at=self._group.created(props, uuid),
                    community_id=self._community.get(uuid),
                ),
                vector=self._group.vector(row["vector"], uuid),
            )

    def _mention(self, props: Mapping[str, Any], labels: Sequence[str], uuid: str) -> Mention:
        name = text(props.get("name")).strip()
        if not entity_key(name):
            self._group.report.note("entities_unnamed", uuid)
            name = uuid
        types = sorted(label for label in labels if label != "Entity")
        more = attributes(props, _ENTITY, self._group.report, uuid)
        if len(types) > 1:
            self._group.report.note("entities_labels", f"{name}: {', '.join(types)}")
            more["labels"] = types
        summary = text(props.get("summary")).strip()
        return Mention(name=name, type=types[0] if types else None, summary=summary or None, attributes=more)

    def mentions(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Which episode mentions which entity."""
        for row in rows:
            episode, entity = text(row["episode"]), text(row["entity"])
            if episode not in self._group.episodes or entity not in self._group.mentions:
                self._group.report.note("lost_mention", f"{episode or 'none'}: {entity or 'none'}")
                continue
            self._group.told[episode].setdefault(entity, [])
            self._group.report.note("mentions")
