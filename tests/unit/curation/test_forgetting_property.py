"""A history from which episodes were taken back is the history that never had them."""

from __future__ import annotations

import asyncio
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.curation.telling import changes_between
from pipeline.model.changes import Change
from pipeline.timeline.reconcile import Occasion
from tests.unit.curation.conftest import GROUP, START, meaning, story_of

NAMES = ["Ana", "ana", "Java", "Lima", "Acme"]
TYPES = [None, None, "Person", "Place"]
DAYS = ["2024-01-01", "2024-02-01", "2024-03-01", "2024-04-01"]


def end() -> st.SearchStrategy[dict[str, Any]]:
    return st.builds(
        lambda name, kind, attributes: (
            {"name": name}
            | ({"type": kind} if kind else {})
            | ({"attributes": attributes} if attributes else {})
        ),
        st.sampled_from(NAMES),
        st.sampled_from(TYPES),
        st.sampled_from([{}, {}, {"a": 1}, {"a": 2, "b": 3}]),
    )


def triple() -> st.SearchStrategy[dict[str, Any]]:
    return st.builds(
        lambda subject, relation, value, cardinality, valid, invalid, number: {
            "subject": subject,
            "relation": relation,
            "object": value,
            "fact": f"{subject['name']} {relation} {value['name']} no. {number}",
            "cardinality": cardinality,
            **({"valid_at": valid} if valid else {}),
            **({"invalid_at": invalid} if invalid and (not valid or valid < invalid) else {}),
        },
        end(),
        st.sampled_from(["LIVES_IN", "KNOWS"]),
        end(),
        st.sampled_from(["one", "one", "many"]),
        st.sampled_from([None, *DAYS]),
        st.sampled_from([None, None, None, *DAYS]),
        st.integers(0, 3),
    )


HISTORIES = st.lists(
    st.tuples(st.lists(triple(), min_size=1, max_size=3), st.sampled_from(DAYS)), min_size=2, max_size=6
)


@given(HISTORIES, st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_forgetting_an_episode_is_never_having_had_it(
    history: list[tuple[list[dict[str, Any]], str]], data: st.DataObject
) -> None:
    numbered = [(number, triples, at) for number, (triples, at) in enumerate(history, start=1)]
    gone = data.draw(st.sets(st.integers(1, len(history)), min_size=1, max_size=2))
    asyncio.run(compare(numbered, gone))


async def compare(numbered: list[tuple[int, list[dict[str, Any]], str]], gone: set[int]) -> None:
    async with story_of(numbered) as whole, story_of([e for e in numbered if e[0] not in gone]) as other:
        before = await whole.ledger()
        whole.line.now[0] = START
        whole.later()
        done = await whole.operator.forget_episodes(GROUP, [f"e{number}" for number in gone])
        after = await whole.ledger()
        told, wanted = meaning(after), meaning(await other.ledger())
        for part, content in wanted.items():
            if part != "summaries":
                assert told[part] == content, part
        assert summaries(after) == summaries(await other.ledger())
        # A consumer that folds the changes has exactly what is believed.
        believed = {f.id: f.revision for f in before.facts.values() if f.beliefs[-1].holds}
        for change in done.changes:
            assert (
                change.revision > before.facts[change.fact.id].revision
                if change.fact.id in before.facts
                else True
            )
            if change.change is Change.retracted:
                believed.pop(change.fact.id)
            else:
                believed[change.fact.id] = change.revision
        assert believed.keys() == {f.id for f in after.facts.values() if f.beliefs[-1].holds}
        assert not changes_between(after, after, Occasion(GROUP, "e1", START))


def summaries(ledger: Any) -> list[tuple[str, str | None, list[str]]]:
    """Lines in any order: which of two facts was spoken of last may be known only to what is forgotten."""
    return sorted(
        (e.name, str(e.type), sorted(line.text for line in e.lines)) for e in ledger.entities.values()
    )
