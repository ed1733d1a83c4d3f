"""Taking back and correcting by hand: pure decisions over a ledger of the group, and the operator who commits them."""
