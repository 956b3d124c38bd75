"""Counterexamples in plain integers, and ranges that are small enough to be tried."""
