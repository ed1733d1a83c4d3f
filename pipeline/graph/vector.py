"""The vectors that a store takes."""

from __future__ import annotations

from collections.abc import Sequence

Vector = Sequence[float]
