"""Layouts and formulas that are wrong by one token, judged by the prover and by plain integers."""
