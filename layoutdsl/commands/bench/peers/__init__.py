"""Candidates: our own targets, and other packages; one small file each, with one protocol."""
