"""Buffers of one layout into those of another: straight, or through the tensor.

Compiled C moves a buffer straight, where it takes the arrays. Else the generated numpy module does,
where two layouts have common digits; where they have none, the tensor is unpacked and packed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any

from layoutdsl.code.buffers import DEFAULT, Buffers, apart, number, written
from layoutdsl.code.numpy.support import _Array, _array, _boxed, _destination, _workers
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
        source: checks arguments of the layout that is read.
        target: those of the layout that is written, over the same axes.
        native: compiled C, for arrays that it takes.
    """

    plain: ModuleType
    source: Buffers
    target: Buffers
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
        self, src: _Array, shape: object, out: _Array | None, fill: object, threads: object
    ) -> _Array:
        extents = self.target.extents(self.source.extents(shape))
        buffer = _boxed(src, self.source.box(extents))
        self.target.expect_items(buffer)
        item = self.target.fill(DEFAULT if fill is None else fill, buffer.dtype)
        _workers(threads)
        if out is not None:
            _destination(out, self.target.box(extents), buffer)
        if 0 in extents:
            return self.target.padding(out, extents, item, buffer)
        given = {} if item is None else {"fill": number(item)}
        if out is None:
            found: _Array = self.plain.convert(buffer, extents, **given)
            return found
        held = apart(out, buffer)
        self.plain.convert(buffer, extents, held, **given)
        return written(out, held)


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
        tensor = self.first.unpack(src, shape, threads=threads)
        return self.second.pack(tensor, out, **given, threads=threads)
