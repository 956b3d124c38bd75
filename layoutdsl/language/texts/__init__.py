"""Texts and places in them, diagnostics, values as text, and where the folders of data are."""
