"""Which texts a batch of episodes is about to need vectors for, so that they are embedded in one call."""

from __future__ import annotations

from collections.abc import Iterable

from pipeline.model.episode import Episode, Source, triple_sentence
from pipeline.model.extraction import Extraction
from pipeline.stages.extract import MAX_EMBEDDED_CHARACTERS


def texts_before(episodes: Iterable[Episode]) -> list[str]:
    """Known before any extraction: the episodes' own texts, and the names and sentences of triples."""
    texts: list[str] = []
    for episode in episodes:
        texts.append(episode.text[:MAX_EMBEDDED_CHARACTERS])
        if episode.source is Source.triples:
            for triple in episode.content:
                texts += [triple["subject"]["name"], triple["object"]["name"], triple_sentence(triple)]
    return list(dict.fromkeys(texts))


def texts_after(extractions: Iterable[Extraction]) -> list[str]:
    """Known after extraction: the names of mentions and the sentences of statements."""
    texts: list[str] = []
    for extraction in extractions:
        texts += [mention.name for mention in extraction.mentions]
        texts += [statement.fact for statement in extraction.statements]
    return list(dict.fromkeys(texts))
