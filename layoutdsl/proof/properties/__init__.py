"""Trusted: what each claim says, in words, as theorems, and in plain integers; a file for each."""
