"""Whether a worker does its work, and if not, why: pure judgement over what lanes, consumer and probes tell."""
