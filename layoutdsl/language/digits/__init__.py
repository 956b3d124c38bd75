"""A layout read once: its digits, swizzles and inverse, and the layout that a table inverts."""
