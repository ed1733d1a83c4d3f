"""Retrieval: candidates (plan), their order (fusion, mmr, mentions, distance, cross_encoder), and the loop (search)."""
