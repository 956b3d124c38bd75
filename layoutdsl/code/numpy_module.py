"""A layout that NumPy packs: a generated module of views, behind the checks of `compile`.

A generated module moves whole, contiguous buffers that lie apart from the tensor. The class here
also takes arrays with other strides and tensors without elements, and returns a view where no item
has to move.
"""

from __future__ import annotations

from functools import cached_property
from math import prod
from types import ModuleType
from typing import Any

import numpy as np

from layoutdsl.code.numpy.support import (
    _Array,
    _array,
    _boxed,
    _destination,
    _index,
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


class _Default:
    """Stands for the fill of the layout."""


DEFAULT = _Default()
MOST_REMEMBERED = 256
"""Shapes whose buffers a module remembers."""


class NumpyModule:
    """`pack`, `unpack`, `offset` and `physical_shape` of one layout, an item for each slot.

    Attributes:
        SOURCE: the layout as it was written.
        CERTIFICATE: the hash of its proofs.
        VALIDATED: the hash of the proof that the generated text does what the layout means.
        FALLBACK: why elements are moved one by one; `None` if they are not.
        layout: the layout that is packed.
        module: the generated module.
    """

    def __init__(self, layout: Layout, module: ModuleType) -> None:
        self.__name__ = module.__name__
        self.__doc__ = module.__doc__
        self.SOURCE: str = module.SOURCE
        self.CERTIFICATE: str = module.CERTIFICATE
        self.VALIDATED: str | bool = module.VALIDATED
        self.FALLBACK: str | None = module.FALLBACK
        self.layout, self.module = layout, module
        self._axes = layout.element_axes
        self._boxes: dict[tuple[int, ...], tuple[int, ...]] = {}

    def __repr__(self) -> str:
        return f"<numpy module of layout {self.layout.name}>"

    def pack(
        self,
        src: Any,
        out: _Array | None = None,
        fill: Any = DEFAULT,
        threads: int = 1,
        copy: bool | None = True,
    ) -> _Array:
        """Return the buffer of a tensor.

        Args:
            src: the tensor, with any strides.
            out: the buffer to write, which does not overlap `src`; new if left out.
            fill: the number in padding; that of the layout if left out.
            threads: 1 to 256; NumPy uses one.
            copy: None returns a view where the items of `src` lie so already, False wants one.

        Raises:
            ValueError, TypeError: the arguments do not fit; nothing was written.
        """
        tensor = _array(src, "src")
        self._expect_items(tensor)
        extents = self.extents(tensor.shape)
        box = self.box(extents)
        item = self._fill(fill, tensor.dtype)
        _workers(threads)
        if out is None and copy is not True and self._order is not None:
            return _seen(tensor.transpose(self._order), copy)
        _expect_copies(copy)
        target = None if out is None else _destination(out, box, tensor)
        if 0 in extents:
            found = self._filled(target, box, extents, item, tensor.dtype)
            return found if out is None else out
        given = {} if item is None else {"fill": _number(item)}
        if out is None or target is None:
            packed: _Array = self.module.pack(tensor, **given)
            return packed
        held = _apart(target, tensor)
        self.module.pack(tensor, held, **given)
        if held is not target:
            target[...] = held
        return out

    def unpack(
        self,
        src: Any,
        shape: tuple[int, ...] | list[int],
        out: _Array | None = None,
        fill: Any = DEFAULT,
        threads: int = 1,
        copy: bool | None = True,
    ) -> _Array:
        """Return the tensor in a buffer; padding is not read.

        Args:
            src: a buffer of `physical_shape(shape)`, or a flat one of the same size.
            shape: the extents of the tensor.
            out: the tensor to write, which does not overlap `src`; new if left out.
            fill: of a layout with a domain, the number of elements that have no slot.
            threads: 1 to 256; NumPy uses one.
            copy: None returns a view where the items of `src` lie so already, False wants one.

        Raises:
            ValueError, TypeError: the arguments do not fit; nothing was written.
        """
        extents = self.extents(shape)
        buffer = _boxed(_array(src, "src"), self.box(extents))
        self._expect_items(buffer)
        given: dict[str, Any] = {}
        if fill is not DEFAULT:
            if not self.layout.domain:
                raise TypeError("`fill` is for elements without a slot, and each has one")
            given = {"fill": _number(self.item(fill, buffer.dtype))}
        _workers(threads)
        if out is None and copy is not True and self._order is not None:
            return _seen(buffer.transpose(np.argsort(self._order)), copy)
        _expect_copies(copy)
        target = None if out is None else _destination(out, extents, buffer)
        if 0 in extents:
            return np.empty(extents, buffer.dtype) if out is None else out
        if out is None or target is None:
            tensor: _Array = self.module.unpack(buffer, extents, **given)
            return tensor
        held = _apart(target, buffer)
        self.module.unpack(buffer, extents, held, **given)
        if held is not target:
            target[...] = held
        return out

    def physical_shape(self, shape: tuple[int, ...] | list[int]) -> tuple[int, ...]:
        """Return the shape of the buffer of a tensor.

        Raises:
            ValueError, TypeError: the layout has no such shape.
        """
        return self.box(self.extents(shape))

    def offset(self, index: tuple[int, ...] | list[int], shape: tuple[int, ...] | list[int]) -> int:
        """Return where an element lies, in elements from the start of the buffer.

        Raises:
            ValueError, TypeError: the shape or the index does not fit the layout.
        """
        extents = self.extents(shape)
        found: int = self.module.offset(_index(index, extents), extents)
        return found

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

    def _box(self, extents: tuple[int, ...]) -> tuple[int, ...]:
        """Return the same; ValueError if the layout has no such shape."""
        if 0 not in extents:
            self.layout.bind(extents)
            found: tuple[int, ...] = self.module.physical_shape(extents)
            return found
        values = self._values(extents)
        sizes = [evaluate(each.extent, values) for each in self.layout.coordinates]
        start = evaluate(self.layout.start, values)
        if min([*sizes, start], default=0) < 0:
            raise ValueError(f"layout `{self.layout.name}` has no buffer for extents {extents}")
        return (start + prod(sizes),) if self.layout.is_flat else tuple(sizes)

    @property
    def computes_offsets(self) -> bool:
        """Whether arrays of offsets are computed, of each element or of runs of them."""
        return hasattr(self.module, "_slots") or hasattr(self.module, "_runs")

    def _values(self, extents: tuple[int, ...]) -> dict[str, int]:
        """Return extents without elements by name; ValueError if the layout has no such shape."""
        values = dict[str, int]()
        name = self.layout.name
        for axis, given in zip(self._axes, extents, strict=True):
            match axis.extent:
                case Constant(wanted):
                    pass
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

    def _expect_items(self, array: _Array) -> None:
        if self.layout.element is not None:
            _travels(array, *self.layout.element.item)

    def _fill(self, fill: Any, dtype: np.dtype[Any]) -> _Array | None:
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

    @cached_property
    def _order(self) -> tuple[int, ...] | None:
        """The order of axes in the buffer, if a layout does nothing but order them."""
        from layoutdsl.code.moves import Plan
        from layoutdsl.code.plan import plan

        found = None if self.layout.copies else plan(self.layout)
        return found.order if isinstance(found, Plan) and found.turns else None

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
            start = evaluate(self.layout.start, self._values(extents))
            target[start:] = item
        return target


def _number(item: _Array) -> Any:
    """Return an item as the number that a module takes: 0 if its type is none of numbers."""
    kind, char = item.dtype.kind, item.dtype.char
    return item[()] if kind in "biufc" or (kind == "V" and char != "V") else 0


def _apart(target: _Array, source: _Array) -> _Array:
    """Return the target, or a copy of it that is contiguous and apart from the source."""
    is_apart = not np.may_share_memory(target, source)
    return target if target.flags.c_contiguous and is_apart else np.array(target, order="C")


def _seen(array: _Array, copy: object) -> _Array:
    """Return the array itself if its items lie in a row and no copy is wanted; else a copy."""
    if array.flags.c_contiguous and (copy is None or copy is False):
        return array
    _expect_copies(copy)
    return array.copy()


def _expect_copies(copy: object) -> None:
    """Refuse ``copy=False`` where elements have to be moved; TypeError if `copy` is no such."""
    if copy is not None and not isinstance(copy, bool):
        raise TypeError(f"`copy` is {copy!r}, not True, False or None")
    if copy is False:
        raise ValueError("`copy` is False, and this cannot be done without a copy")
