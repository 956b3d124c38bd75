"""The rules of meaning, one by one: what a written axis, clause, argument or run stands for.

Each takes a piece of the tree and returns its meaning, or raises the fault with its place.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace

from layoutdsl.digits.network import NotDigits
from layoutdsl.elaborate.scope import Scope
from layoutdsl.elaborate.synonyms import element_called, fill_called, interface_called
from layoutdsl.integers.bounds import at_least
from layoutdsl.integers.digit import Digit, apart, read
from layoutdsl.integers.expr import Constant, Coordinate, Expr, Extent, Index, text
from layoutdsl.meaning.claims import INTEGER_TYPES, IntegerType, of_bits
from layoutdsl.meaning.elements import (
    BIT,
    BIT_AXIS,
    ELEMENT_TYPES,
    ElementType,
    Fill,
    FillAny,
    FillValue,
    FillZeroPoint,
)
from layoutdsl.meaning.interface import ScaleOffset, takes_codes
from layoutdsl.meaning.model import Axis, Condition, Layout
from layoutdsl.meaning.storage import STORAGES
from layoutdsl.syntax import ast
from layoutdsl.syntax.printer import print_expression, print_place
from layoutdsl.syntax.walk import names_in, of_places
from layoutdsl.texts.faults import Fault, did_you_mean, fault
from layoutdsl.texts.source import Label, Span

SCALE_OFFSET = "scale_offset"
"""The interface of elements that are codes of real numbers."""

MOST_BITS = 128
"""The widest integer that a claim may name."""


def scope_of(axes: Sequence[Axis], parameters: Mapping[str, Expr]) -> Scope:
    """Return the names of a layout: its axes, extents and parameters."""
    symbols: dict[str, Expr] = dict(parameters)
    for axis in axes:
        if isinstance(axis.extent, Extent):
            symbols[axis.extent.name] = axis.extent
    for axis in axes:
        symbols.setdefault(axis.name.upper(), axis.extent)
    return Scope({axis.name: axis.extent for axis in axes}, symbols)


def silent(span: Span) -> Fault:
    """A fault that follows from one already reported."""
    return fault("", "", span)


def twice(kind: str, name: ast.Name, first: ast.Name) -> Fault:
    """Return the fault of a name that is declared again."""
    label = (Label(first.span, "first here"),)
    return fault("L203", f"the {kind} `{name.text}` is declared twice", name.span, others=label)


def refuse_repeats(kind: str, names: Sequence[ast.Name]) -> None:
    """Raise where a name occurs twice in one list."""
    seen: dict[str, ast.Name] = {}
    for name in names:
        if name.text in seen:
            raise twice(kind, name, seen[name.text])
        seen[name.text] = name


def axis_of(axis: ast.AxisDecl) -> Axis:
    """Return an axis of a tensor with its extent, by default its name in upper case."""
    name = axis.name
    if name.text != name.text.lower() or not name.text[0].isalpha():
        hint = f"write `{name.text.lower().lstrip('_') or 'c'}`"
        raise fault("L204", f"the axis `{name.text}` is not in lower case", name.span, help=hint)
    match axis.extent:
        case None:
            return Axis(name.text, Extent(name.text.upper()))
        case ast.Number(value, span):
            if value < 1:
                raise fault("L204", "an extent is at least 1", span)
            return Axis(name.text, Constant(value))
        case ast.Name(extent, span):
            if extent != extent.upper() or not extent[0].isalpha():
                hint = f"write `{extent.upper().lstrip('_') or 'C'}`"
                raise fault("L204", f"the extent `{extent}` is not in upper case", span, help=hint)
            return Axis(name.text, Extent(extent))


def axes_of(
    declared: Sequence[ast.AxisDecl],
    parameters: Sequence[ast.Name],
    given: Mapping[str, Expr] | None = None,
) -> tuple[Axis, ...]:
    """Return the axes of a layout or table, whose names clash with none of its parameters.

    Args:
        declared: as they are written.
        parameters: of the layout or table.
        given: what the parameters of a layout stand for; a table has no axes of copies.
    """
    refuse_repeats("parameter", parameters)
    seen: dict[str, ast.Name] = {each.text: each for each in parameters}
    opened = dict(seen)
    axes: list[Axis] = []
    for axis in declared:
        if axis.name.text in seen:
            raise twice("axis", axis.name, seen[axis.name.text])
        seen[axis.name.text] = axis.name
        if axis.broadcast is not None:
            axes.append(copies_of(axis, axis.broadcast, declared, given))
            continue
        axes.append(axis_of(axis))
        match axes[-1].extent:
            case Extent(name) if name in opened:
                raise twice("extent", ast.Name(name, axis.name.span), opened[name])
    return tuple(axes)


def copies_of(
    axis: ast.AxisDecl,
    word: ast.Name,
    declared: Sequence[ast.AxisDecl],
    parameters: Mapping[str, Expr] | None,
) -> Axis:
    """Return an axis of copies, of which there are as many as parameters and a tensor's shape say.

    Raises:
        Fault: they do not say it; or there are no copies of elements here.
    """
    if parameters is None:
        message = "only a layout puts one element into several slots"
        raise fault("L215", message, word.span, help="leave out `broadcast`")
    extent = axis.extent
    if isinstance(extent, ast.Name) and extent.text in parameters:
        value = parameters[extent.text]
        assert isinstance(value, Extent | Constant), "a parameter is a number or left open"
        return Axis(axis_of(replace(axis, extent=None)).name, value)
    found = axis_of(axis)
    if isinstance(found.extent, Constant):
        return found
    own = [axis_of(each).extent for each in declared if each.broadcast is None]
    if found.extent in own:
        return found
    name = axis.name.text
    message = f"nothing says how many copies there are along `{name}`"
    hint = f"give a number, `{name}: 32 broadcast`, a parameter or the extent of another axis"
    raise fault("L215", message, axis.name.span, help=hint)


def refuse_copies_in(domain: Iterable[Condition], copies: Container[str], span: Span) -> None:
    """Raise where copies of one element would be in the domain, and others not."""
    for each in domain:
        for name in sorted(each.indices):
            if name in copies:
                message = f"the condition `{each}` tells copies of one element apart by `{name}`"
                hint = "say it of the indices of the tensor"
                raise fault("L215", message, span, help=hint)


def wrong_count(
    reference: ast.Reference, names: Sequence[str], given: int, kind: str = "layout"
) -> str:
    """Return the message for a layout or table with the wrong number of arguments."""
    count = f"{len(names)} parameter{'s' * (len(names) != 1)}" if names else "no parameters"
    return f"the {kind} `{reference.name.text}` takes {count}, not {given}"


def arguments_of(
    reference: ast.Reference,
    names: Sequence[str],
    parameters: Mapping[str, Expr],
    kind: str = "layout",
) -> dict[str, Expr]:
    """Return the value of each parameter that a reference gives."""
    if not reference.arguments:
        return {}
    if len(names) != len(reference.arguments):
        message = wrong_count(reference, names, len(reference.arguments), kind)
        raise fault("L210", message, reference.span)
    values: list[Expr] = []
    for argument in reference.arguments:
        match argument:
            case ast.Number(value, span):
                if value < 1:
                    raise fault("L210", "a parameter is at least 1", span)
                values.append(Constant(value))
            case ast.Name(name, span):
                if name not in parameters:
                    hint = did_you_mean(name, parameters)
                    raise fault("L201", f"`{name}` is no parameter here", span, help=hint)
                values.append(parameters[name])
    return dict(zip(names, values, strict=True))


def with_parameters(layout: Layout, values: Mapping[str, Expr]) -> Layout:
    """Give a library layout, known only as meaning, its arguments."""
    if not values:
        return layout
    opened = [v.name for v in values.values() if isinstance(v, Extent)]
    return replace(layout.substituted(values), parameters=tuple(dict.fromkeys(opened)))


def no_layout(name: ast.Name, known: Iterable[str]) -> Fault:
    """Return the fault of a name that is no layout's: perhaps that of a notation without a text."""
    from layoutdsl.notation.notation import NAMES, notation

    if name.text in NAMES:
        message = f"the notation `{name.text}` stands before a text in quotes"
        hint = f'write one, as in `{name.text} "{notation(name.text).EXAMPLE}"`'
        return fault("L401", message, name.span, help=hint)
    close = did_you_mean(name.text, known)
    return fault("L201", f"there is no layout `{name.text}`", name.span, help=close)


def fill_of(clause: ast.FillClause) -> Fill:
    """Return what a `fill` clause says."""
    match clause.value:
        case int(value):
            return FillValue(value)
        case "any":
            return FillAny()
        case "zero_point":
            return FillZeroPoint()
    called = fill_called(clause.value)
    hint = f"write `{called}`" if called else "write a number, `any`, or `zero_point`"
    raise fault("L208", f"`{clause.value}` is no fill", clause.span, help=hint)


def element_of(name: ast.Name) -> ElementType:
    """Return the element type of that name."""
    if name.text in ELEMENT_TYPES:
        return ELEMENT_TYPES[name.text]
    called = element_called(name.text)
    close = f"write `{called}`" if called else did_you_mean(name.text, ELEMENT_TYPES)
    hint = close or f"known are {', '.join(ELEMENT_TYPES)}"
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
    message = "`bit` is a bit of an element, and the layout does not say of which type"
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
        message = f"`{element.name}` holds no codes: these are integers of up to 32 bits"
        hint = "write one of them, as in `of u8 as scale_offset`"
        raise fault("L208", message, clause.name.span, help=hint)
    if layout.bit_of is not None:
        message = "the layout places the bits of its elements, and padding of bits is no zero point"
        hint = f"write `of {element.name}`, and pack codes"
        raise fault("L208", message, words.span, help=hint)
    axes = [axis.name for axis in layout.element_axes]
    if words.per is not None and words.per.text not in axes:
        hint = did_you_mean(words.per.text, axes) or f"its axes are {', '.join(axes)}"
        message = f"`{words.per.text}` is no axis of the layout"
        raise fault("L208", message, words.per.span, help=hint)
    per = None if words.per is None else words.per.text
    return replace(layout, interface=ScaleOffset(per))


def _no_interface(words: ast.InterfaceWords) -> Fault:
    if words.name.text == "plain":
        message = "plain elements stand for themselves, and have no scale"
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


def start_of(scope: Scope, value: ast.Expression) -> Expr:
    """Return the slots before the first, which are never negative."""
    start = scope.extent(value)
    if not at_least(start, 0):
        raise fault("L208", "the offset of the first element may be negative", value.span)
    return start


def check_fill(layout: Layout, clause: ast.Clause | None) -> None:
    """Raise where the fill is no value of the element type."""
    element, fill = layout.element, layout.fill
    if clause is None or element is None:
        return
    if layout.bit_of is not None and fill not in (FillValue(0), FillAny()):
        message = "padding of bits, each placed by itself, is 0 or `any`"
        raise fault("L208", message, clause.span)
    if not isinstance(fill, FillValue):
        return
    if element.values is None:
        return
    low, high = element.values
    if not low <= fill.value <= high:
        words = f"{element.name} holds {low} to {high}"
        message = f"the fill {fill.value} is no value of `{element.name}`"
        raise fault("L208", message, clause.span, words=words)


def gap(found: NotDigits, body: ast.Coordinates, layout: Layout) -> Fault:
    """Return the fault of digits that leave a gap, with both digits marked."""
    above = body.places[found.wires[0]]
    step = read(layout.coordinates[found.wires[0]].value)
    others: tuple[Label, ...] = ()
    hint = None
    if len(found.wires) > 1 and step is not None and isinstance(step.divisor, Constant):
        below = body.places[found.wires[1]]
        digit = read(layout.coordinates[found.wires[1]].value)
        if digit is not None and isinstance(digit.radix, Constant):
            others = (Label(below.span, f"covers {digit.radix.value}"),)
            if isinstance(digit.divisor, Constant) and digit.divisor.value == 1:
                name = print_place(below).split("%")[0]
                block = step.divisor.value
                again = f"{name}%{block}/{digit.radix.value}"
                hint = f"write `{name}%{block}`, or cut again with `{again}`"
    words = f"steps by {step.divisor.value}" if step and isinstance(step.divisor, Constant) else ""
    return fault("L202", found.reason, above.span, words=words, others=others, help=hint)


def unused(found: NotDigits, declaration: ast.LayoutDecl) -> Fault:
    """Return the fault of an axis that no coordinate speaks of, at the axis."""
    axes = [each.name for each in declaration.axes or ()]
    (name,) = [each for each in axes if each.text == found.axis]
    hint = "give it a coordinate, or fix its extent to 1"
    return fault("L209", found.reason, name.span, help=hint)


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
            message = "a digit of a run has no extent of its own"
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


def on_axes_of(layout: Layout, other: Layout, span: Span) -> Layout:
    """Return ``other`` over the axes of ``layout``: by name if both have the same, else in order.

    Raises:
        Fault: the layouts take different tensors.
    """
    if len(layout.axes) != len(other.axes):
        message = f"`{layout.name}` has {len(layout.axes)} axes, `{other.name}` {len(other.axes)}"
        raise fault("L303", message, span)
    opened = [name for name in other.parameters if name not in layout.parameters]
    if opened:
        message = f"the parameter `{opened[0]}` of `{other.name}` is open"
        raise fault("L303", message, span, help=f"give it a number, as in `{other.name}<16>`")
    known = {axis.name: axis for axis in layout.axes}
    by_name = known.keys() == {axis.name for axis in other.axes}
    names: dict[str, Expr] = {}
    copies = list[str]()
    for axis, theirs in zip(layout.axes, other.axes, strict=True):
        mine = known[theirs.name] if by_name else axis
        names[theirs.name] = Index(mine.name)
        copies += [mine.name] if theirs.name in other.copies else []
        if isinstance(theirs.extent, Extent):
            if names.setdefault(theirs.extent.name, mine.extent) != mine.extent:
                message = f"`{other.name}` needs two equal extents where `{layout.name}` has two"
                raise fault("L303", message, span)
        elif theirs.extent != mine.extent:
            message = f"axis `{theirs.name}` of `{other.name}` has {theirs.extent.value} elements"
            raise fault("L303", message, span)
    if {*copies} != {*layout.copies}:
        one, two = (_copies_said(each) for each in (layout, other))
        raise fault("L303", f"{one}, and {two}: they take different tensors", span)
    moved = replace(other.substituted(names), axes=layout.axes, copies=layout.copies)
    match other.interface:
        case ScaleOffset(str() as per):
            named = text(names[per])
            return replace(moved, interface=ScaleOffset(named))
    return moved


def _copies_said(layout: Layout) -> str:
    held = ", ".join(f"`{name}`" for name in layout.copies)
    return f"`{layout.name}` has {f'copies along {held}' if held else 'no copies'}"
