"""A layout as TVM writes it: a tag where all coordinates are blocks of axes, else an index map."""

from __future__ import annotations

from layoutdsl.bounds import ONE, reach
from layoutdsl.digits import NotDigits, network, read, same
from layoutdsl.expr import (
    Add,
    BitAnd,
    BitXor,
    CeilDiv,
    Constant,
    Coordinate,
    Expr,
    Extent,
    FloorDiv,
    Index,
    Max,
    Min,
    MixedRadix,
    Mod,
    Mul,
    Sub,
    extents,
    text,
)
from layoutdsl.model import FillValue, Layout
from layoutdsl.notation.notation import Notes, Unwritable
from layoutdsl.notation.places import refuse_fill, refuse_range, refuse_start

_LEVEL = {BitXor: 1, BitAnd: 2, Add: 3, Sub: 3, Mul: 4, FloorDiv: 4, Mod: 4}
_SYMBOL = {BitXor: "^", BitAnd: "&", Add: "+", Sub: "-", Mul: "*", FloorDiv: "//", Mod: "%"}
SEPARATOR = "IndexMap.AXIS_SEPARATOR"


def write(layout: Layout, notes: Notes) -> str:
    """Return a tag, or an index map where the layout has no tag or was read from a map.

    Raises:
        Unwritable: TVM has no text for it.
    """
    refuse_start(layout)
    refuse_range(layout)
    refuse_fill(layout, FillValue(0))
    if notes.get("form") != "map":
        tag = _tag(layout)
        if tag is not None:
            return tag
    return _map(layout)


def _tag(layout: Layout) -> str | None:
    """Return the tag, or ``None`` where there is none."""
    if layout.chunk_rank is not None or isinstance(network(layout), NotDigits):
        return None
    if any(len(axis.name) > 1 for axis in layout.axes):
        return None
    if not _descending(layout):
        return None
    words = [_item(layout, each) for each in layout.coordinates]
    if any(word is None for word in words):
        return None
    tag = "".join(word for word in words if word is not None)
    order = [letter.lower() for letter in tag if letter.isupper()]
    return tag if sorted(order) == sorted(axis.name for axis in layout.axes) else None


def _descending(layout: Layout) -> bool:
    """Whether the blocks of each axis stand from the most major down, as a tag takes them to."""
    below: dict[str, int] = {}
    for part in (part for each in layout.coordinates for part in _parts(each)):
        digit = read(part.value)
        if digit is None or not isinstance(digit.whole, Index):
            return False
        if not isinstance(digit.divisor, Constant):
            return False
        name = digit.whole.name
        if name in below and digit.divisor.value >= below[name]:
            return False
        below[name] = digit.divisor.value
    return True


def _parts(coordinate: Coordinate) -> tuple[Coordinate, ...]:
    return coordinate.value.parts if isinstance(coordinate.value, MixedRadix) else (coordinate,)


def _item(layout: Layout, coordinate: Coordinate) -> str | None:
    if not _is_natural(layout, coordinate):
        return None
    if isinstance(coordinate.value, MixedRadix):
        parts = [_item(layout, part) for part in coordinate.value.parts]
        if any(part is None or not part[0].isdigit() for part in parts):
            return None
        return f"[{''.join(part for part in parts if part)}]"
    digit = read(coordinate.value)
    if digit is None or not isinstance(digit.whole, Index):
        return None
    name = digit.whole.name
    if digit.radix is None:
        return name.upper()
    return f"{digit.radix.value}{name}" if isinstance(digit.radix, Constant) else None


def _is_natural(layout: Layout, coordinate: Coordinate) -> bool:
    bound = reach(coordinate.value, {axis.name: axis.extent for axis in layout.axes})
    return bound is not None and same(bound.high, coordinate.extent)


def _map(layout: Layout) -> str:
    values: list[str] = []
    for number, each in enumerate(layout.coordinates):
        if number == layout.chunk_rank:
            values.append(SEPARATOR)
        if not _is_natural(layout, each):
            raise Unwritable(f"`{text(each.value)}` has the declared extent `{text(each.extent)}`")
        if extents(each.value):
            raise Unwritable(f"`{text(each.value)}` speaks of extents, and an index map cannot")
        if each.extent != ONE or layout.axes:
            values.append(_python(plain(each.value)))
    names = ", ".join(axis.name for axis in layout.axes)
    return f"lambda {names}: [{', '.join(values)}]" if names else "lambda: []"


def plain(value: Expr) -> Expr:
    """Return a tuple as the sum that it is."""
    match value:
        case MixedRadix(parts):
            total: Expr = Constant(0)
            for number, part in enumerate(parts):
                inner = plain(part.value)
                total = Add(Mul(total, part.extent), inner) if number else inner
            return total
        case Index() | Extent() | Constant():
            return value
        case _:
            return type(value)(plain(value.left), plain(value.right))


def _python(value: Expr, outer: int = 0) -> str:
    match value:
        case Index(name) | Extent(name):
            return name
        case Constant(number):
            return str(number) if number >= 0 else f"({number})"
        case CeilDiv() | Min() | Max() | MixedRadix():
            raise Unwritable(f"`{text(value)}` is no expression of an index map")
        case _:
            level, symbol = _LEVEL[type(value)], _SYMBOL[type(value)]
            body = f"{_python(value.left, level)} {symbol} {_python(value.right, level + 1)}"
            return f"({body})" if level < outer else body
