"""What happens to an episode: from raw text to facts in two timelines. Knows no Kafka and no HTTP server."""
