"""How well the local extractor finds entities and memories.

    python bench/extraction.py --data PATH [--chats PATH] [--failures N]

PATH holds entity_extraction/ and memory_extraction/, each with dataset.jsonl, dataset.es.jsonl, dataset.zh.jsonl and
labels.jsonl (one set of labels for all languages: proper names are kept in the translations).

Names: a name counts when its key equals that of a label (case and spaces do not count). All mentions count against
precision, also those that name a kind of thing that the labels leave out. Types: of the names found, how many have the
label's type; and F1 over (name, type), where a mention without a type is wrong.
Chats (a folder with memory_bank_en.json and memory_bank_cn.json): how many facts the users' turns give.
Memories: an item is recalled when one statement holds at least half of the content words of the item, and loosely
when one statement shares a fifth. The items are in English, so this is only measured there; for the other languages
the report says for how many snippets any fact was found.
"""

import argparse
import asyncio
import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pipeline.extraction.local.extractor import LocalExtractor
from pipeline.extraction.local.facts.relations import RELATIONS
from pipeline.identity import entity_key
from pipeline.model.episode import Episode, Source, Speaker
from pipeline.model.extraction import Extraction
from pipeline.text.analysis import terms

FILES = {"en": "dataset.jsonl", "es": "dataset.es.jsonl", "zh": "dataset.zh.jsonl"}
REFERENCE = datetime(2026, 5, 10, tzinfo=UTC)
FUNCTION_WORDS = frozenset(
    [
        "a",
        "an",
        "the",
        "of",
        "to",
        "in",
        "on",
        "at",
        "for",
        "from",
        "with",
        "by",
        "and",
        "or",
        "but",
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "will",
        "would",
        "has",
        "have",
        "had",
        "it",
        "its",
        "this",
        "that",
        "they",
        "them",
        "their",
        "she",
        "her",
        "he",
        "his",
        "as",
        "than",
        "rather",
        "not",
        "s",
        "t",
    ]
)


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a JSON lines file."""
    with path.open(encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines if line.strip())


def extract(extractor: LocalExtractor, text: str, speaker: str | None = None) -> Extraction:
    """What is found in one snippet, read as a plain text, or as a message of a speaker."""
    episode = Episode(
        id="e",
        group_id="g",
        source=Source.message if speaker else Source.text,
        speaker=Speaker(name=speaker) if speaker else None,
        content=text,
        reference_time=REFERENCE,
        sequence=0,
    )
    return asyncio.run(extractor.extract(episode, ()))


def entities(extractor: LocalExtractor, folder: Path, language: str, failures: int) -> None:
    """Prints precision, recall and F1 of names and types."""
    labels = {row["id"]: row["entities"] for row in rows(folder / "labels.jsonl")}
    right = typed = found_all = wanted_all = 0
    extra: list[str] = []
    missed: list[str] = []
    began = time.perf_counter()
    count = 0
    for row in rows(folder / FILES[language]):
        count += 1
        found = {entity_key(m.name): (m.type or "").lower() for m in extract(extractor, row["text"]).mentions}
        wanted = {entity_key(e["name"]): e["type"] for e in labels[row["id"]]}
        hits = found.keys() & wanted.keys()
        right += len(hits)
        typed += sum(found[key] == wanted[key] for key in hits)
        found_all, wanted_all = found_all + len(found), wanted_all + len(wanted)
        extra += sorted(found.keys() - wanted.keys())
        missed += sorted(wanted.keys() - found.keys())
    seconds = time.perf_counter() - began
    precision, recall = right / max(1, found_all), right / max(1, wanted_all)
    f1 = 2 * right / max(1, found_all + wanted_all)
    typed_f1 = 2 * typed / max(1, found_all + wanted_all)
    print(
        f"{language}  {count:3} texts  {wanted_all:4} names   P {precision:.3f}  R {recall:.3f}  F1 {f1:.3f}   "
        f"type right {typed / max(1, right):.3f}  typed F1 {typed_f1:.3f}   {1000 * seconds / max(1, count):.0f} ms a text"
    )
    if failures:
        print(f"    extra: {', '.join(extra[:failures])}\n    missed: {', '.join(missed[:failures])}")


def memories(extractor: LocalExtractor, folder: Path, language: str, failures: int) -> None:
    """Prints how many memory items some statement holds."""
    labels = {row["id"]: row["memories"] for row in rows(folder / "labels.jsonl")}
    with_facts = count = statements = half = fifth = items = 0
    missed: list[str] = []
    for row in rows(folder / FILES[language]):
        found = extract(extractor, row["text"]).statements
        count, with_facts, statements = count + 1, with_facts + bool(found), statements + len(found)
        sentences = [content(s.fact) for s in found]
        for item in labels[row["id"]]:
            words = content(item["content"])
            best = max((len(words & s) / max(1, len(words)) for s in sentences), default=0.0)
            items, half, fifth = items + 1, half + (best >= 0.5), fifth + (best >= 0.2)
            missed += [] if best >= 0.5 else [f"{item['type']}: {item['content']}"]
    line = f"{language}  {count:3} snippets  {statements} facts in {with_facts} of them"
    if language == "en":
        line += f"   {items} items: recall {half / max(1, items):.3f}, loosely {fifth / max(1, items):.3f}"
    print(line)
    for text in missed[:failures] if language == "en" else ():
        print(f"    missed {text}")


def chats(extractor: LocalExtractor, folder: Path, failures: int) -> None:
    """Prints how many facts the users of casual chats give away, and how many of them have a deed for a relation."""
    for language, name in (("en", "memory_bank_en.json"), ("zh", "memory_bank_cn.json")):
        bank = json.loads((folder / name).read_text("utf-8"))
        turns = [turn["query"] for user in bank.values() for day in user["history"].values() for turn in day]
        found = [(e, s) for turn in turns for e in [extract(extractor, turn, "Ana")] for s in e.statements]
        open_ones = sum(s.relation not in RELATIONS and s.subject == s.object for _, s in found)
        print(f"{language}  {len(turns)} turns  {len(found)} facts, {open_ones} of them about one entity")
        for _, statement in found[:failures]:
            print(f"    {statement.relation}: {statement.fact}")


def content(text: str) -> set[str]:
    """The content words of a sentence."""
    return {word for word in terms(text) if word not in FUNCTION_WORDS}


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data", type=Path, required=True, help="folder with entity_extraction/ and memory_extraction/"
    )
    parser.add_argument("--chats", type=Path, help="folder with memory_bank_en.json and memory_bank_cn.json")
    parser.add_argument("--failures", type=int, default=0, help="show so many failures of each kind")
    options = parser.parse_args()
    extractor = LocalExtractor()
    for warm in ("Hello there, Ana.", "Hola, me llamo Ana.", "你好，我叫张伟。"):
        extract(extractor, warm)
    print("entities")
    for language in FILES:
        entities(extractor, options.data / "entity_extraction", language, options.failures)
    print("memories")
    for language in FILES:
        memories(extractor, options.data / "memory_extraction", language, options.failures)
    if options.chats:
        print("chats")
        chats(extractor, options.chats, options.failures)


if __name__ == "__main__":
    main()
