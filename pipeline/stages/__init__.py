"""The four stages of an episode. Each decides; the store commits; whoever runs them delivers."""
