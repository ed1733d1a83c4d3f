"""GraphStore and GraphReader on Neo4j: schema, queries, conversion of rows, one file each."""
