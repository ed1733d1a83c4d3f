"""Episodes from one installation to another: written to JSON Lines as the contract's events, and read back."""
