"""What is found of a claim: a proof first, then a counterexample, or why neither."""
