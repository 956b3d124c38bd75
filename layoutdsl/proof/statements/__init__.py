"""Trusted: what has to hold of a layout, a table or a claim, as theorems."""
