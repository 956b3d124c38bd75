"""The arguments of `pack`, `unpack` and `convert` that a layout takes.

Generated modules and compiled code move whole, contiguous buffers that lie apart. These checks
refuse what no layout takes, and tell how to move the rest.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from layoutdsl.code.numpy.support import _Array, _integers, _item, _travels, _within
from layoutdsl.language.integers.conditions import all_hold
from layoutdsl.language.integers.expr import Constant, Extent
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.elements import FillAny, FillValue
from layoutdsl.language.meaning.model import Layout


class _Default:
    """Stands for the fill of the layout."""


DEFAULT = _Default()
MOST_REMEMBERED = 256
"""Shapes whose buffers are remembered."""


class Buffers:
    """The shapes, items and fills of the buffers of one layout, an item for each slot.

    Attributes:
        layout: without open parameters. Tensors have its `element_axes`, and extents may be 0.
    """

    def __init__(self, layout: Layout) -> None:
        self.layout, self._axes = layout, layout.element_axes
        self._boxes: dict[tuple[int, ...], tuple[int, ...]] = {}

    def extents(self, shape: object) -> tuple[int, ...]:
        """Return a shape that the layout has, as a tuple.

        Raises:
            ValueError, TypeError: the layout has no such shape.
        """
        found = _integers(shape, len(self._axes), "shape")
        if found not in self._boxes:
            box = self._box(found)
            if len(self._boxes) >= MOST_REMEMBERED:
                self._boxes.clear()
            self._boxes[found] = box
        return found

    def box(self, extents: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape of the buffer, for extents that were checked."""
        return self._boxes.get(extents) or self._box(extents)

    def expect_items(self, array: _Array) -> None:
        """Return if elements travel in the items of an array.

        Raises:
            TypeError: they travel in others.
        """
        if self.layout.element is not None:
            _travels(array, *self.layout.element.item)

    def fill(self, fill: Any, dtype: np.dtype[Any]) -> _Array | None:
        """Return the item in padding; `None` if an `out` keeps its own.

        Args:
            fill: a number, or `DEFAULT` or `None` for that of the layout.
            dtype: of the elements.

        Raises:
            ValueError, TypeError: elements cannot be this number, or it is missing.
        """
        own = self.layout.fill
        if fill is DEFAULT or (fill is None and not isinstance(own, FillValue)):
            match own:
                case FillValue(value):
                    fill = value
                case FillAny():
                    return None
                case _:
                    words = "`fill` is missing: it is the quantised zero of the tensor"
                    raise TypeError(words)
        return self.item(fill, dtype)

    def item(self, fill: Any, dtype: np.dtype[Any]) -> _Array:
        """Return a number as an item in padding.

        Raises:
            ValueError, TypeError: elements of this type cannot be this number.
        """
        item, element = _item(fill, dtype), self.layout.element
        if element is not None and element.values is not None and not element.fills_item:
            _within(item, *element.values)
        return item

    def padding(
        self, out: _Array | None, extents: tuple[int, ...], item: _Array | None, like: _Array
    ) -> _Array:
        """Return the buffer of a tensor without elements: all of it is padding.

        Args:
            out: the buffer, if there is one.
            extents: checked, some of them 0.
            item: in padding, as `fill` returns it.
            like: an array of the same type.
        """
        if out is None:
            found = np.empty(self.box(extents), like.dtype)
            found[...] = np.zeros((), like.dtype) if item is None else item
            return found
        if item is not None:
            out[evaluate(self.layout.start, self._values(extents)) :] = item
        return out

    def _box(self, extents: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape of a buffer; ValueError if the layout has no such shape."""
        values = self._values(extents) if 0 in extents else self.layout.bind(extents)
        sizes = [evaluate(each.extent, values) for each in self.layout.coordinates]
        start = evaluate(self.layout.start, values)
        if min([*sizes, start]) < 0:
            raise ValueError(f"layout `{self.layout.name}` has no buffer for extents {extents}")
        return (start + prod(sizes),) if self.layout.is_flat else tuple(sizes)

    def _values(self, extents: tuple[int, ...]) -> dict[str, int]:
        """Return extents by name, some of them 0; ValueError if the layout has no such shape."""
        values, name = dict[str, int](), self.layout.name
        for axis, given in zip(self._axes, extents, strict=True):
            wanted = given
            match axis.extent:
                case Constant(value):
                    wanted = value
                case Extent(symbol):
                    wanted = values.setdefault(symbol, given)
            if given != wanted:
                raise ValueError(f"axis `{axis.name}` of layout `{name}` has {wanted} elements")
        try:
            if all_hold(self.layout.where, values):
                for each in self.layout.coordinates:
                    evaluate(each.extent, values)
                return values
        except ZeroDivisionError:
            pass
        raise ValueError(f"layout `{name}` has no tensor of extents {extents}")


def number(item: _Array) -> Any:
    """Return an item as the number that a module takes: 0 if its type is none of numbers."""
    kind, char = item.dtype.kind, item.dtype.char
    return item[()] if kind in "biufc" or (kind == "V" and char != "V") else 0


def apart(target: _Array, source: _Array) -> _Array:
    """Return the target, or a copy of it that is contiguous and apart from the source."""
    is_apart = not np.may_share_memory(target, source)
    return target if target.flags.c_contiguous and is_apart else np.array(target, order="C")


def written(out: _Array, held: _Array) -> _Array:
    """Return `out` with the items of what `apart` returned."""
    if held is not out:
        out[...] = held
    return out
