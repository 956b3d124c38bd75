"""The text of numpy modules."""
