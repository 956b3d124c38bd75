"""A second reading of the language, straight from the tree and the tables of `grammar/README.md`.

It shares the parser with the product and nothing else: no expressions, no bounds, no model. A
number is an int, or an array of ints with one entry for every element of a shape.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, reduce
from itertools import product
from math import inf, prod
from operator import eq, ge, gt, le, lt, ne
from typing import Any

import numpy as np

from layoutdsl.language.syntax import ast
from layoutdsl.language.syntax.parser import parse
from layoutdsl.language.texts.source import Source

Number = Any
"""An int, or an array of them."""

COMPARED = {"==": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge}


class Outside(Exception):  # noqa: N818  not an error: nothing is said there
    """The text has no value here: a divisor is not positive."""


@dataclass(frozen=True)
class Value:
    """A number, and its natural extent: ``low`` to ``high - 1``."""

    number: Number
    low: int
    high: int
    fixed: bool = False
    """Whether the extent is a number, whatever the shape."""
    still: bool = False
    """Whether no index is in it."""
    zeros: float = 0
    """How many of the lowest bits are 0, as far as the operators say it."""
    declared: bool = False
    """Whether it contains a tuple with a declared extent, which the value may exceed."""


@dataclass(frozen=True)
class Reading:
    """One layout or formula: its tree, read at shapes."""

    axes: tuple[ast.AxisDecl, ...]
    parameters: tuple[str, ...]
    clauses: tuple[ast.Clause, ...] = ()
    places: tuple[ast.Place, ...] = ()
    formula: ast.Expression | None = None
    names: tuple[ast.Definition, ...] = field(default=())
    layouts: tuple[ast.LayoutDecl, ...] = ()
    """The layouts of the text, which the layout may apply."""

    @property
    def symbols(self) -> tuple[str, ...]:
        found = [extent_of(axis) for axis in self.axes]
        return tuple(dict.fromkeys([*(each for each in found if isinstance(each, str)),
                                    *self.parameters]))  # fmt: skip

    def shape(self, values: Mapping[str, int]) -> tuple[int, ...]:
        found = [extent_of(axis) for axis in self.axes]
        return tuple(values[each] if isinstance(each, str) else each for each in found)

    def defined(self, values: Mapping[str, int]) -> bool:
        """Whether the shape is in the range."""
        room = Room(self, values, dict.fromkeys((axis.name.text for axis in self.axes), 0))
        try:
            own = all(room.holds(each) for each in self.conditions(of_indices=False))
            return own and all(
                reading.defined(inside)
                for place in self.places
                for each in applied(place.value)
                for reading, inside, _ in (room.applied(each),)
            )
        except Outside:
            return False

    def conditions(self, *, of_indices: bool) -> list[ast.Comparison | ast.Within]:
        """The conditions that speak of an index, which say what is held; or the others."""
        axes = {axis.name.text for axis in self.axes}
        found = [c for each in self.clauses if isinstance(each, ast.WhereClause)
                 for c in each.conditions]  # fmt: skip
        return [each for each in found if bool(axes & names_of(each)) == of_indices]

    def held(self, values: Mapping[str, int], index: Mapping[str, Number]) -> Number:
        """Whether the layout holds an element there: a truth value, or an array of them."""
        room = Room(self, values, index)
        found = [room.holds(each) for each in self.conditions(of_indices=True)]
        return reduce(np.logical_and, found, True)

    def offsets(self, values: Mapping[str, int], index: Mapping[str, Number]) -> Number:
        """Offsets of an index, or of all of them where its entries are arrays."""
        room = Room(self, values, index)
        if self.formula is not None:
            return room.value(self.formula).number
        return room.start() + room.horner(self.places).number

    def box(self, values: Mapping[str, int]) -> tuple[int, ...]:
        """The extent of each coordinate."""
        room = Room(self, values, dict.fromkeys((axis.name.text for axis in self.axes), 0))
        return tuple(room.coordinate(each).high for each in self.places)

    def start(self, values: Mapping[str, int]) -> int:
        """Slots before the first."""
        return Room(self, values, {}).start()

    def size(self, values: Mapping[str, int]) -> int | None:
        """Slots of the buffer; nothing is said of a formula's."""
        if self.formula is not None:
            return None
        room = Room(self, values, dict.fromkeys((axis.name.text for axis in self.axes), 0))
        return room.start() + room.horner(self.places).high

    def spills(self, values: Mapping[str, int], index: Mapping[str, Number]) -> bool:
        """Whether a coordinate, one inside a tuple included, leaves its extent at any index."""
        room = Room(self, values, index)
        pending = list(self.places)
        while pending:
            place = pending.pop()
            found = room.coordinate(place)
            if np.any(found.number < 0) or np.any(found.number >= found.high):
                return True
            pending += inner_places(place.value)
        return any(room.leaves(each) for place in self.places for each in applied(place.value))


def extent_of(axis: ast.AxisDecl) -> str | int:
    match axis.extent:
        case None:
            return axis.name.text.upper()
        case ast.Name(text):
            return text
        case ast.Number(value):
            return value


def sides_of(condition: ast.Comparison | ast.Within) -> tuple[ast.Expression, ...]:
    """What is compared, in the order in which it grows where it is a range."""
    if isinstance(condition, ast.Within):
        return condition.low, condition.value, condition.high
    return condition.operands


def names_of(condition: ast.Comparison | ast.Within) -> set[str]:
    parts = (part for side in sides_of(condition) for part in walk(side))
    return {part.text for part in parts if isinstance(part, ast.Name)}


def inner_places(expression: ast.Expression) -> list[ast.Place]:
    match expression:
        case ast.Tuple(parts):
            return list(parts)
        case ast.Operation(_, left, right):
            return [*inner_places(left), *inner_places(right)]
        case ast.Negation(operand):
            return inner_places(operand)
        case ast.Call(_, arguments):
            return [each for argument in arguments for each in inner_places(argument)]
    return []


def applied(expression: ast.Expression | None) -> list[ast.Application]:
    """The applications in an expression, from the outside in."""
    return [each for each in walk(expression) if isinstance(each, ast.Application)]


class Room:
    """One shape, and an index or all of them."""

    def __init__(self, of: Reading, values: Mapping[str, int], index: Mapping[str, Number]) -> None:
        self._of = of
        self._values = dict(values)
        self._index = index
        self._extents = {a.name.text: e for a, e in zip(of.axes, of.shape(values), strict=True)}
        self._names = {each.name.text: each.value for each in of.names}

    def start(self) -> int:
        given = [each for each in self._of.clauses if isinstance(each, ast.OffsetClause)]
        return int(self.value(given[0].value).number) if given else 0

    def holds(self, condition: ast.Comparison | ast.Within) -> Number:
        sides = [self.value(each).number for each in sides_of(condition)]
        between = ("<=", "<=") if isinstance(condition, ast.Within) else condition.operators
        pairs = zip(between, sides, sides[1:], strict=False)
        found = [COMPARED[symbol](left, right) for symbol, left, right in pairs]
        return reduce(np.logical_and, found, True)

    def coordinate(self, place: ast.Place) -> Value:
        found = self.value(place.value)
        if place.extent is None:
            return found
        extent = self.value(place.extent)
        declared = found.declared
        return Value(
            found.number, 0, int(extent.number), extent.fixed, found.still, declared=declared
        )

    def horner(self, places: tuple[ast.Place, ...]) -> Value:
        parts = [self.coordinate(each) for each in places]
        number = reduce(lambda total, part: total * part.high + part.number, parts, 0)
        fixed, still = (all(getattr(p, flag) for p in parts) for flag in ("fixed", "still"))
        declared = any(p.declared or place.extent for p, place in zip(parts, places, strict=True))
        size = prod(part.high for part in parts)
        return Value(number, 0, size, fixed, still, declared=declared)

    def value(self, expression: ast.Expression) -> Value:
        match expression:
            case ast.Number(value):
                return Value(value, value, value + 1, True, still=True, zeros=low_zeros(value))
            case ast.Name(text):
                return self._name(text)
            case ast.Negation(operand):
                zero = Value(0, 0, 1, fixed=True, still=True, zeros=inf)
                return self._operation("-", zero, self.value(operand))
            case ast.Tuple(parts):
                return self.horner(parts)
            case ast.Call(function, arguments):
                return self._call(function.text, arguments)
            case ast.Operation(symbol, left, right):
                return self._operation(symbol, self.value(left), self.value(right))
            case ast.Application():
                reading, values, index = self.applied(expression)
                size = reading.size(values)
                assert size is not None
                return Value(reading.offsets(values, index), 0, size)

    def leaves(self, application: ast.Application) -> bool:
        """Whether an index leaves the shape of the layout that is applied, or that one its own."""
        reading, values, index = self.applied(application)
        extents = dict(zip(index, reading.shape(values), strict=True))
        outside = [np.any(index[n] < 0) or np.any(index[n] >= extents[n]) for n in index]
        return any(map(bool, outside)) or reading.spills(values, index)

    def applied(
        self, application: ast.Application
    ) -> tuple[Reading, dict[str, int], dict[str, Number]]:
        """The layout that is applied, its extents and parameters, and its index."""
        name = application.layout.name.text
        layout = next(each for each in self._of.layouts if each.name.text == name)
        assert layout.axes is not None
        reading = _reading(layout, self._of.layouts)
        arguments = [self.value(each).number for each in application.layout.arguments]
        values = dict(zip(reading.parameters, arguments, strict=True))
        index: dict[str, Number] = {}
        for axis, place in zip(layout.axes, application.indices, strict=True):
            found, extent = self.value(place.value), extent_of(axis)
            index[axis.name.text] = found.number
            if not isinstance(extent, str) or extent in values:
                continue
            if place.extent is not None:
                values[extent] = int(self.value(place.extent).number)
            elif extent in self._of.parameters:
                values[extent] = self._values[extent]
            else:
                values[extent] = found.high
        return reading, values, index

    def _name(self, text: str) -> Value:
        if text in self._names:
            return self.value(self._names[text])
        if text in self._extents:
            fixed = any(axis.name.text == text and isinstance(extent_of(axis), int)
                        for axis in self._of.axes)  # fmt: skip
            return Value(self._index[text], 0, self._extents[text], fixed)
        number = self._values.get(text)
        if number is None:  # the extent of an axis with a number of elements
            number = self._extents[text.lower()]
            return Value(number, number, number + 1, True, still=True, zeros=low_zeros(number))
        return Value(number, number, number + 1, still=True)

    def _call(self, function: str, arguments: tuple[ast.Expression, ...]) -> Value:
        if function == "ceil":
            assert isinstance(arguments[0], ast.Operation)
            return self._ceil(self.value(arguments[0].left), self.value(arguments[0].right))
        if function == "roundup":
            up = self._ceil(*map(self.value, arguments))
            return self._operation("*", up, self.value(arguments[1]))
        found, *others = map(self.value, arguments)
        number, end = (np.minimum, min) if function == "min" else (np.maximum, max)
        for each in others:
            low, high = end(found.low, each.low), end(found.high, each.high)
            pair = found.number, each.number
            single = all(isinstance(one, int) for one in pair)  # of any size, as numpy's are not
            found = Value(end(pair) if single else plain(number(*pair)), low, high)
        return found

    def _ceil(self, value: Value, by: Value) -> Value:
        positive(by.number)
        return Value(-(-value.number // by.number), 0, -(-(value.high - 1) // by.number) + 1)

    def _operation(self, symbol: str, left: Value, right: Value) -> Value:
        found = self._result(symbol, left, right)
        fixed = left.fixed and right.fixed if symbol not in "%&" else found.fixed
        still, declared = left.still and right.still, left.declared or right.declared
        zeros = zeros_of(symbol, left, right)
        return replace(found, fixed=fixed, still=still, declared=declared, zeros=zeros)

    def _result(self, symbol: str, left: Value, right: Value) -> Value:
        one, two = left.number, right.number
        match symbol:
            case "+":
                return Value(one + two, left.low + right.low, left.high + right.high - 1)
            case "-":
                return Value(one - two, left.low - right.high + 1, left.high - right.low)
            case "*":
                high = (left.high - 1) * (right.high - 1) + 1
                return Value(one * two, left.low * right.low, high)
            case "<<":
                return self._operation("*", left, replace(right, **single(1 << two)))
            case ">>":
                return self._operation("/", left, replace(right, **single(1 << two)))
            case "/":
                positive(two)
                low = 0 if left.low >= 0 else left.low // two
                return Value(one // two, low, -(-left.high // two))
            case "%":
                positive(two)
                return Value(one % two, 0, two, right.fixed)
            case "&":
                return replace(_both(left, right), number=one & two)
            case "|" if any(multiple(*each) for each in ((left, right), (right, left))):
                return Value(one + two, left.low + right.low, left.high + right.high - 1)
            case "^" | "|":
                sides = ((left.high, right.high), (right.high, left.high))
                small, large = sides[left.fixed < right.fixed]
                if left.fixed == right.fixed:
                    small, large = sorted((left.high, right.high))
                power = 1 << max(small - 1, 0).bit_length()
                number = one ^ two if symbol == "^" else one | two
                return Value(number, 0, -(-large // power) * power)
        raise AssertionError(symbol)


def single(number: int) -> dict[str, int]:
    return {"number": number, "low": number, "high": number + 1}


def low_zeros(number: int) -> float:
    return (number & -number).bit_length() - 1 if number else inf


def zeros_of(symbol: str, left: Value, right: Value) -> float:
    """How many of the lowest bits of a result are 0."""
    match symbol:
        case "*":
            return left.zeros + right.zeros
        case "<<":
            return left.zeros + int(right.number)
        case "&":
            return max(left.zeros, right.zeros)
        case "+" | "-" | "^" | "|" | "%":
            return min(left.zeros, right.zeros)
    return 0


def multiple(one: Value, small: Value) -> bool:
    """Whether one side is a multiple of a power of two that the other stays below."""
    bounded = small.fixed and small.low >= 0 and not small.declared
    return bounded and (small.high - 1).bit_length() <= one.zeros


def _both(left: Value, right: Value) -> Value:
    """The reach of the bits of both: of the side without indices, else of the smaller fixed one."""
    value, mask = (left, right) if right.still or not left.still else (right, left)
    if mask.still and mask.low < 0:
        return Value(0, 0, ((value.high - 1) & mask.low) + 1, value.fixed)
    if mask.still:
        return replace(mask, low=0)
    fixed = [each for each in (right, left) if each.fixed]
    return replace(min(fixed, key=lambda each: each.high, default=left), low=0)


def positive(divisor: Number) -> None:
    if divisor <= 0:
        raise Outside


def plain(number: Number) -> Number:
    return int(number) if np.ndim(number) == 0 else number


@cache
def read(declaration: str, formula: str = "") -> Reading:
    """The last layout of a text; with a formula, that formula over its axes."""
    *_, layout = (
        each
        for each in parse(Source("", declaration)).declarations
        if isinstance(each, ast.LayoutDecl)
    )
    layouts = tuple(
        each
        for each in parse(Source("", declaration)).declarations
        if isinstance(each, ast.LayoutDecl)
    )
    assert layout.axes is not None
    parameters = tuple(each.text for each in layout.parameters)
    if not formula:
        return _reading(layout, layouts)
    (claim,) = parse(Source("", f"prove {layout.name.text} == {formula}")).declarations
    assert isinstance(claim, ast.ClaimDecl)
    assert isinstance(claim.predicate, ast.Equals)
    right = claim.predicate.right
    assert not isinstance(right, ast.Reference | ast.Coordinates)
    given = (right, claim.predicate.names)
    return Reading(layout.axes, parameters, layout.clauses, (), *given)


def _reading(layout: ast.LayoutDecl, layouts: tuple[ast.LayoutDecl, ...]) -> Reading:
    """A layout that is applied as a whole body is one coordinate: the offset, below the size."""
    body, parameters = layout.body, tuple(each.text for each in layout.parameters)
    assert layout.axes is not None
    assert isinstance(body, ast.Coordinates | ast.Application)
    if isinstance(body, ast.Application):
        places: tuple[ast.Place, ...] = (ast.Place(body, None, body.span),)
    else:
        places = body.places
    return Reading(layout.axes, parameters, layout.clauses, places, layouts=layouts)


def every_index(reading: Reading, values: Mapping[str, int]) -> dict[str, Number]:
    """Each axis with the index along it, of every element in row-major order."""
    grids = np.indices(reading.shape(values), dtype=np.int64)
    names = (axis.name.text for axis in reading.axes)
    return {name: grid.ravel() for name, grid in zip(names, grids, strict=True)}


def walk(expression: ast.Expression | None) -> Iterator[ast.Expression]:
    """Yield an expression and all its parts."""
    if expression is None:
        return
    yield expression
    match expression:
        case ast.Operation(_, left, right):
            yield from walk(left)
            yield from walk(right)
        case ast.Negation(operand):
            yield from walk(operand)
        case ast.Call(_, arguments):
            for each in arguments:
                yield from walk(each)
        case ast.Tuple(parts) | ast.Application(indices=parts):
            for place in parts:
                yield from walk(place.value)
                yield from walk(place.extent)


def borders(readings: tuple[Reading, ...], most: int) -> dict[str, list[int]]:
    """For each extent 1 to 3, and what lies around the numbers that stand beside it."""
    symbols = readings[0].symbols
    axes = {axis.name.text: extent_of(axis) for axis in readings[0].axes}
    found: dict[str, set[int]] = {name: {1, 2, 3} for name in symbols}
    for reading in readings:
        written = [each for place in reading.places for each in (place.value, place.extent)]
        written += [reading.formula, *(each.value for each in reading.names)]
        written += [ast.Tuple((place,), place.span) for place in reading.places if place.extent]
        for each in (part for whole in written for part in walk(whole)):
            if not isinstance(each, ast.Operation | ast.Call | ast.Tuple):
                continue
            if isinstance(each, ast.Operation) and each.symbol in "+-*^":
                continue
            parts = list(walk(each))
            spoken = {axes.get(n.text, n.text) for n in parts if isinstance(n, ast.Name)}
            numbers = {n.value for n in parts if isinstance(n, ast.Number)}
            if isinstance(each, ast.Operation) and each.symbol in ("<<", ">>"):
                numbers = {1 << number for number in numbers if number < 40}
            for name in spoken & found.keys():
                found[name] |= {n + step for n in numbers for step in (-1, 0, 1)}
                found[name] |= {2 * n + step for n in numbers for step in (0, 1)}
    return {name: sorted(n for n in each if 0 < n <= most) for name, each in found.items()}


BOXES = 20_000


def shapes(
    readings: tuple[Reading, ...], most: int, elements: int, count: int
) -> Iterator[dict[str, int]]:
    """Shapes at the borders for which all readings are defined, smallest first.

    Args:
        readings: over the same axes.
        most: the largest extent.
        elements: of all shapes together.
        count: shapes at most.
    """
    choices = borders(readings, most)
    wide = max(3, int(BOXES ** (1 / max(len(choices), 1))))
    lists = [each[:wide] for each in choices.values()]
    boxes = [dict(zip(choices, each, strict=True)) for each in product(*lists)]
    boxes.sort(key=lambda values: prod(readings[0].shape(values)))
    for values in boxes:
        if all(each.defined(values) for each in readings):
            elements -= prod(readings[0].shape(values)) + 1
            count -= 1
            if elements < 0 or count < 0:
                return
            yield values
