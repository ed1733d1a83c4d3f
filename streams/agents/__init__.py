"""The four agents: each decodes an event, runs its stage, and sends on what the stage committed."""
