"""The rules for what claims speak of: widths, words, bytes and runs."""

from __future__ import annotations

from layoutdsl.language.elaborate.elements import element_of
from layoutdsl.language.elaborate.scope import Scope
from layoutdsl.language.integers.digit import Digit, apart, read
from layoutdsl.language.integers.expr import Coordinate
from layoutdsl.language.meaning.elements import INTEGER_TYPES, ElementType, IntegerType, of_bits
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.storage import STORAGES
from layoutdsl.language.syntax import ast
from layoutdsl.language.syntax.printer import print_expression, print_place
from layoutdsl.language.texts.faults import did_you_mean, fault
from layoutdsl.language.texts.source import Label, Span

MOST_BITS = 128
"""The widest integer that a claim may name."""


def width_of(width: ast.Name | ast.Number) -> IntegerType:
    """Return the integers that a claim names: a type, or unsigned ones of so many bits."""
    match width:
        case ast.Number(bits, span):
            if not 1 <= bits <= MOST_BITS:
                raise fault("L301", f"an integer has 1 to {MOST_BITS} bits", span)
            return of_bits(bits)
        case ast.Name(name, span):
            if name not in INTEGER_TYPES:
                hint = did_you_mean(name, INTEGER_TYPES)
                raise fault("L301", f"there is no integer type `{name}`", span, help=hint)
            return INTEGER_TYPES[name]


def word_of(number: ast.Number, layout: Layout, span: Span) -> int:
    """Return the bits of the words that a claim names."""
    if number.value not in {each.bits for each in STORAGES.values()}:
        raise fault("L301", "words have 8, 16, 32 or 64 bits", number.span)
    if layout.element is None:
        message = f"`{layout.name}` does not say how wide an element is"
        raise fault("L301", message, span, help="add a type to the layout, as `of u4`")
    return number.value


def counted(measure: ast.Measure | None, layout: Layout) -> ElementType | None:
    """Return what a claim counts the bytes of; ``None`` where it counts elements."""
    if measure is None:
        return None
    if measure.element is not None:
        return element_of(measure.element)
    if layout.element is None:
        message = f"`{layout.name}` does not say how wide an element is"
        raise fault("L301", message, measure.span, help="write `in bytes of f32`")
    return layout.element


def run_of(scope: Scope, places: tuple[ast.Place, ...]) -> tuple[Coordinate, ...]:
    """Return a run: digits of axes that have nothing in common, without declared extents."""
    run = tuple(map(scope.coordinate, places))
    before: list[tuple[ast.Place, Digit]] = []
    for place, coordinate in zip(places, run, strict=True):
        digit = read(coordinate.value)
        if digit is None:
            hint = "write an axis, or a part of one such as `c%16`"
            message = f"`{print_place(place)}` is not a digit of an axis"
            raise fault("L302", message, place.span, help=hint)
        if coordinate.declared:
            hint = f"write `{print_expression(place.value)}`"
            message = "a digit of a run has no declared extent"
            raise fault("L302", message, place.span, help=hint)
        for other, known in before:
            if not apart(known, digit):
                label = (Label(other.span, "the same part of the axis"),)
                message = f"`{print_place(place)}` is in the run twice"
                raise fault("L302", message, place.span, others=label)
        before.append((place, digit))
    return run


def refuse_domain(layout: Layout, span: Span) -> None:
    """Raise where a run may begin at an index that has no slot."""
    if layout.domain:
        message = f"not every run of `{layout.name}` begins at an element"
        words = f"it holds elements where {layout.domain[0]}"
        raise fault("L302", message, span, words=words)
