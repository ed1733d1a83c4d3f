"""Names in running text: where they stand and what kind of thing they name."""
