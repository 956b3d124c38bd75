"""Properties and claims: proved, refuted or undecided."""
