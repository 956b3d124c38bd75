"""Trusted: theorems, proofs, the checker that follows them, and the solvers that are asked."""
