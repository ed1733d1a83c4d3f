"""What bench/cost.py needs to measure graphiti-core beside factstream, in an environment of its own."""
