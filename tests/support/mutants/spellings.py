"""The offset of a layout as engineers write it.

Rounding up in six ways; by Horner's rule, multiplied out, or with a name for every part.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from layoutdsl import Layout
from layoutdsl.language.integers.bounds import ZERO
from layoutdsl.language.integers.expr import (
    CeilDiv,
    Constant,
    Coordinate,
    Expr,
    Extent,
    FloorDiv,
    Index,
    Max,
    Min,
    MixedRadix,
    Mod,
    Mul,
)
from layoutdsl.language.integers.expr import text as written
from layoutdsl.language.syntax import ast
from layoutdsl.language.syntax.parser import parse
from layoutdsl.language.syntax.printer import print_expression
from layoutdsl.language.texts.source import Source

RoundUp: TypeAlias = Callable[[str, Expr], str]

ROUNDING: dict[str, RoundUp] = {
    "ceil": lambda value, by: f"ceil(({value})/({written(by)}))",
    "plus": lambda value, by: f"(({value} + {less_one(by)})/({written(by)}))",
    "minus": lambda value, by: f"((({value} - 1)/({written(by)})) + 1)",
    "opposite": lambda value, by: f"(-((-({value}))/({written(by)})))",
    "roundup": lambda value, by: f"(roundup({value}, {written(by)})/({written(by)}))",
    "shift": lambda value, by: (
        f"(({value} + {less_one(by)}) >> {power(by)})"
        if power(by)
        else f"(({value} + {less_one(by)})/({written(by)}))"
    ),
}

FORMS = ("horner", "expanded", "named")


def less_one(by: Expr) -> str:
    return str(by.value - 1) if isinstance(by, Constant) else f"({written(by)} - 1)"


def power(by: Expr) -> int:
    """The power of two that a number is, or 0."""
    if isinstance(by, Constant) and by.value > 1 and by.value & (by.value - 1) == 0:
        return by.value.bit_length() - 1
    return 0


def spelled(layout: Layout, rounding: str, form: str) -> str:
    """The offset of a layout, in one of the spellings."""
    speller = _Speller(rounding)
    parts = [(speller.value(each.value), speller.value(each.extent)) for each in layout.coordinates]
    match form:
        case "horner":
            total, names = _horner(parts), ""
        case "expanded":
            total, names = _expanded(parts), ""
        case _:
            named = [(f"x{number}", f"X{number}") for number in range(len(parts))]
            total = _horner(named)
            pairs = [
                pair for each in zip(named, parts, strict=True) for pair in zip(*each, strict=True)
            ]
            del pairs[1]  # the most major extent takes no part
            names = ", ".join(f"{name} = {_plain(value)}" for name, value in pairs)
    if layout.start != ZERO:
        total = f"{total} + {speller.value(layout.start)}"
    return f"{_plain(total)} with {names}" if names else _plain(total)


def _horner(parts: list[tuple[str, str]]) -> str:
    total = parts[0][0]
    for value, extent in parts[1:]:
        total = f"(({total})*({extent}) + ({value}))"
    return total


def _expanded(parts: list[tuple[str, str]]) -> str:
    terms = []
    for number, (value, _) in enumerate(parts):
        stride = [extent for _, extent in parts[number + 1 :]]
        terms.append("*".join(f"({each})" for each in [value, *stride]))
    return " + ".join(terms)


def _plain(text: str) -> str:
    """The text with no parentheses but those that it needs."""
    (claim,) = parse(Source("", f"prove L == {text}")).declarations
    assert isinstance(claim, ast.ClaimDecl)
    assert isinstance(claim.predicate, ast.Equals)
    right = claim.predicate.right
    assert not isinstance(right, ast.Reference | ast.Coordinates)
    return print_expression(right)


class _Speller:
    def __init__(self, rounding: str) -> None:
        self._round = ROUNDING[rounding]
        self._shift = rounding == "shift"

    def value(self, expr: Expr) -> str:
        match expr:
            case Index(name) | Extent(name):
                return name
            case CeilDiv(left, right):
                return self._round(self.value(left), right)
            case Mul(CeilDiv(left, right), Constant() as by) if by == right and self._shift:
                up = self._round(self.value(left), right)
                return f"({up} << {power(by)})" if power(by) else f"({up}*{by.value})"
            case FloorDiv(left, right) if self._shift and power(right):
                return f"(({self.value(left)}) >> {power(right)})"
            case Mod(left, right) if self._shift and power(right):
                return f"(({self.value(left)}) & {(1 << power(right)) - 1})"
            case MixedRadix(parts):
                return _horner([self._part(each) for each in parts])
            case Constant() | Min() | Max():
                return f"({written(expr)})"
            case _:
                symbol = written(type(expr)(Index("x"), Index("y"))).strip("xy")
                return f"(({self.value(expr.left)}){symbol}({self.value(expr.right)}))"

    def _part(self, part: Coordinate) -> tuple[str, str]:
        return self.value(part.value), self.value(part.extent)
