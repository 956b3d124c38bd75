"""Offsets of all elements of a shape, and the axes of two layouts beside each other."""
