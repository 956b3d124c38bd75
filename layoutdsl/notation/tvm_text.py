"""A layout as TVM writes it: a tag where TVM makes a layout of it, else an index map.

A tag cuts an axis once, and puts no more than two blocks together. An index map is a function of
Python that returns expressions of its indices: a name is none of Python's own words, and a number
does not stand alone.

Source: `tvm.s_tir.slayout` and `tvm.tirx.IndexMap.from_func`, as far as they take a text.
"""

from __future__ import annotations

from keyword import iskeyword

from layoutdsl.language.digits.network import NotDigits, network
from layoutdsl.language.integers.bounds import ONE, ZERO
from layoutdsl.language.integers.digit import read
from layoutdsl.language.integers.expr import (
    Add,
    CeilDiv,
    Constant,
    Coordinate,
    Expr,
    Index,
    Max,
    Min,
    MixedRadix,
    Mul,
    Printer,
    extents,
    indices,
    text,
    walk,
)
from layoutdsl.language.integers.languages import TVM
from layoutdsl.language.integers.written_out import written_out
from layoutdsl.language.meaning.elements import FillValue
from layoutdsl.language.meaning.model import Layout
from layoutdsl.notation.notation import Notes, Unwritable
from layoutdsl.notation.places import is_natural, refuse_fill, refuse_range, refuse_start

SEPARATOR = "IndexMap.AXIS_SEPARATOR"

PACKED = 2
"""Blocks in one coordinate of a tag: of three, TVM 0.27 gives the first too large a stride."""

LARGEST_BLOCK = 2**31 - 1
LARGEST = 10**18 - 1
"""Of a block in a tag, which TVM keeps in 32 bits, and of a number in an index map."""


def write(layout: Layout, notes: Notes) -> str:
    """Return a tag, or an index map where the layout has no tag or was read from a map.

    Raises:
        Unwritable: TVM has no text for it.
    """
    refuse_start(layout)
    refuse_range(layout)
    refuse_fill(layout, FillValue(0))
    form = notes.get("form")
    tag = None if form in ("map", "separated map") else _tag(layout)
    return tag if tag is not None else _map(layout, separated=form == "separated map")


def _tag(layout: Layout) -> str | None:
    """Return the tag, or ``None`` where there is none."""
    if isinstance(network(layout), NotDigits):
        return None
    words = [_item(layout, each) for each in layout.coordinates]
    tag = "".join(word for word in words if word is not None)
    if None in words or not _cuts_once(layout, tag):
        return None
    return tag


def _cuts_once(layout: Layout, tag: str) -> bool:
    """Whether a tag has every axis once, and a block of it at most once, as TVM takes it."""
    names = sorted(axis.name for axis in layout.axes)
    blocks = [letter for letter in tag if letter.islower()]
    rests = sorted(letter.lower() for letter in tag if letter.isupper())
    return bool(names) and rests == names and len(set(blocks)) == len(blocks)


def _item(layout: Layout, coordinate: Coordinate) -> str | None:
    """Return what a tag has for a coordinate, with the rest of an axis above its only block."""
    if not is_natural(layout, coordinate):
        return None
    if isinstance(coordinate.value, MixedRadix):
        parts = [_item(layout, part) for part in coordinate.value.parts]
        if len(parts) != PACKED or any(part is None or not part[0].isdigit() for part in parts):
            return None
        return f"[{''.join(part for part in parts if part)}]"
    digit = read(coordinate.value)
    if digit is None or not isinstance(digit.whole, Index) or len(digit.whole.name) > 1:
        return None
    name = digit.whole.name
    match digit.divisor, digit.radix:
        case Constant(), None:
            return name.upper()
        case Constant(1), Constant(size) if size <= LARGEST_BLOCK:
            return f"{size}{name}"
    return None


def _map(layout: Layout, *, separated: bool) -> str:
    called = _names(layout)
    values: list[str] = []
    for number, each in enumerate(layout.coordinates):
        if separated and number == layout.chunk_rank:
            values.append(SEPARATOR)
        if not is_natural(layout, each):
            raise Unwritable(f"`{text(each.value)}` has the declared extent `{text(each.extent)}`")
        if extents(each.value):
            raise Unwritable(f"`{text(each.value)}` speaks of extents, and an index map cannot")
        if called:
            values.append(_value(written_out(each.value), called))
        elif each.extent != ONE:
            raise Unwritable("it has no axes, and in an index map a number does not stand alone")
    head = f"lambda {', '.join(called.values())}" if called else "lambda"
    return f"{head}: [{', '.join(values)}]"


def _names(layout: Layout) -> dict[str, str]:
    """Return what Python calls each index: as the axis, unless that is a word of Python's own."""
    taken = {axis.name for axis in layout.axes}
    called: dict[str, str] = {}
    for axis in layout.axes:
        name = axis.name
        while iskeyword(name) or (name != axis.name and name in taken):
            name += "_"
        taken.add(name)
        called[axis.name] = name
    return called


def _value(value: Expr, called: dict[str, str]) -> str:
    """Return an expression of an index; a number becomes one."""
    if not indices(value):
        nothing = Mul(Index(next(iter(called))), ZERO)
        value = nothing if value == ZERO else Add(nothing, value)
    _refuse_untold(value)
    return Printer(TVM, called.__getitem__).text(value)


def _refuse_untold(value: Expr) -> None:
    for each in walk(value):
        if isinstance(each, Constant) and abs(each.value) > LARGEST:
            raise Unwritable(f"the number {each.value} is too large for an index map")
        if isinstance(each, CeilDiv | Min | Max):
            raise Unwritable(f"`{text(each)}` is no expression of an index map")
