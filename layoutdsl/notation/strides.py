"""A numpy array by its attributes: ``shape=(2, 3), strides=(12, 4), dtype=float32``.

Strides are in bytes; without them the array is row-major. In Python, `Layout.of(array)` reads the
attributes of an array itself. Strides may not be negative, and no two elements may share a slot.

Source: NumPy reference, "The N-dimensional array", internal memory layout of an ndarray.
"""

from __future__ import annotations

from typing import cast

from lark import Token, Tree

from layoutdsl.language.integers.bounds import product, simplify
from layoutdsl.language.integers.expr import Constant, Expr
from layoutdsl.language.meaning import strided
from layoutdsl.language.meaning.elements import ELEMENT_TYPES, ElementType, FillAny
from layoutdsl.language.meaning.model import Axis, Layout
from layoutdsl.language.syntax.reading import tree
from layoutdsl.language.texts.faults import did_you_mean, fault
from layoutdsl.language.texts.source import Span
from layoutdsl.notation import cute_text
from layoutdsl.notation.blocks import axes_or, with_extents
from layoutdsl.notation.notation import Notes, Reading, Unwritable

ABOUT = "numpy arrays, by shape, strides and dtype"
EXAMPLE = "shape=(2, 3), strides=(12, 4), dtype=float32"

MOST_RANK = 64
MOST_DIGITS = 18
_SPELLING = {"INT": "a number", "SIGN": "`-`", "NAME": "a dtype", "NUMBER": "a number"}
_TYPES = {
    **{f"{kind}{bits}": f"{kind[0]}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)},
    **{f"float{bits}": f"f{bits}" for bits in (16, 32, 64)},
}
"""numpy's names of the types whose elements are ours."""

Branch = Tree[Token]


def read(text: Span, axes: tuple[Axis, ...] | None) -> Reading:
    """Return the layout of an array with these attributes; see `Notation.read` for errors."""
    fields: dict[str, Branch] = {}
    for each in cast("list[Branch]", tree("numpy", text, "L401", _SPELLING).children):
        if each.data in fields:
            raise fault("L404", f"`{each.data}` is given twice", _span(text, each))
        fields[str(each.data)] = each
    if "shape" not in fields:
        raise fault("L401", "the shape is missing", text, help="write `shape=(2, 3)`")
    shape = _numbers(text, fields["shape"], least=1)
    element = _element(text, fields["dtype"]) if "dtype" in fields else None
    if len(shape) > MOST_RANK:
        raise fault("L103", f"an array has {MOST_RANK} axes at most", text)
    strides = list(strided.row_major(shape))
    if "strides" in fields:
        strides = _strides(text, fields["strides"], len(shape), element)
    found = axes_or(axes, [f"d{number}" for number in range(len(shape))], text, "the shape")
    found = with_extents(found, [Constant(extent) for extent in shape], text)
    digits = strided.digits_at([axis.name for axis in found], shape, strides)
    try:
        coordinates = strided.coordinates(digits)
    except ValueError as reason:
        raise fault("L406", str(reason), _span(text, fields["strides"])) from None
    return Reading(Layout("array", found, coordinates, fill=FillAny(), element=element))


def _span(text: Span, branch: Branch) -> Span:
    return Span(text.source, text.start + branch.meta.start_pos, text.start + branch.meta.end_pos)


def _numbers(text: Span, branch: Branch, least: int) -> list[int]:
    found: list[int] = []
    for number in branch.find_data("number"):
        sign, digits = cast("list[Token | None]", number.children)
        assert digits is not None
        if len(digits) > MOST_DIGITS:
            message = f"this number has more than {MOST_DIGITS} digits"
            raise fault("L103", message, _span(text, number))
        value = -int(digits) if sign else int(digits)
        if value < least:
            hint = "begin at the last element, and turn the axis round" if value < 0 else None
            word = "stride" if branch.data == "strides" else "extent"
            raise fault("L405", f"the {word} is {value}", _span(text, number), help=hint)
        found.append(value)
    return found


def _element(text: Span, branch: Branch) -> ElementType:
    name = str(cast("Token", branch.children[-1]))
    if name not in _TYPES:
        hint = did_you_mean(name, _TYPES) or f"known are {', '.join(_TYPES)}"
        raise fault("L404", f"there is no dtype `{name}`", _span(text, branch), help=hint)
    return ELEMENT_TYPES[_TYPES[name]]


def _strides(text: Span, branch: Branch, rank: int, element: ElementType | None) -> list[int]:
    """Return strides in elements."""
    place = _span(text, branch)
    if element is None:
        raise fault("L405", "strides are in bytes, and need a `dtype`", place)
    size = element.bits // 8
    found = _numbers(text, branch, least=0)
    if len(found) != rank:
        raise fault("L405", f"{rank} extents have {len(found)} strides", place)
    for stride in found:
        if stride % size:
            message = f"the stride {stride} is no multiple of an element of {size} bytes"
            raise fault("L405", message, place)
    return [stride // size for stride in found]


def write(layout: Layout, notes: Notes) -> str:  # noqa: ARG001  nothing is said beyond
    """Return the attributes of an array that lies like this; its elements have a known width."""
    element = layout.element
    names = {ours: name for name, ours in _TYPES.items()}
    found = cute_text.strided(layout)
    if found.swizzle:
        raise Unwritable("its offsets are exclusive-ored, which strides cannot say")
    cut = next((name for name, digits in found.digits.items() if len(digits) > 1), None)
    if cut is not None:
        raise Unwritable(f"axis `{cut}` is cut into blocks, and strides cannot say so")
    extents = list(found.extents)
    strides = [sum(stride for *_, stride in digits) for digits in found.digits.values()]
    shape = f"shape={_tuple(extents)}"
    array = strided.digits_at([axis.name for axis in layout.axes], extents, strides)
    if Constant(strided.slots(array)) != _size(layout):
        raise Unwritable("its buffer is larger than that of an array with these strides")
    if element is None and strides == _strides_of_wide(extents):
        return shape
    if element is None or element.name not in names:
        raise Unwritable("strides are in bytes, and the layout names no element type numpy has")
    written = _tuple([element.bits // 8 * stride for stride in strides])
    return f"{shape}, strides={written}, dtype={names[element.name]}"


def _size(layout: Layout) -> Expr:
    return simplify(product(tuple(each.extent for each in layout.coordinates)))


def _strides_of_wide(extents: list[int]) -> list[int]:
    """Row-major strides, 0 along an axis of one element, which has none of its own."""
    pairs = zip(extents, strided.row_major(extents), strict=True)
    return [stride if extent > 1 else 0 for extent, stride in pairs]


def _tuple(numbers: list[int]) -> str:
    return f"({', '.join(map(str, numbers))}{',' if len(numbers) == 1 else ''})"
