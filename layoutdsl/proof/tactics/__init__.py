"""Whatever builds proofs; nothing here is trusted."""
