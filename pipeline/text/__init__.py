"""Text analysis that is the same for every store and for every query."""
