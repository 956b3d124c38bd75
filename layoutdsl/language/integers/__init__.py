"""Integer expressions: their bounds, bits and conditions, and their values over all indices."""
