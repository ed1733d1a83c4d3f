"""The HTTP door: the same event as on Kafka, answered once Kafka has it."""
