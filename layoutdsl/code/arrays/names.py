"""How extents, indices and formulas are spelled in the text of a module."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterable, Sequence

from layoutdsl.code.allowed import RESERVED
from layoutdsl.code.validate.arrays.frame import WIDTH, indented
from layoutdsl.language.integers.bounds import simplify
from layoutdsl.language.integers.expr import Arithmetic, Expr, Extent
from layoutdsl.language.integers.languages import PYTHON, written
from layoutdsl.language.meaning.model import Condition, Layout

_TAKEN = frozenset(
    {
        *keyword.kwlist,
        *dir(builtins),
        *RESERVED,
        *("np", "math", "operator", "Any", "TypeAlias", "Array", "ArrayLike", "NDArray"),
        *("Iterator", "Sequence"),
        *("SOURCE", "TARGET", "CERTIFICATE", "VALIDATED", "FALLBACK"),
        *("pack", "unpack", "convert", "offset", "physical_shape", "physical_shapes"),
        *("words_shape", "pack_words", "unpack_words", "pack_numbers", "unpack_numbers"),
        *("src", "out", "fill", "shape", "index", "tensor", "buffer"),
        *("source", "target", "read", "written"),
        *("part", "slots", "item", "first"),
    }
)
"""Names that a module, or its reader, uses for something else."""


class Names:
    """The names of one layout's extents and indices: its own, if nothing else has them.

    Attributes:
        layout: gives axes and extents.
    """

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._own = dict[str, str]()
        self._used = set(_TAKEN)
        for name in (*layout.symbols, *(axis.name for axis in layout.axes)):
            self._own[name] = self.fresh(name)

    def __getitem__(self, name: str) -> str:
        return self._own.get(name, name)

    def fresh(self, name: str) -> str:
        """Return a name that nothing has so far, and reserve it."""
        while name in self._used or name.startswith("__"):
            name = f"n{name}" if name.startswith("_") else f"{name}_"
        self._used.add(name)
        return name

    def text(self, expr: Expr, language: Arithmetic = PYTHON) -> str:
        """Return an expression, simplified, as arithmetic."""
        return written(simplify(expr), language, self.__getitem__)

    def exactly(self, expr: Expr, language: Arithmetic = PYTHON) -> str:
        """Return an expression as it is printed everywhere, as arithmetic."""
        return written(expr, language, self.__getitem__)

    def tuple(self, exprs: Iterable[Expr]) -> str:
        """Return the tuple of expressions."""
        return tuple_text([self.text(each) for each in exprs])

    def condition(self, condition: Condition, language: Arithmetic = PYTHON) -> str:
        """Return a comparison."""
        left, right = (self.text(each, language) for each in (condition.left, condition.right))
        return f"{left} {condition.operator} {right}"

    def named(self, value: str, lines: Sequence[str]) -> list[str]:
        """Return lines with one before them that names the extents in them, if there are any."""
        return [*self.naming(value, lines), *lines]

    def naming(self, value: str, lines: Iterable[str]) -> list[str]:
        """Return the line that names the extents in other lines; none if there are none.

        Args:
            value: the shape, as text.
            lines: statements.
        """
        said = {word for line in lines for word in re.findall(r"\w+", line)}
        names = list[str]()
        for axis in self.layout.element_axes:
            name = self[axis.extent.name] if isinstance(axis.extent, Extent) else "_"
            names.append(name if name in said and name not in names else "_")
        if all(name == "_" for name in names):
            return []
        return [f"{targets(names)} = {value}"]


def tuple_text(words: Sequence[str]) -> str:
    """Return a tuple of texts."""
    return f"({words[0]},)" if len(words) == 1 else f"({', '.join(words)})"


def targets(names: Sequence[str]) -> str:
    """Return names as the left side of an assignment."""
    return f"{names[0]}," if len(names) == 1 else ", ".join(names)


def literal(text: str) -> str:
    """Return a string literal in ASCII, in double quotes where that is possible."""
    plain = ascii(text)
    return f'"{plain[1:-1]}"' if plain[0] == "'" and '"' not in plain else plain


def constant(name: str, text: str) -> list[str]:
    """Return the lines that give a name to a text."""
    rows = [part for row in text.splitlines(keepends=True) for part in _pieces(row)]
    if len(rows) < 2:
        return [f"{name} = {literal(text)}"]
    return [f"{name} = (", *indented(map(literal, rows)), ")"]


def _pieces(row: str) -> list[str]:
    """A row cut at spaces into pieces that fit a line."""
    found = list[str]()
    while len(row) > WIDTH - 10:
        at = row.rfind(" ", 0, WIDTH - 10) + 1
        if at <= 0:
            break
        found.append(row[:at])
        row = row[at:]
    return [*found, row]
