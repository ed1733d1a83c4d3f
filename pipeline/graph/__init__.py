"""The graph behind the stages: one port, and one package per database."""
