"""A layout that NumPy packs: a generated module of views, behind the checks of `compile`."""

from __future__ import annotations

from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np

from layoutdsl.code.buffers import DEFAULT, Buffers, apart, number, written
from layoutdsl.code.numpy.support import _Array, _array, _boxed, _destination, _index, _workers
from layoutdsl.language.meaning.model import Layout


class NumpyModule:
    """`pack`, `unpack`, `offset` and `physical_shape` of one layout, an item for each slot.

    A generated module takes contiguous arrays. This class also takes arrays with other strides and
    tensors without elements, and returns a view where no item has to move.

    Attributes:
        SOURCE: the layout as it was written.
        CERTIFICATE: the hash of its proofs.
        VALIDATED: the hash of the proof that the generated text does what the layout means.
        FALLBACK: why elements are moved one by one; `None` if they are not.
        layout: the layout that is packed.
        buffers: checks arguments.
        module: the generated module.
    """

    def __init__(self, layout: Layout, module: ModuleType) -> None:
        self.__name__ = module.__name__
        self.__doc__ = module.__doc__
        self.SOURCE: str = module.SOURCE
        self.CERTIFICATE: str = module.CERTIFICATE
        self.VALIDATED: str | bool = module.VALIDATED
        self.FALLBACK: str | None = module.FALLBACK
        self.layout, self.module, self.buffers = layout, module, Buffers(layout)

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
        self.buffers.expect_items(tensor)
        extents = self.buffers.extents(tensor.shape)
        item = self.buffers.fill(fill, tensor.dtype)
        _workers(threads)
        if out is None and copy is not True and self._order is not None:
            return _seen(tensor.transpose(self._order), copy)
        _expect_copies(copy)
        if out is not None:
            _destination(out, self.buffers.box(extents), tensor)
        if 0 in extents:
            return self.buffers.padding(out, extents, item, tensor)
        given = {} if item is None else {"fill": number(item)}
        if out is None:
            packed: _Array = self.module.pack(tensor, **given)
            return packed
        held = apart(out, tensor)
        self.module.pack(tensor, held, **given)
        return written(out, held)

    def unpack(
        self,
        src: Any,
        shape: object,
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
        extents = self.buffers.extents(shape)
        buffer = _boxed(_array(src, "src"), self.buffers.box(extents))
        self.buffers.expect_items(buffer)
        given: dict[str, Any] = {}
        if fill is not DEFAULT:
            if not self.layout.domain:
                raise TypeError("`fill` is for elements without a slot, and each has one")
            given = {"fill": number(self.buffers.item(fill, buffer.dtype))}
        _workers(threads)
        if out is None and copy is not True and self._order is not None:
            return _seen(buffer.transpose(np.argsort(self._order)), copy)
        _expect_copies(copy)
        if out is not None:
            _destination(out, extents, buffer)
        if 0 in extents:
            return np.empty(extents, buffer.dtype) if out is None else out
        if out is None:
            tensor: _Array = self.module.unpack(buffer, extents, **given)
            return tensor
        held = apart(out, buffer)
        self.module.unpack(buffer, extents, held, **given)
        return written(out, held)

    def physical_shape(self, shape: object) -> tuple[int, ...]:
        """Return the shape of the buffer of a tensor.

        Raises:
            ValueError, TypeError: the layout has no such shape.
        """
        return self.buffers.box(self.buffers.extents(shape))

    def offset(self, index: object, shape: object) -> int:
        """Return where an element lies, in elements from the start of the buffer.

        Raises:
            ValueError, TypeError: the shape or the index does not fit the layout.
        """
        extents = self.buffers.extents(shape)
        found: int = self.module.offset(_index(index, extents), extents)
        return found

    @property
    def computes_offsets(self) -> bool:
        """Whether arrays of offsets are computed, of each element or of runs of them."""
        return hasattr(self.module, "_slots") or hasattr(self.module, "_runs")

    @cached_property
    def _order(self) -> tuple[int, ...] | None:
        """The order of axes in the buffer, if a layout does nothing but order them."""
        from layoutdsl.code.moves import Plan
        from layoutdsl.code.plan import plan

        found = None if self.layout.copies else plan(self.layout)
        return found.order if isinstance(found, Plan) and found.turns else None


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
