"""The things that the pipeline speaks of: episodes, entities, facts, communities, and the events between stages."""
