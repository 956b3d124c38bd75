"""A layout as MLIR writes it: attributes of `linalg.pack`, an affine map, or strides."""

from __future__ import annotations

from dataclasses import replace

from layoutdsl.language.integers.bounds import ONE, ZERO, product, reach
from layoutdsl.language.integers.digit import same
from layoutdsl.language.integers.expr import (
    BitAnd,
    BitOr,
    BitXor,
    Constant,
    Expr,
    Extent,
    Index,
    Max,
    Min,
    Mod,
    Printer,
    extents,
    text,
    walk,
)
from layoutdsl.language.integers.languages import AFFINE
from layoutdsl.language.integers.written_out import written_out
from layoutdsl.language.meaning.elements import ElementType, FillAny, FillValue
from layoutdsl.language.meaning.model import Condition, Layout
from layoutdsl.notation.notation import Notes, Unwritable
from layoutdsl.notation.places import (
    Place,
    places,
    refuse_fill,
    refuse_range,
    refuse_start,
    whole_parts,
)


def write(layout: Layout, notes: Notes) -> str:
    """Return the form that the layout was read from, else the first that can say it.

    Raises:
        Unwritable: MLIR has no text for it.
    """
    forms = {"pack": _pack, "line": _line, "map": _map, "strides": _strides, "memref": _memref}
    asked = notes.get("form")
    if asked in forms:
        return forms[asked](layout)
    reasons: list[str] = []
    for form in (_pack, _map, _strides):
        try:
            return form(layout)
        except Unwritable as reason:
            reasons.append(str(reason))
    names = ("linalg.pack", "an affine map", "strides")
    told = (f"as {name}: {reason}" for name, reason in zip(names, reasons, strict=True))
    raise Unwritable("; ".join(told))


def _pack(layout: Layout) -> str:
    order, tiles = _tiled(layout)
    words = [
        f"outer_dims_perm={_list(order)}",
        f"inner_dims_pos={_list([each.axis for each in tiles])}",
        f"inner_tiles={_list([each.block for each in tiles])}",
    ]
    if _divides(layout, tiles):
        return " ".join(words)
    refuse_range(layout)
    match layout.fill:
        case FillValue(int(value)):
            return " ".join([*words, f"padding_value({value})"])
    raise Unwritable("its padding holds no whole number, and a ragged tile needs one")


def _tiled(layout: Layout) -> tuple[list[int], list[Place]]:
    """The order of the outer dimensions, and the tiles; a tile of one element is none."""
    refuse_start(layout)
    if layout.parameters:
        raise Unwritable(f"its parameter `{layout.parameters[0]}` has no number")
    found = places(layout)
    outer = [each for each in found if each.radix is None]
    tiles = [each for each in found if each.radix is not None]
    if any(each.radix is not None for each in found[: len(outer)]):
        raise Unwritable("a tile stands before an outer dimension")
    if len({each.axis for each in tiles}) < len(tiles):
        name = layout.axes[_twice(tiles)].name
        raise Unwritable(f"`{name}` is cut twice")
    order = [each.axis for each in outer]
    return [n for n in range(layout.rank) if n not in order] + order, tiles


def _line(layout: Layout) -> str:
    """A line, with its types; padding is a value that the text does not say."""
    if layout.element is None:
        raise Unwritable("a line says the type of elements, and it has none")
    if not isinstance(layout.fill, FillAny):
        raise Unwritable("a line names its padding, and does not say the number")
    shape = "".join(f"{_static(axis.extent)}x" for axis in layout.axes)
    order, tiles = _tiled(layout)
    sizes = {each.axis: each.block for each in tiles}
    outer = [_static(layout.axes[axis].extent, sizes.get(axis, 1)) for axis in order]
    box = "".join(f"{each}x" for each in (*outer, *(tile.block for tile in tiles)))
    padded = _pack(replace(layout, fill=FillValue(0)))
    attributes, _, ragged = padded.partition(" padding_value")
    kind = _type(layout.element)
    padding = f"padding_value(%pad : {kind}) " if ragged else ""
    types = f"tensor<{shape}{kind}> -> tensor<{box}{kind}>"
    return f"%packed = linalg.pack %source {padding}{attributes} into %target : {types}"


def _type(element: ElementType) -> str:
    if element.name in ("bf16", "f16", "f32", "f64") or element.name[1:].isdigit():
        return element.name.replace("u", "ui")
    raise Unwritable(f"MLIR has no type `{element.name}`")


def _static(extent: Expr, tile: int = 1) -> str:
    return str(-(-extent.value // tile)) if isinstance(extent, Constant) else "?"


def _twice(tiles: list[Place]) -> int:
    axes = [each.axis for each in tiles]
    return next(axis for number, axis in enumerate(axes) if axis in axes[:number])


def _divides(layout: Layout, tiles: list[Place]) -> bool:
    """Whether every tile divides its dimension, and nothing else narrows the range."""
    needed: list[Condition] = []
    for each in tiles:
        match layout.axes[each.axis].extent:
            case Constant(extent):
                if extent % each.block:
                    return False
            case extent:
                needed.append(Condition(Mod(extent, Constant(each.block)), "==", ZERO))
    return set(needed) == set(layout.where)


def _list(numbers: list[int]) -> str:
    return f"[{', '.join(map(str, numbers))}]"


def _map(layout: Layout) -> str:
    refuse_start(layout)
    refuse_range(layout)
    _refuse_filled(layout)
    axes = {axis.name: axis.extent for axis in layout.axes}
    names = {name: f"d{number}" for number, name in enumerate(axes)}
    names |= {name: f"s{number}" for number, name in enumerate(layout.parameters)}
    values: list[str] = []
    for each in layout.coordinates:
        bound = reach(each.value, axes)
        if bound is None or not same(bound.high, each.extent):
            raise Unwritable(f"`{text(each.value)}` has the declared extent `{text(each.extent)}`")
        spoken = extents(each.value) - set(layout.parameters)
        if spoken:
            raise Unwritable(f"`{text(each.value)}` speaks of the extent `{min(spoken)}`")
        values.append(_affine(written_out(each.value), names))
    symbols = [names[name] for name in layout.parameters]
    head = f"({', '.join(names[name] for name in axes)})"
    head += f"[{', '.join(symbols)}]" if symbols else ""
    return f"affine_map<{head} -> ({', '.join(values)})>"


def _refuse_filled(layout: Layout) -> None:
    elements = product(tuple(axis.extent for axis in layout.axes))
    if not same(elements, product(tuple(each.extent for each in layout.coordinates))):
        refuse_fill(layout, FillAny())


def _affine(value: Expr, names: dict[str, str]) -> str:
    for each in walk(value):
        if isinstance(each, BitAnd | BitOr | BitXor | Min | Max):
            raise Unwritable(f"`{text(each)}` is not affine")
    return Printer(AFFINE, names.__getitem__).text(value)


def _strides(layout: Layout) -> str:
    numbers = _in_elements(layout)
    offset = "" if layout.start == ZERO else f", offset: {text(layout.start)}"
    return f"strided<{_list(numbers)}{offset}>"


def _memref(layout: Layout) -> str:
    if layout.element is None:
        raise Unwritable("it names no element type")
    shape = "".join(
        f"{text(axis.extent) if isinstance(axis.extent, Constant) else '?'}x"
        for axis in layout.axes
    )
    values: list[Expr] = [Index(axis.name) for axis in layout.axes]
    if not layout.axes:
        values = [Constant(0)]
    in_order = layout.start == ZERO and [each.value for each in layout.coordinates] == values
    if in_order and not any(each.declared for each in layout.coordinates) and not layout.where:
        return f"memref<{shape}{layout.element.name}>"
    return f"memref<{shape}{layout.element.name}, {_strides(layout)}>"


def _in_elements(layout: Layout) -> list[int]:
    """Return the stride of each axis; extents stay below the strides outside of theirs."""
    _refuse_filled(layout)
    if not isinstance(layout.start, Constant):
        raise Unwritable(f"it starts at the offset `{text(layout.start)}`")
    strides = {axis.name: 1 for axis in layout.axes}
    needed: set[Condition] = set()
    reached = 1
    extents_ = {axis.name: axis.extent for axis in layout.axes}
    wide = whole_parts(layout.coordinates)
    for number, each in enumerate(reversed(wide)):
        match each.value:
            case Index(name) if name in strides:
                strides[name] = reached
                if number < len(wide) - 1 and isinstance(extents_[name], Extent):
                    needed.add(Condition(extents_[name], "<=", each.extent))
                if number == len(wide) - 1 and not same(each.extent, extents_[name]):
                    raise Unwritable(f"`{name}` has the declared extent `{text(each.extent)}`")
            case Constant(0) if number < len(wide) - 1 or each.extent == ONE:
                pass
            case _:
                raise Unwritable(f"`{text(each.value)}` is no index, and strides move indices")
        if number < len(wide) - 1:
            if not isinstance(each.extent, Constant):
                raise Unwritable(f"the extent `{text(each.extent)}` is no number")
            reached *= each.extent.value
    if needed != set(layout.where):
        raise Unwritable("its range is not the one that its strides allow")
    return list(strides.values())
