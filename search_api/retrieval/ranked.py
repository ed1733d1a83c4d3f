"""A ranked list: what every reranker takes and gives."""

from __future__ import annotations

Ranked = tuple[tuple[str, float], ...]
"""(item key, score), best first. Keys are those of `pipeline.graph.search.item_key`."""
