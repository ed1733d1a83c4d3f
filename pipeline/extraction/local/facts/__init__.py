"""Facts in sentences: a small set of relations, with tense and negation, in three languages."""
