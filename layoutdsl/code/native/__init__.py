"""The native target."""

WIDTHS = (1, 2, 4, 8)
"""Bytes of the elements that kernels are made for."""
