"""What episodes cost: prices, who pays for an embedding, and budgets that hold back what exceeds them."""
