"""The extractor that needs no model endpoint: rules, and small language models when they are installed."""
