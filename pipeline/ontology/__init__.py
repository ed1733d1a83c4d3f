"""Ontologies: which types of entities and relations a deployment wants, and what to do with everything else."""
