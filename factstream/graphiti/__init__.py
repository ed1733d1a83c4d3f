"""Carries a graph that Graphiti wrote into Neo4j on: read, turned into an archive, taken in as any archive is."""
