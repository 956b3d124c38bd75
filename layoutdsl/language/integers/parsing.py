"""The turn of whoever reads Python."""

from __future__ import annotations

from threading import Lock

PARSING = Lock()
"""Is held around `ast.parse`: several jobs read what they generated, each in a thread.

CPython 3.11 counts how deep it is in a tree for all threads of an interpreter together, and ends
with "AST constructor recursion depth mismatch" where two take turns in the middle of one
(python/cpython issue 106905).
"""
