"""The text that modules of words, codes and records carry."""
