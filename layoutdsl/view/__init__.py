"""Layouts for human eyes: where an element lies, what a slot holds, and the buffer as a grid.

Everything here is computed from the meaning, `Layout.offset`, and none of it is trusted by a proof.
The rooms that prove, generate and parse are not known here, and nothing is printed.
"""
