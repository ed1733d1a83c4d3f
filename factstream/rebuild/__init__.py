"""Rebuilding a group from its log: a shadow graph in a file, filled beside the live graph and swapped in at once."""
