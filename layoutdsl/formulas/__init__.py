"""Layouts as formulas of sympy, and their text; the only room with sympy."""
