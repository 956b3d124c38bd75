"""Every way to change one token of a declaration or a formula.

The project's own parser says where the tokens are and what they are, so that a change is one that a
slip of the pen makes: another number, operator, index or extent, a coordinate lost or exchanged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from layoutdsl.language.syntax import ast
from layoutdsl.language.syntax.parser import parse
from layoutdsl.language.texts.source import Source, Span

from .oracle import walk

OPERATORS = {
    "/": "%*",
    "%": "/*",
    "*": "+/",
    "+": "-*",
    "-": "+",
    "<<": (">>", "*"),
    ">>": ("<<", "%"),
    "&": "^+",
    "|": "^&",
    "^": "&+",
}

BLOCK = 16


@dataclass(frozen=True)
class Edit:
    """A text that differs from its original in one place, and in what way."""

    kind: str
    text: str


def of_layout(text: str) -> list[Edit]:
    """Every edit of the coordinates and the offset of a declaration, each text once."""
    (layout,) = parse(Source("", text)).declarations
    assert isinstance(layout, ast.LayoutDecl)
    assert isinstance(layout.body, ast.Coordinates)
    places = layout.body.places
    written = [each for place in places for each in (place.value, place.extent)]
    written += [each.value for each in layout.clauses if isinstance(each, ast.OffsetClause)]
    names = _Names.of(layout)
    found = [each for whole in written for each in _of_expression(text, whole, names)]
    found += _of_places(text, places)
    return _once(text, found)


def of_formula(declaration: str, formula: str) -> list[Edit]:
    """Every edit of a formula over the axes of a layout."""
    (layout,) = parse(Source("", declaration)).declarations
    assert isinstance(layout, ast.LayoutDecl)
    head = f"prove {layout.name.text} == "
    text = f"{head}{formula}"
    (claim,) = parse(Source("", text)).declarations
    assert isinstance(claim, ast.ClaimDecl)
    assert isinstance(claim.predicate, ast.Equals)
    right = claim.predicate.right
    assert not isinstance(right, ast.Reference | ast.Coordinates)
    names = _Names.of(layout)
    found = [*_of_expression(text, right, names), *_of_terms(text, right)]
    for each in claim.predicate.names:
        found += _of_expression(text, each.value, names)
    return [Edit(each.kind, each.text.removeprefix(head)) for each in _once(text, found)]


@dataclass(frozen=True)
class _Names:
    axes: tuple[str, ...]
    extents: tuple[str, ...]
    parameters: tuple[str, ...]

    @classmethod
    def of(cls, layout: ast.LayoutDecl) -> _Names:
        axes = layout.axes or ()
        extents = (
            axis.extent.text if isinstance(axis.extent, ast.Name) else axis.name.text.upper()
            for axis in axes
        )
        return cls(
            tuple(axis.name.text for axis in axes),
            tuple(dict.fromkeys(extents)),
            tuple(each.text for each in layout.parameters),
        )


def _once(text: str, edits: list[Edit]) -> list[Edit]:
    found: dict[str, Edit] = {}
    for each in edits:
        if each.text != text:
            found.setdefault(each.text, each)
    return list(found.values())


def _replaced(text: str, span: Span, new: str) -> str:
    return text[: span.start] + new + text[span.end :]


def _of_expression(text: str, whole: ast.Expression | None, names: _Names) -> Iterator[Edit]:
    for each in walk(whole):
        match each:
            case ast.Number(value, span):
                for other in (value - 1, value + 1, 2 * value, value // 2):
                    if other >= 0:
                        yield Edit("number", _replaced(text, span, str(other)))
            case ast.Name(name, span):
                yield from _of_name(text, name, span, names)
            case ast.Operation():
                yield from _of_operator(text, each)
            case ast.Call(function, arguments, span):
                yield from _of_call(text, function, arguments, span)


def _of_name(text: str, name: str, span: Span, names: _Names) -> Iterator[Edit]:
    for family, kind in ((names.axes, "index"), (names.extents, "extent")):
        if name in family:
            for other in family:
                yield Edit(kind, _replaced(text, span, other))
    if name in names.axes:
        yield Edit("index", _replaced(text, span, names.extents[0]))
    if name in names.extents:
        yield Edit("padding", _replaced(text, span, f"roundup({name}, {BLOCK})"))
        yield Edit("padding", _replaced(text, span, f"({name} + 1)"))
    if name in names.parameters:
        yield Edit("number", _replaced(text, span, f"(2*{name})"))
        yield Edit("number", _replaced(text, span, f"({name} + 1)"))


def _of_operator(text: str, each: ast.Operation) -> Iterator[Edit]:
    between = text[each.left.span.end : each.right.span.start]
    place = each.left.span.end + between.index(each.symbol)
    end = place + len(each.symbol) + (text[place : place + 2] == "//")
    for other in OPERATORS[each.symbol]:
        yield Edit("operator", text[:place] + other + text[end:])
    if each.symbol == "/":
        yield Edit("rounding", _replaced(text, each.span, f"ceil({_slice(text, each.span)})"))


def _of_call(
    text: str, function: ast.Name, arguments: tuple[ast.Expression, ...], span: Span
) -> Iterator[Edit]:
    inside = _slice(text, Span(span.source, arguments[0].span.start, arguments[0].span.end))
    match function.text:
        case "ceil":
            yield Edit("rounding", _replaced(text, span, f"({inside})"))
        case "roundup":
            yield Edit("rounding", _replaced(text, span, f"({inside})"))
        case "min":
            yield Edit("rounding", _replaced(text, function.span, "max"))
        case "max":
            yield Edit("rounding", _replaced(text, function.span, "min"))


def _slice(text: str, span: Span) -> str:
    return text[span.start : span.end]


def _of_places(text: str, places: tuple[ast.Place, ...]) -> Iterator[Edit]:
    spans = [each.span for each in places]
    for number, span in enumerate(spans):
        if len(spans) > 1:
            after = spans[number + 1].start if number + 1 < len(spans) else span.end
            before = spans[number - 1].end if number + 1 == len(spans) else span.start
            yield Edit("dropped", text[:before] + text[after:])
        declared = places[number].extent
        if declared is None:
            yield Edit("padding", text[: span.end] + " : 7" + text[span.end :])
        else:
            yield Edit("padding", text[: places[number].value.span.end] + text[span.end :])
    for one, other in combinations(spans, 2):
        middle = text[one.end : other.start]
        exchanged = f"{_slice(text, other)}{middle}{_slice(text, one)}"
        yield Edit("exchanged", text[: one.start] + exchanged + text[other.end :])
    yield Edit("halved", re.sub(rf"\b{BLOCK}\b", str(BLOCK // 2), text))


def _of_terms(text: str, whole: ast.Expression) -> Iterator[Edit]:
    """Sums and products without one of their sides."""
    for each in walk(whole):
        if isinstance(each, ast.Operation) and each.symbol in "+-*":
            for side in (each.left, each.right):
                yield Edit("dropped", _replaced(text, each.span, f"({_slice(text, side.span)})"))
