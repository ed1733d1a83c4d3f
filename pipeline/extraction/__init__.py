"""Extractors: what an episode says, as mentions and statements."""
