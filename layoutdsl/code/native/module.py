"""A layout that is packed by compiled C, with the functions of `NumpyModule`.

`Buffers` checks arguments, and the NumPy module of the layout packs what C does not take: arrays
that are not contiguous, items of other than 1, 2, 4 or 8 bytes, empty tensors. Arguments that were
right once are remembered by shape, type and fill, so that a small call costs little.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from math import prod
from typing import Any

import numpy as np
from numpy import ndarray

from layoutdsl.code.buffers import DEFAULT, MOST_REMEMBERED, Buffers
from layoutdsl.code.native import WIDTHS
from layoutdsl.code.native.again import Again, never
from layoutdsl.code.native.calls import (
    Array,
    Function,
    Lead,
    Ready,
    checked_threads,
    fresh,
    moved,
    ready,
)
from layoutdsl.code.native.compilers import CompilerError
from layoutdsl.code.native.libraries import Libraries
from layoutdsl.code.native.padding import moved_beside_padding
from layoutdsl.code.numpy.support import _boxed, _within
from layoutdsl.code.numpy_module import NumpyModule
from layoutdsl.language.integers.expr import Constant, Extent, text
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.elements import ElementType, FillAny, FillValue, FillZeroPoint
from layoutdsl.language.meaning.model import Layout

Failed = Callable[[CompilerError], None]
"""Is told that nothing was compiled: raises it where nothing else will do; else numpy serves."""

MOST_BYTES = 2**52
"""Of either array: what is proved of C holds below it, and no memory is as large."""
ALONE = 1


class NativeModule:
    """`pack`, `unpack`, `offset` and `physical_shape` of one layout.

    Attributes:
        SOURCE: the layout as it was written.
        CERTIFICATE: the hash of its proofs.
        target: ``native``.
        layout: what is packed.
        libraries: what is compiled of it.
    """

    target = "native"

    def __init__(
        self, layout: Layout, plain: NumpyModule, libraries: Libraries, failed: Failed
    ) -> None:
        self.__name__ = plain.__name__
        self.__doc__ = plain.__doc__
        self.SOURCE: str = plain.SOURCE
        self.CERTIFICATE: str = plain.CERTIFICATE
        self.layout, self.libraries = layout, libraries
        self._plain, self._buffers, self._failed = plain, plain.buffers, failed
        self._failure: CompilerError | None = None
        self._keeps = isinstance(layout.fill, FillAny)
        element = layout.element
        self._values = None if element is None or element.fills_item else element.values
        self._packs: dict[Hashable, Ready] = {}
        self._unpacks: dict[Hashable, Ready] = {}
        self._pack_again: Again = never
        self._unpack_again: Again = never
        self.physical_shape: Callable[..., tuple[int, ...]] = plain.physical_shape
        self.offset: Callable[..., int] = plain.offset

    @property
    def FALLBACK(self) -> str | None:  # noqa: N802  (as in a numpy module)
        """Why elements are moved one by one; ``None`` where they are not."""
        from layoutdsl.code.digits import by_digits
        from layoutdsl.code.loops.moves import Move
        from layoutdsl.code.loops.sides import Apart
        from layoutdsl.code.loops.trees import digits
        from layoutdsl.code.rows import rows_of

        found = digits(Move(None, by_digits(self.layout)))
        return found.reason if isinstance(found, Apart) and not rows_of(self.layout) else None

    def __repr__(self) -> str:
        return f"<native module of layout {self.layout.name}>"

    def pack(
        self,
        src: Array,
        out: Array | None = None,
        fill: Any = DEFAULT,
        threads: int = 1,
        copy: bool | None = True,
    ) -> Array:
        """Return the tensor as the layout stores it.

        Args:
            src: a tensor; one that is not contiguous is packed by numpy.
            out: the buffer to write, which does not overlap `src`; a new one is made without it.
            fill: the number in padding; that of the layout if left out.
            threads: how many may work at once, 1 to 256.
            copy: None returns a view where the items of `src` lie so already, False wants one.

        Raises:
            ValueError, TypeError: the arguments do not fit; nothing was written.
            CompilerError: the compiler failed, and compiled code was asked for; likewise.
        """
        plain = threads is ALONE and copy is True
        if plain and out is not None and fill is DEFAULT and self._pack_again(src, out):
            return out
        try:
            key = (src.shape, src.dtype, fill if fill is DEFAULT else (type(fill), fill))
            found = self._packs[key]
            into = fresh(found) if out is None else out
            if plain and (out is None or not self._keeps) and found.again(src, into):
                if fill is DEFAULT and not self._keeps:
                    self._pack_again = found.again
                return into
        except (KeyError, AttributeError, TypeError):
            pass  # seldom, and then said in full below
        return self._pack(src, out, fill, checked_threads(threads), copy)

    def unpack(
        self,
        src: Array,
        shape: Any = None,
        out: Array | None = None,
        threads: int = 1,
        copy: bool | None = True,
    ) -> Array:
        """Return the tensor that a buffer holds.

        Args:
            src: a buffer of `physical_shape(shape)`, or a flat one of the same size.
            shape: the extents of the tensor; required.
            out: the tensor to write, which does not overlap `src`; new without it.
            threads: how many may work at once, 1 to 256.
            copy: None returns a view where the items of `src` lie so already, False wants one.

        Raises:
            ValueError, TypeError: the arguments do not fit; nothing was written.
            CompilerError: the compiler failed, and compiled code was asked for; likewise.
        """
        plain = threads is ALONE and copy is True
        if plain and out is not None and self._unpack_again(src, out, shape):
            return out
        try:
            found = self._unpacks[src.shape, src.dtype, shape]
            into = fresh(found) if out is None else out
            if plain and found.again(src, into, shape):
                self._unpack_again = found.again
                return into
        except (KeyError, AttributeError, TypeError):
            pass
        if shape is None:
            axes = ", ".join(text(axis.extent) for axis in self.layout.axes)
            message = (
                f"`shape` is missing: a buffer does not say the extents ({axes}) of its tensor"
            )
            raise TypeError(f"{message}; call `unpack(buffer, shape)`")
        return self._unpack(src, shape, out, checked_threads(threads), copy)

    def _pack(
        self, src: Array, out: Array | None, fill: Any, threads: int, copy: bool | None
    ) -> Array:
        codes = codes_of(src, self.layout.element)
        if codes is not None and of_type(out, src.dtype):
            return self._pack_codes(codes, src, out, fill, threads, copy)
        given = {} if fill is DEFAULT else {"fill": fill}
        plain = partial(self._plain.pack, src, out, **given, threads=threads)
        found = None if copy is True else _seen(plain, out, copy)
        prepared = self._packing(src, fill) if found is None else None
        if prepared is not None:
            if self._values is not None:
                _within(src, *self._values)
            if self._keeps and out is not None and (fill is DEFAULT or fill is None):
                found = moved_beside_padding(self.layout, prepared, src, out, src.shape, threads)
            else:
                found = moved(prepared, src, out, threads)
        return plain() if found is None else found

    def _unpack(
        self, src: Array, shape: Any, out: Array | None, threads: int, copy: bool | None
    ) -> Array:
        codes = codes_of(src, self.layout.element)
        if codes is not None and of_type(out, src.dtype):
            into = None if out is None else out.view(codes)
            back = self.unpack(src.view(codes), shape, into, threads, copy)
            return back.view(src.dtype) if out is None else out
        plain = partial(self._plain.unpack, src, shape, out, threads=threads)
        found = None if copy is True else _seen(plain, out, copy)
        prepared = self._unpacking(src, shape) if found is None else None
        if prepared is not None:
            found = moved(prepared, src, out, threads)
        return plain() if found is None else found

    def _pack_codes(
        self,
        codes: np.dtype[Any],
        src: Array,
        out: Array | None,
        fill: Any,
        threads: int,
        copy: bool | None,
    ) -> Array:
        """The same of items that travel as unsigned integers."""
        given = fill
        if fill is DEFAULT and isinstance(self.layout.fill, FillValue):
            given = self.layout.fill.value
        if given is not DEFAULT and given is not None:
            given = code_of(self._buffers, given, src.dtype, codes)
        into = None if out is None else out.view(codes)
        packed = self.pack(src.view(codes), into, given, threads, copy)
        return packed.view(src.dtype) if out is None else out

    def _packing(self, src: object, fill: Any) -> Ready | None:
        """What a call needs for such a source; ``None`` where numpy does it, or refuses it."""
        if not isinstance(src, ndarray) or not self._taken(src.dtype):
            return None
        # 0.0 and -0.0 are equal and not the same; other types may be equal to anything
        lasting = type(fill) is int or (type(fill) is float and fill != 0)
        key: Hashable = None
        if lasting or fill is DEFAULT:
            key = (src.shape, src.dtype, fill if fill is DEFAULT else (type(fill), fill))
        if key in self._packs:
            return self._packs[key]
        self._expect_rank(src)
        extents = self._buffers.extents(src.shape)
        padding = self.padding(extents, src.dtype, fill)
        called = None if padding is None else self.called("pack", extents, src.dtype)
        if padding is None or called is None:
            return None
        box = self._buffers.box(extents)
        prepared = ready(called, extents, (src.shape, box), src.dtype, *padding)
        return _remembered(self._packs, None if self._values else key, prepared)

    def _expect_rank(self, src: Array) -> None:
        layout = self.layout
        if src.ndim != layout.rank and layout.bit_of is None and not layout.copies:
            axes = ", ".join(text(axis.extent) for axis in layout.axes)
            words = f"`{layout.name}` takes a tensor of {layout.rank} axes: ({axes})"
            raise ValueError(f"`src` has shape {src.shape}, and {words}")

    def _unpacking(self, src: object, shape: Any) -> Ready | None:
        if not isinstance(src, ndarray) or not self._taken(src.dtype):
            return None
        extents = self._buffers.extents(shape)
        key = (src.shape, src.dtype, extents)
        if key in self._unpacks:
            return self._unpacks[key]
        _boxed(src, self._buffers.box(extents))
        called = self.called("unpack", extents, src.dtype)
        if called is None:
            return None
        prepared = ready(called, extents, (src.shape, extents), src.dtype, asked=True)
        return _remembered(self._unpacks, key, prepared)

    def extents(self, shape: object) -> tuple[int, ...]:
        """Return a shape as the layout takes it; ValueError or TypeError for another."""
        return self._buffers.extents(shape)

    def forget(self) -> None:
        """Look up anew what serves, at the next call."""
        self._packs.clear()
        self._unpacks.clear()
        self._pack_again = self._unpack_again = never

    def _taken(self, dtype: np.dtype[Any]) -> bool:
        """Whether C moves items of a type, and elements travel in them."""
        if not _taken(dtype):
            return False
        element = self.layout.element
        return element is None or (dtype.kind, dtype.itemsize) == element.item

    def padding(
        self, extents: tuple[int, ...], dtype: np.dtype[Any], fill: Any
    ) -> tuple[bytes, Lead | None] | None:
        """Return the fill as C takes it, and what a new buffer starts with; ``None`` without one.

        Args:
            extents: a shape that was checked.
            dtype: of the elements.
            fill: as `pack` takes it.
        """
        given = fill
        if fill is DEFAULT or fill is None:
            match self.layout.fill:
                case FillValue(value):
                    given = value if fill is DEFAULT else None
                case FillAny():
                    given = 0
                case FillZeroPoint():
                    given = None
        if given is None:
            return None
        item = self._buffers.item(given, dtype)
        if self.layout.start == Constant(0):
            return item.tobytes(), None
        values: dict[str, int] = {}
        for axis, extent in zip(self.layout.element_axes, extents, strict=True):
            if isinstance(axis.extent, Extent):
                values[axis.extent.name] = extent
        return item.tobytes(), (evaluate(self.layout.start, values), item)

    def called(self, verb: str, extents: tuple[int, ...], dtype: np.dtype[Any]) -> Function | None:
        """Return the compiled function; ``None`` where numpy serves, for now or for good.

        Args:
            verb: ``pack`` or ``unpack``.
            extents: a shape that was checked.
            dtype: of the elements.

        Raises:
            CompilerError: it could not be compiled, and numpy was not asked for.
        """
        if verb == "unpack" and self._values is not None:  # each is asked whether it is one
            return None
        if 0 in extents or not self._taken(dtype) or not self.within_words(extents, dtype.itemsize):
            return None
        if self._failure is None:
            size = prod(extents) * dtype.itemsize
            try:
                return self.libraries.of(verb, dtype.itemsize, extents, size)
            except CompilerError as error:
                self._failure = error.with_traceback(None)
        self._failed(self._failure)
        return None

    def within_words(self, extents: tuple[int, ...], width: int) -> bool:
        """Whether all that C works out stays within 64 bits."""
        sizes = (prod(extents), prod(self._buffers.box(extents)))
        return bool(max(sizes) * width < MOST_BYTES)


def _seen(plain: Callable[..., Array], out: Array | None, copy: bool | None) -> Array | None:
    """What numpy returns where it need not copy; ``None`` where elements have to be moved.

    Raises:
        ValueError, TypeError: the arguments do not fit, or it has to copy and must not.
    """
    if copy is not None:
        return plain(copy=copy)
    if out is not None:
        return None
    try:
        return plain(copy=False)
    except ValueError:  # it has to copy, or to refuse: that is said by who does it
        return None


def codes_of(array: object, element: ElementType | None) -> np.dtype[Any] | None:
    """Return the unsigned integers that items travel as to C, where numpy has no name for them.

    They are of types that another package makes, such as ml_dtypes, or are bare bytes. ``None``
    where it has one, and where elements do not travel in such items.
    """
    if not isinstance(array, ndarray):
        return None
    dtype = array.dtype
    bare = dtype.kind == "V" or (dtype.kind == "f" and dtype.itemsize == 1)
    if not bare or dtype.names is not None or dtype.itemsize not in WIDTHS:
        return None
    fits = element is None or element.item == ("u", dtype.itemsize)
    return np.dtype(f"u{dtype.itemsize}") if fits else None


def code_of(buffers: Buffers, fill: Any, dtype: np.dtype[Any], codes: np.dtype[Any]) -> Any:
    """Return the fill as the unsigned integer that stands for it.

    Raises:
        ValueError, TypeError: the type cannot hold it.
    """
    return buffers.item(fill, dtype).view(codes).item()


def of_type(out: object, dtype: np.dtype[Any]) -> bool:
    """Whether what is written may be looked at as other items too; what may not, numpy refuses."""
    return out is None or (isinstance(out, ndarray) and out.dtype == dtype)


def _taken(dtype: np.dtype[Any]) -> bool:
    """Whether items of a type are plain bytes, as many as C moves."""
    return dtype.kind in "biufcmMSUV" and not dtype.hasobject and dtype.itemsize in WIDTHS


def _remembered(store: dict[Hashable, Ready], key: Hashable, prepared: Ready) -> Ready:
    if key is not None:
        if len(store) >= MOST_REMEMBERED:
            store.clear()
        store[key] = prepared
    return prepared
