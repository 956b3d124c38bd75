"""A layout that is packed by compiled C, with the same functions as a generated numpy module.

Arguments are checked by the numpy module of the same layout, and what C does not take is left to
it: arrays that are not contiguous, items of other than 1, 2, 4 or 8 bytes, empty tensors. What was
found right once is remembered by shape, type and fill, so that a small call costs little.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from math import prod
from types import ModuleType
from typing import Any
from warnings import warn

import numpy as np
from numpy.typing import NDArray

from layoutdsl.codegen.native.compilers import CompilerError
from layoutdsl.codegen.native.program import WIDTHS
from layoutdsl.expr import Constant, Expr, evaluate
from layoutdsl.model import FillAny, FillValue, FillZeroPoint, Layout

Array = NDArray[Any]
Kernels = Callable[[int], tuple[Any, Any]]
"""From bytes of an element to a cffi handle and its library."""

MOST_REMEMBERED = 256
MOST_THREADS = 256


OUTSIDE = "the layout leaves its buffer at this shape"


class _Default:
    """Stands for the fill of the layout."""


_DEFAULT = _Default()
_Prepared = tuple[Any, tuple[int, ...], np.dtype[Any], Any, int, Any]
"""The function, the shape and the type of the result, the job, its units, and cffi's handle."""


class NativeModule:
    """`pack`, `unpack`, `offset` and `physical_shape` of one layout.

    Attributes:
        SOURCE: the layout as it was written.
        CERTIFICATE: the hash of its proofs.
        FALLBACK: why elements are moved one by one, where they are.
        target: ``native``.
        layout: what is packed.
    """

    target = "native"

    def __init__(
        self, layout: Layout, plain: ModuleType, kernels: Kernels, stem: str, fallback: str | None
    ) -> None:
        self.__name__ = plain.__name__
        self.__doc__ = plain.__doc__
        self.SOURCE: str = plain.SOURCE
        self.CERTIFICATE: str = plain.CERTIFICATE
        self.FALLBACK = fallback
        self.layout, self._plain, self._kernels, self._stem = layout, plain, kernels, stem
        self._failed: set[int] = set()
        self._packs: dict[Any, _Prepared] = {}
        self._unpacks: dict[Any, _Prepared] = {}
        self.physical_shape: Callable[..., tuple[int, ...]] = plain.physical_shape
        self.offset: Callable[..., int] = plain.offset

    def __repr__(self) -> str:
        return f"<native module of layout {self.layout.name}>"

    def pack(
        self, src: Array, out: Array | None = None, fill: Any = _DEFAULT, threads: int = 1
    ) -> Array:
        """Return the tensor as the layout stores it.

        Args:
            src: a tensor; one that is not contiguous is packed by numpy.
            out: the buffer to write, which does not overlap `src`; a new one is made without it.
            fill: the number in padding; that of the layout if left out.
            threads: how many may work at once, 1 to 256.

        Raises:
            ValueError, TypeError: the arguments do not fit; nothing was written.
        """
        try:
            word = "" if fill is _DEFAULT else repr(fill)
            ready = self._packs[src.shape, src.dtype, word]
        except (KeyError, TypeError, AttributeError):
            found = self._prepare_pack(src, fill)
            if found is None:
                return self._plainly(src, out, fill, threads)
            ready = found
        function, box, dtype, job, units, ffi = ready
        try:
            read = ffi.from_buffer(src)
            if out is None:
                buffer = np.empty(box, dtype)
                self._lead(buffer, fill, src.shape)
            else:
                buffer = out
                if type(out) is not np.ndarray or out.shape != box or out.dtype != dtype:
                    return self._plainly(src, out, fill, threads)
            write = ffi.from_buffer(buffer, require_writable=True)
        except (ValueError, BufferError, TypeError):
            return self._plainly(src, out, fill, threads)
        if read < write + len(write) and write < read + len(read):
            raise ValueError("`out` overlaps `src`")
        if threads != 1 or type(threads) is not int:
            run_job(function, read, write, job, units, threads, ffi)
        elif function(read, write, job):
            raise ValueError(OUTSIDE)
        return buffer

    def unpack(self, src: Array, shape: Any, out: Array | None = None, threads: int = 1) -> Array:
        """Return the tensor that a buffer holds.

        Args:
            src: a buffer of `physical_shape(shape)`, or a flat one of the same size.
            shape: the extents of the tensor.
            out: the tensor to write, which does not overlap `src`; new without it.
            threads: how many may work at once, 1 to 256.

        Raises:
            ValueError, TypeError: the arguments do not fit; nothing was written.
        """
        try:
            ready = self._unpacks[src.shape, src.dtype, shape]
            for extent in shape:
                if type(extent) is not int:
                    raise KeyError  # 6.0 finds what was remembered of 6
        except (KeyError, TypeError, AttributeError):
            found = self._prepare_unpack(src, shape)
            if found is None:
                _threads(threads)
                return self._plain.unpack(src, shape, out)  # type: ignore[no-any-return]
            ready = found
        function, extents, dtype, job, units, ffi = ready
        try:
            read = ffi.from_buffer(src)
            if out is None:
                tensor = np.empty(extents, dtype)
            else:
                tensor = out
                if type(out) is not np.ndarray or out.shape != extents or out.dtype != dtype:
                    return self._plain.unpack(src, shape, out)  # type: ignore[no-any-return]
            write = ffi.from_buffer(tensor, require_writable=True)
        except (ValueError, BufferError, TypeError):
            return self._plain.unpack(src, shape, out)  # type: ignore[no-any-return]
        if read < write + len(write) and write < read + len(read):
            raise ValueError("`out` overlaps `src`")
        if threads != 1 or type(threads) is not int:
            run_job(function, read, write, job, units, threads, ffi)
        elif function(read, write, job):
            raise ValueError(OUTSIDE)
        return tensor

    def _plainly(self, src: Array, out: Array | None, fill: Any, threads: int) -> Array:
        _threads(threads)
        if fill is _DEFAULT:
            return self._plain.pack(src, out)  # type: ignore[no-any-return]
        return self._plain.pack(src, out, fill)  # type: ignore[no-any-return]

    def _fill(self, fill: Any) -> Any:
        if fill is not _DEFAULT and fill is not None:
            return fill
        match self.layout.fill:
            case FillValue(value):
                return value if fill is _DEFAULT else None
            case FillAny():
                return 0
            case FillZeroPoint():
                return None

    def _lead(self, buffer: Array, fill: Any, shape: tuple[int, ...]) -> None:
        """Slots before the first of the layout hold the fill in a new buffer."""
        if self.layout.start == Constant(0):
            return
        values = dict(zip(self.layout.symbols, self._symbols(shape), strict=True))
        start = evaluate(self.layout.start, values)
        given = self._fill(fill)
        buffer.reshape(-1)[:start] = self._plain._item(0 if given is None else given, buffer.dtype)

    def lead(self, buffer: Array, shape: tuple[int, ...], fill: Any) -> None:
        """Put the fill into the slots before the first of the layout."""
        self._lead(buffer, _DEFAULT if fill is None else fill, shape)

    def job(self, shape: tuple[int, ...], dtype: np.dtype[Any], fill: Any) -> int | None:
        """Return the fill as C takes it, after a look at the shape; ``None`` where C does not."""
        extents = self._plain._extents(shape)
        given = self._fill(_DEFAULT if fill is None else fill)
        if given is None or dtype.itemsize not in WIDTHS or 0 in extents:
            return None
        if dtype.itemsize in self._failed or not self._fits(extents, dtype.itemsize):
            return None
        return _word(self._plain._item(given, dtype).tobytes())

    def _symbols(self, shape: tuple[int, ...]) -> list[int]:
        values: dict[Expr, int] = {}
        for axis, extent in zip(self.layout.axes, shape, strict=True):
            values.setdefault(axis.extent, extent)
        return [next(v for e, v in values.items() if getattr(e, "name", None) == name)
                for name in self.layout.symbols]  # fmt: skip

    def _prepare_pack(self, src: object, fill: Any) -> _Prepared | None:
        """What a call needs for such a source; ``None`` where numpy has to say what is wrong."""
        plain, given = self._plain, self._fill(fill)
        if type(src) is not np.ndarray or not _taken(src):
            return None
        if given is None or (fill is not _DEFAULT and type(fill) not in (int, float)):
            return None
        word = "" if fill is _DEFAULT else repr(fill)
        extents = plain._extents(src.shape)
        item = plain._item(given, src.dtype)
        prepared = self._prepared("pack", extents, src.dtype, plain._box(extents), item.tobytes())
        return _remembered(self._packs, (src.shape, src.dtype, word), prepared)

    def _prepare_unpack(self, src: object, shape: Any) -> _Prepared | None:
        plain = self._plain
        if type(src) is not np.ndarray or not _taken(src):
            return None
        extents = plain._extents(shape)
        plain._boxed(src, plain._box(extents))
        prepared = self._prepared("unpack", extents, src.dtype, extents, b"")
        if type(shape) is not tuple or any(type(each) is not int for each in shape):
            return prepared
        return _remembered(self._unpacks, (src.shape, src.dtype, shape), prepared)

    def _prepared(
        self,
        verb: str,
        extents: tuple[int, ...],
        dtype: np.dtype[Any],
        result: tuple[int, ...],
        fill: bytes,
    ) -> _Prepared | None:
        if 0 in extents or not self._fits(extents, dtype.itemsize):
            return None
        if dtype.itemsize in self._failed:
            return None
        try:
            ffi, library = self._kernels(dtype.itemsize)
        except CompilerError as error:
            self._failed.add(dtype.itemsize)
            warn(f"numpy serves in place of compiled code: {error}", RuntimeWarning, stacklevel=5)
            return None
        name = f"{self._stem}_{verb}_{8 * dtype.itemsize}"
        shape = ffi.new("int64_t[]", list(extents))
        units = getattr(library, f"{name}_units")(shape)
        job = ffi.new("int64_t[]", [0, units, _word(fill), *extents])
        return getattr(library, f"{name}_job"), result, dtype, job, units, ffi

    def _fits(self, extents: tuple[int, ...], width: int) -> bool:
        """Whether all that C works out stays within 64 bits; ValueError where numpy says so."""
        if self.FALLBACK is not None and hasattr(self._plain, "_pieces"):
            self._plain._pieces(extents)
        sizes = (prod(extents), prod(self._plain._box(extents)))
        return bool(max(sizes) * width < 2**62)


def _word(item: bytes) -> int:
    """One element, at the start of 8 bytes."""
    return int.from_bytes(item.ljust(8, b"\0"), sys.byteorder, signed=True)


def _taken(array: Array) -> bool:
    plain = array.dtype.kind in "biufcmMSUV" and not array.dtype.hasobject
    return plain and array.dtype.itemsize in WIDTHS


def _remembered(
    store: dict[Any, _Prepared], key: Any, prepared: _Prepared | None
) -> _Prepared | None:
    if prepared is not None:
        if len(store) >= MOST_REMEMBERED:
            store.clear()
        store[key] = prepared
    return prepared


def _threads(threads: object) -> int:
    if type(threads) is not int:
        raise TypeError(f"`threads` is a {type(threads).__name__}, not an int")
    if not 1 <= threads <= MOST_THREADS:
        raise ValueError(f"`threads` is {threads}, not 1 to {MOST_THREADS}")
    return threads


def run_job(
    function: Any, read: Any, write: Any, job: Any, units: int, threads: int, ffi: Any
) -> None:
    """Run a job, in parts where several threads may work."""
    if threads == 1 and type(threads) is int:
        if function(read, write, job):
            raise ValueError(OUTSIDE)
        return
    parts = min(_threads(threads), units)
    ends = [units * part // parts for part in range(parts + 1)]
    jobs = []
    for part in range(parts):
        each = ffi.new("int64_t[]", list(job))
        each[0], each[1] = ends[part], ends[part + 1]
        jobs.append(each)
    with ThreadPoolExecutor(parts) as pool:
        failed = list(pool.map(lambda each: function(read, write, each), jobs))
    if any(failed):
        raise ValueError(OUTSIDE)
