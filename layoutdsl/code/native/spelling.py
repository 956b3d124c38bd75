"""How expressions and names are spelled in emitted C.

`n_C` is the extent C and `i_c` the index c, as in emitted Python. A shape is an array with one
extent per axis of the tensor.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from textwrap import wrap

from layoutdsl.language.integers.expr import Expr, Extent, extents
from layoutdsl.language.integers.languages import C_WITH_LEAST, written
from layoutdsl.language.integers.written_out import folded
from layoutdsl.language.meaning.model import Layout


@dataclass(frozen=True, slots=True)
class Spelling:
    """The spelling of one layout's expressions."""

    layout: Layout

    def name(self, name: str) -> str:
        """Return the emitted name of an index or an extent."""
        return f"n_{name}" if name in self.layout.symbols else f"i_{name}"

    def text(self, expr: Expr) -> str:
        """Return the expression in C, in parentheses where it is more than one word."""
        word = written(folded(expr), C_WITH_LEAST, self.name)
        return word if word.isidentifier() or word.isdigit() or _is_one(word) else f"({word})"

    def unpacked(self, used: Iterable[Expr]) -> list[str]:
        """Return the lines that name those extents of a shape that the expressions need."""
        needed = frozenset[str]().union(*(extents(each) for each in used))
        found = dict[str, int]()
        for number, axis in enumerate(self.layout.element_axes):
            if isinstance(axis.extent, Extent) and axis.extent.name in needed:
                found.setdefault(self.name(axis.extent.name), number)
        named = ", ".join(f"{name} = shape[{number}]" for name, number in found.items())
        return wrap(f"const int64_t {named};", 94, subsequent_indent="    ") if named else []


def _is_one(word: str) -> bool:
    """Whether a text is one call, or stands in one pair of parentheses."""
    rest, depth = word.removeprefix("least"), 0
    for place, letter in enumerate(rest):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return place + 1 == len(rest) > 1
    return False
