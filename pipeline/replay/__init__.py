"""The log told again: what was extracted, through the stages after it, into another graph."""
