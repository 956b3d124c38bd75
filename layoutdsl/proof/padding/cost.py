"""What a layout costs: formulas, the worst ratio of slots to elements, and numbers at one shape."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import zip_longest
from math import prod

from layoutdsl.language.digits.inverse import Inverse
from layoutdsl.language.integers.bounds import ONE, ZERO
from layoutdsl.language.integers.digit import same
from layoutdsl.language.integers.expr import Constant, Expr, Extent, text
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.elements import ElementType
from layoutdsl.language.meaning.model import Condition, Layout, Shape
from layoutdsl.language.meaning.part import extents_of_others
from layoutdsl.language.texts.values import brief
from layoutdsl.proof.padding.along import Undescribed, along
from layoutdsl.proof.padding.extremes import Bound, spread
from layoutdsl.proof.padding.quotient import (
    Quotient,
    box,
    elements,
    held,
    parts,
    per_element,
    quotient,
    ratio_text,
    scaled,
    size,
    spoken_of,
)
from layoutdsl.proof.prover.closed import closed_inverse
from layoutdsl.proof.prover.padding import PADDING, Share, prove_ratio
from layoutdsl.proof.prover.verdict import Proved, Undecided, certificate_hash


def shares(layout: Layout, most: Fraction) -> tuple[tuple[Share, ...], ...] | None:
    """Return quotients whose bounds together are ``most``; ``None`` where none were found.

    For the slots of the box, and for those before it, the quotients of one tuple are multiplied.
    """
    try:
        found = tuple(tuple(_shares(layout, each)) for each in per_element(layout))
    except Undescribed:
        return None
    total = sum((scaled(each.most for each in row) for row in found), Fraction(0))
    return found if total == most else None


def _shares(layout: Layout, whole: Quotient) -> Iterator[Share]:
    scale = whole.scale
    yield Share(Constant(scale.numerator), Constant(scale.denominator), scale)
    for factor in whole.common:
        yield Share(factor, factor, Fraction(1))
    for names, part in parts(whole, layout.symbols):
        for above, below in zip_longest(part.top, part.bottom, fillvalue=ONE):
            yield Share(above, below, _most(layout, names, above, below))


def _most(layout: Layout, names: tuple[str, ...], above: Expr, below: Expr) -> Fraction:
    if len(names) != 1:
        raise Undescribed("a factor has several extents")
    conditions = [each for each in layout.where if spoken_of(each) <= set(names)]
    found = along(above, below, names[0], conditions)
    if found is None or found.most.value is None:
        raise Undescribed("a factor has no bound")
    return found.most.value


@dataclass(frozen=True, slots=True)
class AxisCost:
    """How far one axis is padded: its extent, the padded extent, and the ratio of the two."""

    axis: str
    extent: int
    padded: int

    @property
    def ratio(self) -> Fraction:
        """By what the axis multiplies the slots."""
        return Fraction(self.padded, self.extent)


@dataclass(frozen=True, slots=True)
class ShapeCost:
    """The cost at one shape, in slots and, where the element type is known, in bytes.

    Attributes:
        shape: extents and parameters by name.
        elements: how many the tensor has.
        size: slots of the buffer: elements, padding, and what is before the first slot.
        before: slots before the first; they are no padding.
        bytes: of the whole buffer; ``None`` without an element type.
        axes: the axes that are padded; ``None`` where no padded extents were proved.
        gaps: by what gaps and pitches multiply the slots of the padded axes.
        copies: in how many slots each element lies.
    """

    shape: tuple[tuple[str, int], ...]
    elements: int
    size: int
    before: int
    bytes: int | None
    axes: tuple[AxisCost, ...] | None
    gaps: Fraction
    copies: int

    __repr__ = brief

    @property
    def padding(self) -> int:
        """Slots that hold no element; negative where elements share slots."""
        return self.size - self.before - self.elements * self.copies

    @property
    def ratio(self) -> Fraction:
        """Slots for each element."""
        return Fraction(self.size, self.elements)


@dataclass(frozen=True, slots=True)
class Cost:
    """What a layout costs over its range, as formulas in the language and as exact bounds.

    Attributes:
        layout: its name.
        where: the range, condition by condition.
        elements: of the tensor, as a formula in extents.
        size: of the buffer, in slots.
        padding: slots of the buffer that hold no element.
        ratio: slots for each element.
        element: the element type, where it is known.
        bytes: of the buffer; ``None`` without an element type.
        most: the largest ratio of the range.
        least: the smallest.
        far: what the ratio comes down to where all extents without end are large; ``None`` where
            that is not known, or all have an end.
        proof: whether the largest ratio was proved as a bound, by a certificate.
        at: the numbers at the shape that was asked for.
    """

    layout: str
    where: tuple[str, ...]
    elements: str
    size: str
    padding: str
    ratio: str
    element: ElementType | None
    bytes: str | None
    most: Bound
    least: Bound
    far: Fraction | None
    proof: Proved | Undecided
    at: ShapeCost | None

    __repr__ = brief

    @property
    def proved(self) -> bool:
        """Whether the largest ratio was proved."""
        return isinstance(self.proof, Proved)

    @property
    def certificate(self) -> str | None:
        """The hash of that proof."""
        return certificate_hash(self.proof) if isinstance(self.proof, Proved) else None


def cost(layout: Layout, shape: Shape | None = None, of: ElementType | None = None) -> Cost:
    """Return what a layout costs.

    Args:
        layout: its ``where`` clause is the range.
        shape: gives numbers at this shape as well.
        of: the element type; that of the layout if left out.

    Raises:
        ValueError: the shape does not fit, the range has no shape that was found, or the layout
            speaks of extents that are none of its own.
    """
    if layout.domain:
        held = f"`{layout.name}` holds elements only where {layout.domain[0]}"
        raise ValueError(f"{held}, and they are not counted")
    others = extents_of_others(layout)
    if others:
        words = f"`{layout.name}` speaks of `{others[0]}`, which is the extent of no axis of it"
        raise ValueError(f"{words}: it is a part of a record, which is counted as a whole")
    element = of or layout.element
    at = None if shape is None else _at(layout, layout.bind(shape), element)
    found = spread(layout)
    slots = size(layout)
    return Cost(
        layout.name,
        tuple(map(str, layout.where)),
        text(elements(layout)),
        text(slots),
        _padding(layout),
        ratio_text(layout),
        element,
        None if element is None else _bytes(layout, element),
        found.most,
        found.least,
        found.far,
        _proof(layout, found.most),
        at,
    )


def _bytes(layout: Layout, element: ElementType) -> str:
    extents = [each.extent for each in layout.coordinates]
    if layout.start != ZERO:
        extents = [size(layout)]
    found = quotient((Constant(element.bits), *extents), (Constant(8),))
    return str(found) if found.scale.denominator == 1 else f"ceil({found})"


def _padding(layout: Layout) -> str:
    slots, full = box(layout), held(layout)
    return "0" if same(slots, full) else f"{text(slots)} - {text(full)}"


def _proof(layout: Layout, most: Bound) -> Proved | Undecided:
    if most.value is None or most.how == "undecided":
        return Undecided(
            PADDING, "there is no bound" if most.value is None else "no bound is known"
        )
    found = shares(layout, most.value)
    if found is None:
        return Undecided(PADDING, "the ratio is no product of quotients along one extent each")
    return prove_ratio(layout, most.value, found)


def _at(layout: Layout, values: dict[str, int], element: ElementType | None) -> ShapeCost:
    count = prod(layout.element_shape(values))
    slots = evaluate(box(layout), values)
    before = evaluate(layout.start, values)
    size_ = before + slots
    axes = _axes(layout, values)
    copies = layout.copies_of_each(values)
    padded = count * copies if axes is None else prod(each.padded for each in axes)
    return ShapeCost(
        tuple(values.items()),
        count,
        size_,
        before,
        None if element is None else -(-size_ * element.bits // 8),
        None if axes is None else tuple(each for each in axes if each.padded != each.extent),
        Fraction(slots, padded),
        copies,
    )


def _axes(layout: Layout, values: dict[str, int]) -> tuple[AxisCost, ...] | None:
    inverse = closed_inverse(layout)
    if not isinstance(inverse, Inverse):
        here = tuple(Condition(Extent(name), "==", Constant(each)) for name, each in values.items())
        inverse = closed_inverse(replace(layout, where=(*layout.where, *here)))
    if not isinstance(inverse, Inverse):
        return None
    padded = dict(inverse.padded)
    extents = zip(layout.axes, layout.shape_of(values), strict=True)
    return tuple(
        AxisCost(
            axis.name,
            1 if axis.name in layout.copies else extent,
            evaluate(padded[axis.name], values),
        )
        for axis, extent in extents
    )
