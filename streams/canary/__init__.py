"""A canary: an episode of factstream's own at intervals, which measures the way from Kafka to the search end to end."""
