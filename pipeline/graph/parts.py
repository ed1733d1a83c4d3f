"""Who owns which part of an entity, when two stages write it side by side.

Entities are resolved for one episode while the facts of the one before are committed; each stage writes what it read
plus its own part. So a commit takes over its own part only: name, type, aliases, description and attributes belong to
`resolve_entities`, the lines of the summary to `resolve_facts`, the community to `update_communities`. Pure.
"""

from __future__ import annotations

from pipeline.model.entity import Entity
from pipeline.stages.matching import summary_of


def with_identity(stored: Entity | None, written: Entity) -> Entity:
    """What `resolve_entities` leaves: its own part over the lines that stand."""
    if stored is None or stored.lines == written.lines:
        return written
    merged = written.model_copy(update={"lines": stored.lines})
    return merged.model_copy(update={"summary": summary_of(merged)})


def with_lines(stored: Entity | None, written: Entity) -> Entity:
    """What `resolve_facts` leaves: its lines under the identity that stands."""
    if stored is None or _identity(stored) == _identity(written):
        return written
    merged = stored.model_copy(update={"lines": written.lines})
    return merged.model_copy(update={"summary": summary_of(merged)})


def _identity(entity: Entity) -> tuple[object, ...]:
    return (
        entity.name,
        entity.type,
        entity.aliases,
        entity.keys,
        entity.description,
        entity.attributes,
    )
