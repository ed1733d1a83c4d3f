"""The grammar behind `pipeline.timeline.dates`: one file per language, shared calendar and cascade."""
