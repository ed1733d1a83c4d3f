"""The extractor that asks a chat model: one question an episode, its answer checked against the text."""
