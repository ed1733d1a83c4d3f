"""The ledger that takes the place of another, and what consumers of changes are to be told of it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import orjson

from pipeline.curation.telling import FACTS_BY, present_outputs, wordless
from pipeline.graph.ledger import NOTICE, Ledger, Mentioned
from pipeline.model.changes import Change, FactChange
from pipeline.model.community import Community
from pipeline.model.fact import EntityRef, Fact, last_view
from pipeline.model.judgement import JudgedEpisode
from pipeline.model.provenance import Contribution
from pipeline.timeline.reconcile import Occasion, change_between, event_of

Told = Mapping[str, FactChange]
"""By fact id, the last change that consumers were told."""


def replaced(live: Ledger, shadow: Ledger, told: Told) -> Ledger:
    """The live ledger with everything that the shadow says, and nothing else.

    What is the same keeps its place, its revision and its moment of creation, so that the difference is what differs.
    A fact that differs from what stands, or from what consumers were told, has a higher revision than both.
    """
    waiting = _waiting(live)
    after = replace(
        live,
        episodes=live.episodes | shadow.episodes,
        unfinished=frozenset(),
        entities=shadow.entities,
        contributions=_placed(live.contributions, shadow.contributions),
        evidence=shadow.evidence,
        facts={
            name: _revised(fact, live.facts.get(name), None if name in waiting else told.get(name))
            for name, fact in shadow.facts.items()
        },
        communities={
            name: _as_it_stood(community, live.communities.get(name))
            for name, community in shadow.communities.items()
        },
        merges=shadow.merges,
        judged=_remembered(live, shadow),
    )
    return replace(after, outputs=present_outputs(after))


def changes_of(live: Ledger, after: Ledger, told: Told, occasion: Occasion) -> list[FactChange]:
    """What brings a consumer that holds `told` to what `after` says."""
    events = []
    for name, fact in sorted(after.facts.items()):
        before, last = live.facts.get(name), told.get(name)
        if fact == before or (before is None and last is not None and _says(last, fact)):
            continue
        if (change := _change(before, fact, last)) is not None:
            events.append(event_of(change, fact, occasion))
    for name, fact in sorted(live.facts.items()):
        last = told.get(name)
        if name not in after.facts and (fact.beliefs[-1].holds or _holds(last)):
            gone = wordless(fact, after.entities, occasion.at)
            revision = max(gone.revision, last.revision + 1 if last else 0)
            events.append(
                event_of(Change.retracted, gone.model_copy(update={"revision": revision}), occasion)
            )
    for name, last in sorted(told.items()):
        if name not in after.facts and name not in live.facts and _holds(last):
            events.append(_retraction(last, after, occasion))
    return events


def _revised(fact: Fact, before: Fact | None, last: FactChange | None) -> Fact:
    if before is not None and fact.model_copy(update={"revision": before.revision}) == before:
        if last is None or _says(last, before) or (last.change is Change.retracted and not _believed(before)):
            return before
    elif before is None and (last is None or _says(last, fact)):
        return fact
    floor = max(before.revision if before else 0, last.revision if last else 0)
    return fact.model_copy(update={"revision": max(fact.revision, floor + 1)})


def _change(before: Fact | None, fact: Fact, last: FactChange | None) -> Change | None:
    if not _believed(fact):
        known = _holds(last) or (last is None and before is not None and _believed(before))
        return Change.retracted if known else None
    if before is None or not _believed(before):
        if last is None:
            return Change.asserted if before is None else Change.reopened
        return Change.supported if _holds(last) else Change.reopened
    return change_between(before, fact) or Change.supported


def _says(last: FactChange, fact: Fact) -> bool:
    """Whether the last that consumers were told of a fact is what it says."""
    if last.revision != fact.revision or _holds(last) != _believed(fact):
        return False
    return not _believed(fact) or last.fact == last_view(fact)


def _holds(last: FactChange | None) -> bool:
    return last is not None and last.change is not Change.retracted


def _believed(fact: Fact) -> bool:
    return fact.beliefs[-1].holds


def _retraction(last: FactChange, after: Ledger, occasion: Occasion) -> FactChange:
    """That a fact is gone which only consumers know, without its words."""

    def ref(old: EntityRef) -> EntityRef:
        entity = after.entities.get(old.id)
        return EntityRef(id=old.id, name=entity.name if entity else "")

    bare = {
        "source": ref(last.fact.source),
        "target": ref(last.fact.target),
        "relation": "",
        "fact": "",
        "attributes": {},
        "episodes": (),
        "valid_at": None,
        "invalid_at": None,
        "expired_at": occasion.at,
    }
    return FactChange(
        change=Change.retracted,
        fact=last.fact.model_copy(update=bare),
        group_id=occasion.group_id,
        episode_id=occasion.episode_id,
        at=occasion.at,
        revision=last.revision + 1,
    )


def _remembered(live: Ledger, shadow: Ledger) -> dict[tuple[str, str], JudgedEpisode]:
    """The shadow's records of judges, and what older ones say of questions that did not come up this time."""
    found = dict(live.judged)
    for place, record in shadow.judged.items():
        older = live.judged.get(place)
        if older is None:
            found[place] = record
            continue
        mentions = {v.mention: v for v in older.mentions} | {v.mention: v for v in record.mentions}
        statements = {(v.index, v.said): v for v in (*older.statements, *record.statements)}
        update = {"mentions": tuple(mentions.values()), "statements": tuple(statements.values())}
        found[place] = older.model_copy(update=update)
    return found


def _as_it_stood(community: Community, before: Community | None) -> Community:
    """A community with the moment of its creation, and with its members in their old order if they are the same."""
    if before is None:
        return community
    same = set(community.members) == set(before.members)
    update = {"created_at": before.created_at, "members": before.members if same else community.members}
    return community.model_copy(update=update)


def _waiting(ledger: Ledger) -> set[str]:
    """Facts of which a change is committed and may still be on its way to consumers."""
    found: set[str] = set()
    for (_, stage), text in ledger.outputs.items():
        if stage in (FACTS_BY, NOTICE):
            found |= {change["fact"]["id"] for change in orjson.loads(text)["changes"]}
    return found


def _placed(
    live: Mapping[Mentioned, Contribution], shadow: Mapping[Mentioned, Contribution]
) -> dict[Mentioned, Contribution]:
    """The shadow's contributions; at their old places when all of them stood in the same order."""
    if not _in_order(shadow.values(), live):
        return dict(shadow)
    return {
        name: one.model_copy(update={"place": live[name].place, "at": live[name].at})
        for name, one in shadow.items()
    }


def _in_order(contributions: Iterable[Contribution], live: Mapping[Mentioned, Contribution]) -> bool:
    last = None
    for one in sorted(contributions, key=lambda c: (c.place, c.episode_id)):
        stood = live.get((one.episode_id, one.entity_id))
        if stood is None or (last is not None and (stood.place, one.episode_id) < last):
            return False
        last = (stood.place, one.episode_id)
    return True
