"""The steps from one format of the graph to the next, one file each, in order."""

from __future__ import annotations

from pipeline.graph.neo4j.migrations.step import Step
from pipeline.graph.neo4j.migrations.to_2_stems import STEP as TO_2

STEPS: tuple[Step, ...] = (TO_2,)
"""Each leads to its `version`; the last one to the version that this program writes."""
