"""The rules for what elements are: their types, what they stand for, their bits, and the fill."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace
from math import inf, isinf, nan

from layoutdsl.language.elaborate.synonyms import element_called, fill_called, interface_called
from layoutdsl.language.meaning.elements import (
    BIT,
    BIT_AXIS,
    ELEMENT_TYPES,
    ElementType,
    Fill,
    FillAny,
    FillValue,
    FillZeroPoint,
    fill_text,
)
from layoutdsl.language.meaning.floats import FLOATS, nearest
from layoutdsl.language.meaning.interface import ScaleOffset, takes_codes
from layoutdsl.language.meaning.model import Axis, Layout
from layoutdsl.language.syntax import ast
from layoutdsl.language.syntax.walk import names_in, of_places
from layoutdsl.language.texts.faults import Fault, did_you_mean, fault

SCALE_OFFSET = "scale_offset"
"""The interface of elements that are codes of real numbers."""


_REALS = {"inf": inf, "-inf": -inf, "nan": nan, "-nan": nan}
_EXACT = 1 << 53
"""Below it every whole number is a float of 64 bits."""


def fill_of(clause: ast.FillClause) -> Fill:
    """Return what a `fill` clause says."""
    match clause.value:
        case int(value):
            return FillValue(value)
        case float(value) if isinf(value):
            message = "the fill is beyond the largest float of 64 bits"
            raise fault("L208", message, clause.span, help="write `fill inf`")
        case float(value):
            return _real(value)
        case "any":
            return FillAny()
        case "zero_point":
            return FillZeroPoint()
    if clause.value in _REALS:
        return FillValue(_REALS[clause.value])
    called = fill_called(clause.value)
    hint = f"write `{called}`" if called else "write a number, `inf`, `nan`, `any` or `zero_point`"
    raise fault("L208", f"there is no fill `{clause.value}`", clause.span, help=hint)


def _real(value: float) -> FillValue:
    """Return a fill with a whole number where one says the same."""
    whole = value.is_integer() and abs(value) < _EXACT and str(value) != "-0.0"
    return FillValue(int(value) if whole else value)


def element_of(name: ast.Name) -> ElementType:
    """Return the element type of that name."""
    if name.text in ELEMENT_TYPES:
        return ELEMENT_TYPES[name.text]
    called = element_called(name.text)
    close = f"write `{called}`" if called else did_you_mean(name.text, ELEMENT_TYPES)
    if called == "f8":
        close = "write `f8e4m3` or `f8e5m2`, or `f8` for either"
    hint = close or f"the element types are {', '.join(ELEMENT_TYPES)}"
    raise fault("L208", f"there is no element type `{name.text}`", name.span, help=hint)


def bit_in(places: tuple[ast.Place, ...]) -> ast.Name | None:
    """Return where coordinates speak of `bit`, if they do."""
    said = (name for each in of_places(places) for name in names_in(each))
    return next((each for each in said if each.text == BIT_AXIS), None)


def bits_of(
    declaration: ast.LayoutDecl, axes: Sequence[Axis], parameters: Container[str]
) -> ElementType | None:
    """Return the type whose bits a layout places, each by itself; ``None`` where it places none.

    Raises:
        Fault: it does not say of which type.
    """
    assert isinstance(declaration.body, ast.Coordinates)
    if BIT_AXIS in parameters or any(axis.name == BIT_AXIS for axis in axes):
        return None
    name = bit_in(declaration.body.places)
    if name is None:
        return None
    for clause in declaration.clauses:
        if isinstance(clause, ast.ElementClause):
            return element_of(clause.name)
    message = "`bit` needs an element type, and the layout has none"
    raise fault("L201", message, name.span, help="add `of u4`")


def with_element(layout: Layout, name: ast.Name) -> Layout:
    """Return the layout of elements of a type; one that places their bits is of that type."""
    element = element_of(name)
    if layout.bit_of is None:
        return replace(layout, element=element)
    if layout.bit_of != element:
        message = f"the layout places the bits of {layout.bit_of.name}"
        raise fault("L208", message, name.span)
    return replace(layout, element=BIT)


def read_as(layout: Layout, clause: ast.ElementClause) -> Layout:
    """Return the layout with what an `of` clause says its elements stand for; plain, by default."""
    words = clause.interface
    if words is None:
        return replace(layout, interface=None)
    if words.name.text != SCALE_OFFSET:
        raise _no_interface(words)
    element = element_of(clause.name)
    if not takes_codes(element):
        message = f"`{element.name}` cannot hold codes: they are integers of up to 32 bits"
        hint = "write an integer type, as in `of u8 as scale_offset`"
        raise fault("L208", message, clause.name.span, help=hint)
    if layout.bit_of is not None:
        message = "the layout places the bits of its elements, and padding of bits is no zero point"
        hint = f"write `of {element.name}`, and pack codes"
        raise fault("L208", message, words.span, help=hint)
    axes = [axis.name for axis in layout.element_axes]
    if words.per is not None and words.per.text not in axes:
        hint = did_you_mean(words.per.text, axes) or f"its axes are {', '.join(axes)}"
        message = f"the layout has no axis `{words.per.text}`"
        raise fault("L208", message, words.per.span, help=hint)
    per = None if words.per is None else words.per.text
    return replace(layout, interface=ScaleOffset(per))


def _no_interface(words: ast.InterfaceWords) -> Fault:
    if words.name.text == "plain":
        message = "plain elements have no scale"
        hint = "write `as scale_offset per` and the axis, or leave out `per`"
        return fault("L208", message, words.span, help=hint)
    message = f"there is no interface `{words.name.text}`"
    called = interface_called(words.name.text)
    hint = f"write `{called}`" if called else "known are plain, scale_offset"
    return fault("L208", message, words.name.span, help=hint)


def quantised_fill(layout: Layout) -> Layout:
    """Return the layout whose padding, where nothing else is said, is the quantised zero."""
    if layout.interface is None or layout.fill != FillValue(0):
        return layout
    return replace(layout, fill=FillZeroPoint())


def check_fill(layout: Layout, clause: ast.Clause | None) -> None:
    """Raise where the fill is no value of the element type."""
    element, fill = layout.element, layout.fill
    if clause is None or element is None:
        return
    if layout.bit_of is not None and fill not in (FillValue(0), FillAny()):
        message = "padding of single bits is 0 or `any`"
        raise fault("L208", message, clause.span)
    if not isinstance(fill, FillValue):
        return
    if isinstance(fill.value, float) and element.name not in FLOATS:
        raise _no_real(element, fill, clause)
    if element.values is None:
        return
    low, high = element.values
    if not low <= fill.value <= high:
        words = f"{element.name} holds {low} to {high}"
        message = f"the fill {fill.value} is outside the range of `{element.name}`"
        raise fault("L208", message, clause.span, words=words)


def _no_real(element: ElementType, fill: FillValue, clause: ast.Clause) -> Fault:
    """The fault of a real number as the fill of a type without real numbers, or without a name."""
    if element.name == "f8":
        message = f"the bits of {fill.value} differ between the two types that `f8` stands for"
        return fault("L208", message, clause.span, help="write `of f8e4m3` or `of f8e5m2`")
    if element.kind in ("f", "e"):
        message = f"padding of `{element.name}` is a code, and {fill.value} is none"
        hint = "write `fill any`, and give the code when packing: `pack --fill 3`"
        return fault("L208", message, clause.span, help=hint)
    message = f"`{element.name}` holds no {fill.value}"
    hint = "write a whole number, or `fill any`"
    return fault("L208", message, clause.span, words="the elements are whole numbers", help=hint)


def rounded_fill(layout: Layout, clause: ast.Clause | None) -> Layout:
    """Return the layout with a fill that the element type has: the nearest, as numpy rounds."""
    element, fill = layout.element, layout.fill
    if element is None or not isinstance(fill, FillValue) or not isinstance(fill.value, float):
        return layout
    if element.name not in FLOATS:  # a clause of another notation, or a type without real numbers
        return layout
    found = nearest(fill.value, element)
    if found == 0 and element.item[0] == "u":  # the sign of 0 is lost where items are codes
        found = 0.0
    if found is not None:
        return replace(layout, fill=_real(found))
    largest = FLOATS[element.name].largest
    message = f"`{element.name}` cannot hold the fill {fill_text(fill)}"
    hint = "write `fill nan`, or a number that the type holds"
    place = clause.span if clause is not None else None
    assert place is not None, "other notations have no real fills"
    words = f"its numbers are -{largest:g} to {largest:g}"
    raise fault("L208", message, place, words=words, help=hint)
