"""Claims to theorems to verdicts, and certificates on disk."""
