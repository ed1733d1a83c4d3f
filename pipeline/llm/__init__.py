"""Chat models: one client for every OpenAI-compatible endpoint, and the reading of what they answer."""
