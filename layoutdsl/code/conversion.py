"""Buffers of one layout into those of another: straight, or through the tensor.

Compiled C moves a buffer straight, where it takes the arrays. Else the generated numpy module does,
where two layouts have common digits; where they have none, the tensor is unpacked and packed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from layoutdsl.code.numpy.support import (
    _Array,
    _array,
    _boxed,
    _destination,
    _integers,
    _item,
    _travels,
    _within,
    _workers,
)
from layoutdsl.language.integers.conditions import all_hold
from layoutdsl.language.integers.expr import Constant, Extent
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.elements import FillAny, FillValue
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.texts.values import brief

if TYPE_CHECKING:
    from layoutdsl.code.modules import Moves
    from layoutdsl.code.native.conversion import NativeConversion


@dataclass(frozen=True, slots=True)
class StraightConversion:
    """Buffers of one layout into those of another, region by region.

    The generated module writes whole, contiguous buffers apart from what it reads. Here an `out`
    with other strides and tensors without elements are taken too.

    Attributes:
        plain: the generated numpy module; its `VALIDATED` names the proof.
        source: the layout that is read.
        target: the layout that is written, over the same axes.
        native: compiled C, for arrays that it takes.
    """

    plain: ModuleType
    source: Layout
    target: Layout
    native: NativeConversion | None = None

    fallback = None

    __repr__ = brief

    def __call__(
        self,
        src: Any,
        shape: Sequence[int],
        out: Any = None,
        fill: Any = None,
        threads: int = 1,
    ) -> Any:
        """Return the buffer of the second layout for a buffer of the first.

        Args:
            src: a buffer of the first layout, in its shape or flat; padding is not read.
            shape: the extents of the tensor, in the axis order of the first layout.
            out: the buffer to write, which does not overlap `src`; a new one is made without it.
            fill: the number in padding; that of the second layout if left out.
            threads: how many may work at once, 1 to 256.

        Raises:
            ValueError, TypeError: the arguments do not fit; nothing was written.
        """
        if self.native is not None:
            found = self.native.converted(src, shape, out, fill, threads)
            if found is not None:
                return found
        return self._by_numpy(_array(src, "src"), shape, out, fill, threads)

    def _by_numpy(
        self, src: _Array, shape: object, out: object, fill: object, threads: object
    ) -> _Array:
        extents = _integers(shape, self.target.rank, "shape")
        read, written = self._boxes(extents)
        buffer = _boxed(src, read)
        if self.target.element is not None:
            _travels(buffer, *self.target.element.item)
        item = self._item(fill, buffer.dtype)
        _workers(threads)
        target = None if out is None else _destination(out, written, buffer)
        if 0 in extents:
            return self._filled(target, written, extents, item, buffer.dtype)
        given = {} if item is None else {"fill": _number(item)}
        if target is None:
            found: _Array = self.plain.convert(buffer, extents, **given)
            return found
        apart = target.flags.c_contiguous and not np.may_share_memory(target, buffer)
        held = target if apart else np.array(target, order="C")
        self.plain.convert(buffer, extents, held, **given)
        if held is not target:
            target[...] = held
        return target

    def _boxes(self, extents: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The shapes of both buffers; ValueError if a layout has no tensor of these extents."""
        if 0 in extents:
            return _empty_box(self.source, extents), _empty_box(self.target, extents)
        self.target.bind(extents)
        boxes: tuple[tuple[int, ...], tuple[int, ...]] = self.plain.physical_shapes(extents)
        return boxes

    def _item(self, fill: object, dtype: np.dtype[Any]) -> _Array | None:
        """The item in padding; `None` if an `out` is to keep its own."""
        element, own = self.target.element, self.target.fill
        if fill is None and isinstance(own, FillAny):
            return None
        if fill is None:
            if not isinstance(own, FillValue):
                raise TypeError("`fill` is missing: it is the quantised zero of the tensor")
            fill = own.value
        item = _item(fill, dtype)
        if element is not None and element.values is not None and not element.fills_item:
            _within(item, *element.values)
        return item

    def _filled(
        self,
        target: _Array | None,
        box: tuple[int, ...],
        extents: tuple[int, ...],
        item: _Array | None,
        dtype: np.dtype[Any],
    ) -> _Array:
        """Return the buffer of a tensor without elements: all of it is padding."""
        if target is None:
            target = np.empty(box, dtype)
            target[...] = np.zeros((), dtype) if item is None else item
        elif item is not None:
            start = evaluate(self.target.start, _empty_values(self.target, extents))
            target[start:] = item
        return target


def _number(item: _Array) -> Any:
    """Return an item as the number that a module takes: 0 if its type is none of numbers."""
    kind, char = item.dtype.kind, item.dtype.char
    return item[()] if kind in "biufc" or (kind == "V" and char != "V") else 0


def _empty_box(layout: Layout, extents: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of the buffer of a tensor without elements."""
    values = _empty_values(layout, extents)
    sizes = [evaluate(each.extent, values) for each in layout.coordinates]
    start = evaluate(layout.start, values)
    if min([*sizes, start]) < 0:
        raise ValueError(f"layout `{layout.name}` has no buffer for extents {extents}")
    return (start + prod(sizes),) if layout.is_flat else tuple(sizes)


def _empty_values(layout: Layout, extents: tuple[int, ...]) -> dict[str, int]:
    """Return extents without elements by name; ValueError if the layout has no such shape."""
    values = dict[str, int]()
    for axis, given in zip(layout.axes, extents, strict=True):
        wanted = given
        match axis.extent:
            case Constant(value):
                wanted = value
            case Extent(name):
                wanted = values.setdefault(name, given)
        if given != wanted:
            raise ValueError(f"axis `{axis.name}` of layout `{layout.name}` has extent {wanted}")
    try:
        if all_hold(layout.where, values):
            for each in layout.coordinates:
                evaluate(each.extent, values)
            return values
    except ZeroDivisionError:
        pass
    raise ValueError(f"layout `{layout.name}` has no tensor of extents {extents}")


@dataclass(frozen=True, slots=True)
class TensorConversion:
    """Buffers of one layout into those of another, through the tensor.

    Attributes:
        first: unpacks.
        second: packs; its axes are those of the first.
        fallback: why numpy has no straight way.
        native: compiled C, which may have one, for arrays that it takes.
    """

    first: Moves
    second: Moves
    fallback: str
    native: NativeConversion | None = None

    __repr__ = brief

    def __call__(
        self,
        src: Any,
        shape: Sequence[int],
        out: Any = None,
        fill: Any = None,
        threads: int = 1,
    ) -> Any:
        """Return the buffer of the second layout for a buffer of the first.

        The arguments are those of `StraightConversion`. Elements that have no slot in the first
        layout are what `unpack` makes of them.

        Raises:
            ValueError, TypeError: the arguments do not fit; nothing was written.
        """
        if self.native is not None:
            found = self.native.converted(src, shape, out, fill, threads)
            if found is not None:
                return found
        given = {} if fill is None else {"fill": fill}
        tensor = self.first.unpack(src, tuple(shape), threads=threads)
        return self.second.pack(tensor, out, **given, threads=threads)
