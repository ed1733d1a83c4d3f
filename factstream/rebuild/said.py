"""Said: what an extractor answered in a rebuild, kept line by line, so that no model is paid twice for it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from pipeline.model.extraction import Extraction


class Said:
    """Extractions by episode id, in a file that outlives a kill. The last answer about an episode stands."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known = {name for name, _ in self}

    def __contains__(self, episode_id: str) -> bool:
        return episode_id in self._known

    def __iter__(self) -> Iterator[tuple[str, Extraction]]:
        """All answers, in the order in which they came. A line that a kill has cut off is passed over."""
        if not self._path.exists():
            return
        with self._path.open(encoding="utf-8") as lines:
            for line in lines:
                try:
                    name, extraction = json.loads(line)
                    yield name, Extraction.model_validate(extraction)
                except (ValueError, ValidationError):
                    continue

    def of(self, ids: set[str]) -> dict[str, Extraction]:
        """The answers about some episodes."""
        wanted = ids & self._known
        return {name: said for name, said in self if name in wanted} if wanted else {}

    def add(self, episode_id: str, extraction: Extraction) -> None:
        """Keep an answer."""
        line = json.dumps([episode_id, extraction.model_dump(mode="json")], ensure_ascii=False)
        with self._path.open("a", encoding="utf-8") as lines:
            # The line before may have been cut off.
            lines.write(f"\n{line}\n")
        self._known.add(episode_id)
