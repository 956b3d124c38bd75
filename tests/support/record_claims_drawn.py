"""Claims of records drawn at random: true by how they are made, and changed in one number.

A formula is written out of the coordinates of a part, digit by digit, and worked out here by rules
of its own. Whether a claim is true is told by `Record.bit_address`, element by element.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from math import prod
from random import Random

from layoutdsl import Record
from layoutdsl.language.integers.expr import (
    Add,
    Constant,
    Expr,
    Extent,
    Index,
    MixedRadix,
    Mul,
    text,
)
from layoutdsl.language.meaning.part import Part
from layoutdsl.language.meaning.record import Field

Values = Mapping[str, int]


CALLED: dict[str, Callable[..., int]] = {
    "roundup": lambda whole, step: -(-whole // step) * step,
    "min": min,
    "max": max,
}
BETWEEN: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.BitAnd: operator.and_,
}


def worked_out(formula: str, values: Values) -> int:
    """The value of a formula of the language: ``/`` rounds down, ``ceil(a/b)`` up."""

    def of(node: ast.expr) -> int:
        match node:
            case ast.Constant(int(value)):
                return value
            case ast.Name(name):
                return values[name]
            case ast.UnaryOp(ast.USub(), operand):
                return -of(operand)
            case ast.Call(ast.Name("ceil"), [ast.BinOp(left, ast.Div(), right)]):
                return -(-of(left) // of(right))
            case ast.Call(ast.Name(name), [*given]):
                return CALLED[name](*map(of, given))
            case ast.BinOp(left, between, right):
                return BETWEEN[type(between)](of(left), of(right))
        raise AssertionError(ast.dump(node))

    return of(ast.parse(formula, mode="eval").body)


def names_of(field: Field) -> tuple[str, ...]:
    """Names for the axes of a field that nothing else has."""
    return tuple(f"x{number}" for number in range(len(field.extents)))


def lowest_part(field: Field) -> Part | None:
    """The part that holds the lowest bits, where one holds them all."""
    found = [part for part in field.parts if part.low == 0]
    return found[0] if len(found) == 1 else None


def formula_of(part: Part) -> str:
    """The address of the lowest bits, as a text over `names_of` its field."""
    layout = part.over_record
    found = "0"
    for each in layout.coordinates:
        found = f"({found})*({text(each.extent)}) + ({text(_summed(each.value))})"
    digits = {"bit": "0", **_digits(part)}
    named = re.sub(r"\b[a-z]\w*\b(?!\()", lambda name: digits.get(name[0], name[0]), found)
    return f"{text(layout.start)} + {named}"


def _summed(expr: Expr) -> Expr:
    """The same without tuples, whose extents would be others where the bit is 0."""
    match expr:
        case Constant() | Extent() | Index():
            return expr
        case MixedRadix(parts):
            found: Expr = Constant(0)
            for each in parts:
                found = Add(Mul(found, each.extent), _summed(each.value))
            return found
        case _:
            return type(expr)(_summed(expr.left), _summed(expr.right))


def _digits(part: Part) -> dict[str, str]:
    """Each digit of an index as it is cut from the index."""
    found: dict[str, str] = {}
    for number, picks in enumerate(part.picks):
        below: list[str] = []
        for place, digit in reversed([*enumerate(picks)]):
            extent = f"({text(digit.extent)})"
            cut = f"x{number}/({'*'.join(below)})" if below else f"x{number}"
            if digit.name:
                found[digit.name] = f"({cut}%{extent})" if place else f"({cut})"
            below.insert(0, extent)
    return found


def changed(random: Random, formula: str) -> str:
    """The formula with one of its numbers changed."""
    places = [*re.finditer(r"(?<![\w])\d+", formula)]
    if not places:
        return f"{formula} + 1"
    chosen = random.choice(places)
    number = int(chosen[0])
    other = random.choice([number + 1, max(1, number - 1), number * 2])
    return f"{formula[: chosen.start()]}{other}{formula[chosen.end() :]}"


def elements(record: Record, field: Field, values: Values) -> Iterator[tuple[tuple[int, ...], int]]:
    """Each element of a field with the address of its lowest bit."""
    for index in product(*map(range, field.shape(values))):
        yield index, record.bit_address(field.name, index, 0, values)


def count(field: Field, values: Values) -> int:
    return prod(max(0, each) for each in field.shape(values))


def formula_holds(record: Record, field: Field, formula: str, values: Values) -> bool:
    return all(
        address == worked_out(formula, {**values, **dict(zip(names_of(field), index, strict=True))})
        for index, address in elements(record, field, values)
    )


def run_holds(
    record: Record, field: Field, run: tuple[int, int], bytes_: int, values: Values
) -> bool:
    """Whether elements begin at a multiple that have a digit of zero along an axis."""
    axis, size = run
    return all(
        address % (8 * bytes_) == 0
        for index, address in elements(record, field, values)
        if index[axis] % size == 0
    )
