"""``fits``, ``offsets fit`` and ``computes in``: integers that are wide enough.

Counterexamples are looked for where sizes double, and made small by halving.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from itertools import product as boxes
from typing import ClassVar, TypeVar

from layoutdsl.language.integers.bounds import Reach, reach
from layoutdsl.language.integers.expr import (
    Add,
    Constant,
    Expr,
    FloorDiv,
    MixedRadix,
    Mod,
    indices,
    text,
    walk,
)
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning import shapes
from layoutdsl.language.meaning.claims import Computes, Fits, OffsetsFit
from layoutdsl.language.meaning.counterexample import Counterexample, example_at, point_at
from layoutdsl.language.meaning.elements import ElementType
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.shapes import Values
from layoutdsl.proof.kernel.theorem import Theorem
from layoutdsl.proof.properties.property import Property, Statement, Tactic, ground_of, packed
from layoutdsl.proof.refute import refute
from layoutdsl.proof.refute.refute import At, Examples
from layoutdsl.proof.statements import claim_statement, width_statement
from layoutdsl.proof.statements.statement import Ground
from layoutdsl.proof.statements.terms import NotExpressible

MOST_INDICES = 64
"""Indices of a shape that are tried for a large offset."""

W = TypeVar("W", Fits, OffsetsFit, Computes)


class _OfWidth(Property[W]):
    """What is worked out of a layout is a value of an integer type."""

    tactic: ClassVar[Tactic] = "intervals"
    by_index: ClassVar[bool] = True

    def statement(self) -> Statement:
        ground = ground_of(self.layout)
        return Statement(ground, self.theorem(ground))

    @abstractmethod
    def theorem(self, ground: Ground) -> Theorem:
        """Return what is said."""

    @property
    @abstractmethod
    def sentence(self) -> str:
        """What is said where it fails."""

    @property
    @abstractmethod
    def values(self) -> tuple[Expr, ...]:
        """Return the expressions whose values have to fit.

        Raises:
            NotExpressible: C has no expression for one of them.
        """

    @abstractmethod
    def holds(self, low: int, high: int) -> bool:
        """Return whether it holds for values from `low` to `high`."""

    @cached_property
    def _reaches(self) -> tuple[Reach | None, ...]:
        axes = {axis.name: axis.extent for axis in self.layout.axes}
        return tuple(reach(each, axes) for each in self.values)

    def holds_at(self, values: Values) -> bool:
        return all(
            each is not None
            and self.holds(evaluate(each.low, values), evaluate(each.high, values) - 1)
            for each in self._reaches
        )

    @abstractmethod
    def wrong_at(self, bound: Values) -> str | None:
        """Return what does not fit at an index, in words."""

    def tries(self) -> At | None:
        return self._at

    def _at(self, values: Values) -> Examples:
        for index in shapes.indices(self.layout, values):
            found = self.again(values, index)
            if found is not None:
                return {self.words: found}
        return {}

    def again(self, values: Values, index: tuple[int, ...] | None = None) -> Counterexample | None:
        assert index is not None
        words = self.wrong_at(shapes.bind_index(self.layout, values, index))
        return None if words is None else self._example(values, index, words)

    def far(self) -> Counterexample | None:
        values = refute.smallest(self.layout, lambda shape: self._first(shape) is not None)
        found = None if values is None else self._first(values)
        if values is None or found is None:
            return None
        return self._example(values, *found)

    def _first(self, values: Values) -> tuple[tuple[int, ...], str] | None:
        """The first of the far indices at which it fails, and how."""
        for index in _far(self.layout, values):
            words = self.wrong_at(shapes.bind_index(self.layout, values, index))
            if words is not None:
                return index, words
        return None

    def _example(self, values: Values, index: tuple[int, ...], words: str) -> Counterexample:
        return example_at(values, self.sentence, point_at(self.layout, index, words))


class _InBytes(_OfWidth[W]):
    """What may be counted in bytes of an element type."""

    @property
    def values(self) -> tuple[Expr, ...]:
        whole: Expr = MixedRadix(self.layout.coordinates)
        return (Add(self.layout.start, whole),)

    def holds(self, low: int, high: int) -> bool:
        bits = 8 if self.element is None else self.element.bits
        return low >= 0 and (high + 1) * bits <= 8 * (self.predicate.type.largest + 1)

    @property
    def element(self) -> ElementType | None:
        assert not isinstance(self.predicate, Computes)
        return self.predicate.element

    @property
    def counted(self) -> str:
        return "" if self.element is None else f" in bytes of {self.element.name}"

    @property
    def conditions(self) -> tuple[str, ...]:
        return () if self.element is None else packed(self.element.bits, self.element.name)

    def wrong_at(self, bound: Values) -> str | None:
        type_, offset = self.predicate.type, self.layout.offset_at(bound)
        if self.element is None:
            fits = 0 <= offset <= type_.largest
            return None if fits else f"-> offset {offset}, outside 0..{type_.largest}"
        bits = self.element.bits
        first, last = offset * bits // 8, ((offset + 1) * bits - 1) // 8
        if first >= 0 and last <= type_.largest:
            return None
        return f"-> offset {offset}, byte {last}, outside 0..{type_.largest}"


class SizeFits(_InBytes[Fits]):
    """The size of the buffer is a value of the type, and every offset lies in the buffer."""

    tactic: ClassVar[Tactic] = "size"
    in_bounds: ClassVar[bool] = True
    theorems = ("fits",)

    @property
    def words(self) -> str:
        return f"fits {self.predicate.type.name}{self.counted}"

    @property
    def sentence(self) -> str:
        return f"`{self.layout.name}` does not fit {self.predicate.type.name}"

    def theorem(self, ground: Ground) -> Theorem:
        return claim_statement.fits(ground, self.predicate.type.largest, self.element)

    def holds_at(self, values: Values) -> bool:
        return not self._too_large(values) and super().holds_at(values)

    def _at(self, values: Values) -> Examples:
        return (
            {self.words: self._of_size(values)} if self._too_large(values) else super()._at(values)
        )

    def again(self, values: Values, index: tuple[int, ...] | None = None) -> Counterexample | None:
        return self._of_size(values) if self._too_large(values) else super().again(values, index)

    def far(self) -> Counterexample | None:
        values = refute.smallest(self.layout, self._too_large)
        return None if values is None else self._of_size(values)

    def _too_large(self, values: Values) -> bool:
        bits = 8 if self.element is None else self.element.bits
        return refute.layout_size(self.layout, values) * bits > 8 * self.predicate.type.largest

    def _of_size(self, values: Values) -> Counterexample:
        type_, element = self.predicate.type, self.element
        last = tuple(extent - 1 for extent in self.layout.shape_of(values))
        bound = shapes.bind_index(self.layout, values, last)
        if not self.layout.holds(bound):
            found = refute.too_large_at(self.layout, values, 0, type_.name)
            assert found is not None
            return found
        size = refute.layout_size(self.layout, values)
        words = f"-> offset {self.layout.offset_at(bound)}; the size is {size}"
        if element is not None:
            words += f" elements of {element.name}, {-(-size * element.bits // 8)} bytes"
        return self._example(values, last, f"{words}, at most {type_.largest} fits")


class OffsetsInRange(_InBytes[OffsetsFit]):
    """The offset of every element is a value of the type; the size may be none."""

    theorems = ("offsets",)

    @property
    def words(self) -> str:
        return f"offsets fit {self.predicate.type.name}{self.counted}"

    @property
    def sentence(self) -> str:
        return f"an offset of `{self.layout.name}` does not fit {self.predicate.type.name}"

    def theorem(self, ground: Ground) -> Theorem:
        return width_statement.offsets_fit(ground, self.predicate.type.largest, self.element)


class WorkedOutInRange(_OfWidth[Computes]):
    """Whatever is worked out on the way to an offset, as C writes it, is a value of the type."""

    theorems = ("computes",)

    @property
    def words(self) -> str:
        return f"computes in {self.predicate.type.name}"

    @property
    def sentence(self) -> str:
        return f"`{self.layout.name}` does not compute in {self.predicate.type.name}"

    def theorem(self, ground: Ground) -> Theorem:
        return width_statement.computes(ground, self.predicate.type)

    @property
    def values(self) -> tuple[Expr, ...]:
        return width_statement.worked_out(self.layout)

    def holds(self, low: int, high: int) -> bool:
        return self.predicate.type.least <= low and high <= self.predicate.type.largest

    def wrong_at(self, bound: Values) -> str | None:
        type_ = self.predicate.type
        for each in width_statement.worked_out(self.layout):
            value = evaluate(each, bound)
            if not type_.least <= value <= type_.largest:
                return f"-> `{text(each)}` is {value}, outside {type_.least}..{type_.largest}"
        return None

    def tries(self) -> At | None:
        return self._at if self._spelled() else None

    def again(self, values: Values, index: tuple[int, ...] | None = None) -> Counterexample | None:
        return super().again(values, index) if self._spelled() else None

    def far(self) -> Counterexample | None:
        return super().far() if self._spelled() else None

    def _spelled(self) -> bool:
        """Whether C has an expression for the offset whose parts can be stated."""
        try:
            return bool(width_statement.worked_out(self.layout))
        except NotExpressible:
            return False


def _far(layout: Layout, values: Values) -> Iterator[tuple[int, ...]]:
    """Indices that are likely to lie far: the last along each axis, and the last of full blocks."""
    choices = []
    for axis, extent in zip(layout.axes, layout.shape_of(values), strict=True):
        last = {extent - 1} | {extent // block * block - 1 for block in _blocks(layout, axis.name)}
        choices.append(sorted((each for each in last if each >= 0), reverse=True))
    yield from islice(boxes(*choices), MOST_INDICES)


def _blocks(layout: Layout, axis: str) -> set[int]:
    parts: Iterator[Expr] = (each for c in layout.coordinates for each in walk(c.value))
    return {
        each.right.value
        for each in parts
        if isinstance(each, FloorDiv | Mod)
        and isinstance(each.right, Constant)
        and axis in indices(each.left)
    }
