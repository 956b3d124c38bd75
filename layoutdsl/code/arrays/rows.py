"""`_views` of layouts without digits whose rows lie together: triangles and bands.

All axes but that of the rows and such as are a coordinate of their own are gone through one by one.
"""

from __future__ import annotations

from layoutdsl.code.arrays.names import Names
from layoutdsl.code.arrays.views import bare
from layoutdsl.code.moves import Rows
from layoutdsl.code.validate.arrays.frame import VIEWS, function, indented
from layoutdsl.language.integers.bounds import ONE, ZERO, at_least, reach, simplify
from layoutdsl.language.integers.digit import same
from layoutdsl.language.integers.expr import Add, Expr, Index, Max, Min, Sub, indices, substitute
from layoutdsl.language.meaning.model import Layout


def row_views(layout: Layout, rows: Rows, names: Names) -> list[str] | None:
    """Return `_views` over the rows of a layout; `None` if they are not along one coordinate.

    Args:
        layout: without digits.
        rows: along which axis they lie, and from where to where.
        names: of its extents.
    """
    own = layout.axes[rows.axis]
    along = [k for k, each in enumerate(layout.coordinates) if own.name in indices(each.value)]
    plain = _whole_axes(layout, own.name)
    if rows.run is not None or len(along) != 1:
        return None
    low, high = (_tidy(each, layout) for each in (rows.low, rows.high))
    high = high if layout.domain else own.extent
    first = substitute(layout.coordinates[along[0]].value, {own.name: low})
    many = simplify(Sub(high, low))
    before, ends = list[str](), (names.text(low), names.text(many))
    found = reach(many, {axis.name: axis.extent for axis in layout.axes})
    is_ever_empty = found is None or not at_least(found.low, 0)
    if is_ever_empty:
        ends = names.fresh("low"), names.fresh("many")
        before = [f"{ends[0]} = {names.text(low)}", f"{ends[1]} = {names.text(high)} - {ends[0]}"]
    places, counted, loops = list[str](), list[str](), list[str]()
    for axis in layout.axes:
        if axis is own:
            place = f":{ends[1]}" if low == ZERO else f"{ends[0]}:{ends[0]} + {ends[1]}"
            if same(high, axis.extent) and not is_ever_empty:
                place = f"{ends[0]}:"
            places.append(":" if same(many, axis.extent) else place)
            counted.append(axis.name)
        elif axis.name in plain.values():
            places.append(":")
            counted.append(axis.name)
        else:
            places.append(names[axis.name])
            loops.append(f"for {names[axis.name]} in range({names.text(axis.extent)}):")
    slots, order = list[str](), list[int]()
    for position, each in enumerate(layout.coordinates):
        if position in (*plain, *along):
            order.append(counted.index(plain.get(position, own.name)))
            slots.append(":" if position in plain else f"first:first + {ends[1]}")
        else:
            slots.append(names.text(each.value))
    turned = f".transpose({', '.join(map(str, order))})" if order != sorted(order) else ""
    body = [
        f"first = {names.text(first)}",
        f"yield {_taken('tensor', places)}{turned}, {_taken('buffer', slots)}",
    ]
    if is_ever_empty:
        body = [f"if {ends[1]} > 0:", *indented(body)]
    body = [*before, *body]
    behind = list[str]()
    if layout.start != ZERO:
        box = ", ".join(names.text(each.extent) for each in layout.coordinates)
        behind = [f"buffer = buffer[{names.text(layout.start)}:]"]
        behind[0] += f".reshape({box})" if len(layout.coordinates) > 1 else ""
    lines = [line for depth, loop in enumerate(loops) for line in indented([loop], depth)]
    lines += indented(body, len(loops))
    said = '"""Yield rows of tensor and buffer: the same elements in the same order."""'
    lines = [said, *names.named("tensor.shape", [*behind, *lines])]
    return function("_views", "tensor: Array, buffer: Array", VIEWS, lines)


def _taken(name: str, places: list[str]) -> str:
    """An array, or the part of it at some places."""
    kept = bare(places)
    return f"{name}[{', '.join(kept)}]" if kept else name


def _tidy(end: Expr, layout: Layout) -> Expr:
    """An end of a row without extremes that are plain from the extents: ``max(0, j)`` is ``j``."""
    extents = {axis.name: axis.extent for axis in layout.axes}
    match end:
        case Max(left, right) if at_least(Sub(right, left), 0):
            return right
        case Min(left, right):
            found = reach(right, extents)
            if found is not None and at_least(Sub(Add(left, ONE), found.high), 0):
                return right
    return end


def _whole_axes(layout: Layout, along: str) -> dict[int, str]:
    """The coordinates that are a whole axis each, and nothing else depends on it."""
    used = [name for each in layout.coordinates for name in indices(each.value)]
    held = {name for c in layout.domain for side in (c.left, c.right) for name in indices(side)}
    extents = {axis.name: axis.extent for axis in layout.axes}
    found = dict[int, str]()
    for position, each in enumerate(layout.coordinates):
        match each.value:
            case Index(name) if (
                name != along
                and name not in held
                and used.count(name) == 1
                and same(each.extent, extents[name])
            ):
                found[position] = name
    return found
