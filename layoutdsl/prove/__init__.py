"""Claims about layouts, for every shape: obligations, certificates, verdicts."""
