"""What an import from Graphiti has carried over, what it has not, and what it had to decide."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from pydantic import BaseModel, Field

EXAMPLES = 5

NOTES = {
    "episodes": "episodes",
    "entities": "entities",
    "facts": "facts",
    "communities": "communities",
    "mentions": "mentions",
    "facts_stated_apart": "facts without a known episode: each got an episode of its own, its triple",
    "entities_stated_apart": "entities that nothing mentions: told of by one episode of their own",
    "facts_joined": "facts that said the same as another of the same time: joined, kept in its history",
    "facts_expired": "facts that had expired without an end: end where they expired",
    "facts_unnamed": "facts without a relation: RELATES_TO",
    "facts_wordless": "facts without a sentence: one was made of names and relation",
    "entities_unnamed": "entities without a name: named by their id",
    "entities_labels": "entities of several types: the first in the alphabet counts, all stand in their attributes",
    "entities_alike": "entities of the same name and type as another: kept apart, see `factstream merges`",
    "episodes_empty": "episodes without content",
    "episodes_source": "episodes of a source that is unknown here: taken as text",
    "times_naive": "times without an offset: taken as UTC",
    "times_missing": "records without a time of creation: another time of theirs was taken",
    "vectors_other": "vectors of another length: made anew",
    "values_as_text": "attributes that JSON does not know: kept as text",
    "group_renamed": "groups under another name",
}
LOST = {
    "lost_no_id": "records without a uuid",
    "lost_elsewhere": "facts whose ends are no entities of their group",
    "lost_inverted": "facts that end before they begin, or where they begin",
    "lost_time": "times that cannot be read",
    "lost_mention": "mentions of something that is no entity of the group",
    "lost_member": "memberships in a second community",
    "lost_too_long": "episodes whose id is longer than 200 characters",
}


class Report(BaseModel):
    """Counts by what happened, with a few ids of each. Groups add up."""

    groups: list[str] = []
    counts: Counter[str] = Field(default_factory=Counter)
    examples: dict[str, list[str]] = {}

    def note(self, what: str, example: object = None, amount: int = 1) -> None:
        """Count something; `what` is a key of NOTES or LOST."""
        self.counts[what] += amount
        if example is not None and len(found := self.examples.setdefault(what, [])) < EXAMPLES:
            found.append(str(example)[:200])

    def plus(self, other: Report) -> Report:
        """Both together."""
        examples = {
            what: [*self.examples.get(what, []), *other.examples.get(what, [])][:EXAMPLES]
            for what in {*self.examples, *other.examples}
        }
        return Report(
            groups=[*self.groups, *other.groups], counts=self.counts + other.counts, examples=examples
        )

    def lines(self) -> list[str]:
        """As it is shown: what came over, what was decided, what could not be carried over."""
        told = [f"{self.counts[what]} {text}" for what, text in NOTES.items() if self.counts[what]]
        lost = [f"{self.counts[what]} {text}" for what, text in LOST.items() if self.counts[what]]
        shown = [*told, *(["not carried over:", *lost] if lost else ["everything was carried over"])]
        names = {f"{self.counts[w]} {t}": w for w, t in (NOTES | LOST).items()}
        return [
            f"{line} ({', '.join(self.examples[names[line]])})"
            if names.get(line) in self.examples and names[line] not in _PLAIN
            else line
            for line in shown
        ]

    def keep(self, path: Path) -> None:
        """Add it to a file of reports, one a line."""
        with path.open("a", encoding="utf-8") as file:
            file.write(self.model_dump_json() + "\n")

    @classmethod
    def read(cls, path: Path) -> Report:
        """Everything that a file of reports says; of a group that stands there twice, the newest."""
        found: dict[str, Report] = {}
        if path.exists():
            for line in path.read_text("utf-8").splitlines():
                report = cls.model_validate_json(line)
                found["\n".join(report.groups)] = report
        total = cls()
        for report in found.values():
            total = total.plus(report)
        return total


_PLAIN = {"episodes", "entities", "facts", "communities", "mentions"}
