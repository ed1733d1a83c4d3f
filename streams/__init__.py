"""Kafka and Faust: topics, lanes, retries and dead letters, metrics. Delivery only; what an episode means is `pipeline`."""
