"""How expressions and names are spelled in emitted Python.

Every name that a user chose gets a prefix: `n_C` is the extent C, `i_c` the index c. Names that the
generator makes up inside expressions start with `_`, which no axis does, and stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from layoutdsl.language.integers.expr import Constant, Expr, Extent, extents
from layoutdsl.language.integers.languages import PYTHON, written
from layoutdsl.language.meaning.model import Layout

INDENT = "    "
WIDTH = 80
"""Characters of a line, before it is moved in."""


@dataclass(frozen=True, slots=True)
class Words:
    """The spelling of one layout's expressions."""

    layout: Layout

    def name(self, name: str) -> str:
        """Return the emitted name of an index, an extent, or a name made by the generator."""
        if name.startswith("_"):
            return name
        return f"n_{name}" if name in self.layout.symbols else f"i_{name}"

    def text(self, expr: Expr) -> str:
        """Return the expression as Python integer arithmetic."""
        return written(expr, PYTHON, self.name)

    def tuple(self, exprs: Iterable[Expr]) -> str:
        """Return the tuple of the expressions."""
        return tuple_text([self.text(each) for each in exprs])

    def unpacked(self, used: Iterable[Expr], shape: str = "shape") -> list[str]:
        """Return the line that names those extents of a shape that the expressions need."""
        needed = frozenset[str]().union(*(extents(each) for each in used))
        names: list[str] = []
        for axis in self.layout.axes:
            fresh = isinstance(axis.extent, Extent) and axis.extent.name in needed
            name = self.text(axis.extent) if fresh else "_"
            names.append("_" if name in names else name)
        if all(name == "_" for name in names):
            return []
        return [f"{targets(names)} = {shape}"]


def tuple_text(words: Sequence[str]) -> str:
    """Return a Python tuple of texts."""
    return f"({words[0]},)" if len(words) == 1 else f"({', '.join(words)})"


def wrapped(before: str, words: Sequence[str], after: str) -> list[str]:
    """Return the words in one line, or one under the other where the line would be long."""
    line = f"{before}{', '.join(words)}{after}"
    if len(line) <= WIDTH:
        return [line]
    return [before, *indented(f"{word}," for word in words), after]


def targets(names: Sequence[str]) -> str:
    """Return names as the left side of an assignment."""
    return f"({names[0]},)" if len(names) == 1 else ", ".join(names) or "()"


def indented(lines: Iterable[str], depth: int = 1) -> list[str]:
    """Return the lines moved in."""
    return [f"{INDENT * depth}{line}" if line else "" for line in lines]


def slice_text(first: str, past: str) -> str:
    """Return the slice from ``first`` up to ``past``."""
    return f"slice({first}, {past})"


def literal(text: str) -> str:
    """Return a string literal in ASCII."""
    return ascii(text)


def is_number(expr: Expr, value: int) -> bool:
    """Return whether the expression is this constant."""
    return isinstance(expr, Constant) and expr.value == value


def offset_parts(layout: Layout) -> list[Expr]:
    """Return every expression that the offset is put together from."""
    return [layout.start, *(each for c in layout.coordinates for each in (c.value, c.extent))]
