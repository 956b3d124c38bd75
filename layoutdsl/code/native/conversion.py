"""From one layout's buffer straight to that of another by compiled C.

NumPy converts the arrays that C does not take.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from layoutdsl.code.buffers import MOST_REMEMBERED, Buffers
from layoutdsl.code.native import WIDTHS
from layoutdsl.code.native.again import Again, never
from layoutdsl.code.native.calls import Array, Function, Ready, checked_threads, moved, ready
from layoutdsl.code.native.compilers import CompilerError
from layoutdsl.code.native.libraries import Libraries
from layoutdsl.code.native.module import (
    ALONE,
    MOST_BYTES,
    Failed,
    code_of,
    codes_of,
    of_type,
)
from layoutdsl.code.native.padding import moved_beside_padding
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.elements import FillAny, FillValue


class NativeConversion:
    """Buffers of one layout into those of another, where C takes them.

    Attributes:
        target: the layout that is written.
        libraries: what is compiled of it.
    """

    def __init__(
        self, source: Buffers, written: Buffers, libraries: Libraries, failed: Failed
    ) -> None:
        """Prepare it; nothing is compiled yet.

        Args:
            source: checks arguments of the layout that is read.
            written: those of the layout that is written, over the same axes.
            libraries: what is compiled of the verb ``convert``.
            failed: is told that a compiler failed, when a class of shapes is met that needs it.
        """
        self.libraries, self._failed = libraries, failed
        self._source, self._written, self.target = source, written, written.layout
        self._failure: CompilerError | None = None
        self._known: dict[Any, Ready] = {}
        self._again: Again = never

    def converted(
        self, src: Any, shape: object, out: Any, fill: object, threads: int
    ) -> Array | None:
        """Return the buffer; ``None`` where numpy has to make it, or to refuse the arguments.

        Raises:
            ValueError, TypeError: the arguments do not fit; nothing was written.
            CompilerError: the compiler failed, and compiled code was asked for; likewise.
        """
        if out is not None and fill is None and threads is ALONE and self._again(src, out, shape):
            kept: Array = out
            return kept
        codes = codes_of(src, self.target.element)
        if codes is not None:
            return self._converted_codes(codes, src, shape, out, fill, threads)
        workers = checked_threads(threads)
        prepared = self._remembered(src, shape, fill)
        if prepared is None:
            return None
        if fill is None and isinstance(self.target.fill, FillAny):
            if out is None:
                return moved(prepared, src, out, workers)
            extents = self.extents(shape)
            return moved_beside_padding(self.target, prepared, src, out, extents, workers)
        if fill is None:
            self._again = prepared.again
        return moved(prepared, src, out, workers)

    def _converted_codes(
        self, codes: np.dtype[Any], src: Array, shape: object, out: Any, fill: object, threads: int
    ) -> Array | None:
        """The same of items that travel as unsigned integers."""
        if not of_type(out, src.dtype):
            return None
        given = self._fill(fill)
        if given is not None and (fill is not None or isinstance(self.target.fill, FillValue)):
            fill = code_of(self._written, given, src.dtype, codes)
        into = None if out is None else out.view(codes)
        found = self.converted(src.view(codes), shape, into, fill, threads)
        if found is None:
            return None
        kept: Array = found.view(src.dtype) if out is None else out
        return kept

    def _remembered(self, src: object, shape: object, fill: object) -> Ready | None:
        """What was found right once is found again by shape, type and fill."""
        if not isinstance(src, np.ndarray):
            return None
        plain = type(shape) is tuple and all(type(each) is int for each in shape)
        if not plain or not (fill is None or type(fill) in (int, float)):
            return self._ready(src, shape, fill)
        key = src.shape, src.dtype, shape, repr(fill)
        found = self._known.get(key)
        if found is None:
            found = self._ready(src, shape, fill)
            if found is not None:
                if len(self._known) >= MOST_REMEMBERED:
                    self._known.clear()
                self._known[key] = found
        return found

    def _ready(self, src: object, shape: object, fill: object) -> Ready | None:
        """A call but for its arrays; ``None`` where numpy has to do it, or to refuse it."""
        if not isinstance(src, np.ndarray) or not self._taken(src):
            return None
        extents = self.extents(shape)
        read, box = self._source.box(extents), self._written.box(extents)
        given, width = self._fill(fill), src.dtype.itemsize
        if given is None or src.shape not in (read, (prod(read),)):
            return None
        if 0 in extents or max(map(prod, (extents, read, box))) * width >= MOST_BYTES:
            return None
        item = self._written.item(given, src.dtype)
        called = self._called(width, extents)
        if called is None:
            return None
        start = evaluate(self.target.start, self.target.bind(extents))
        lead = (start, item) if start else None
        shapes = (src.shape, box)
        return ready(called, extents, shapes, src.dtype, item.tobytes(), lead, asked=True)

    def extents(self, shape: object) -> tuple[int, ...]:
        """Return a shape as both layouts take it; ValueError or TypeError for another."""
        return self._written.extents(self._source.extents(shape))

    def source_shape(self, extents: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape of the buffer that is read, for a shape that was checked."""
        return self._source.box(extents)

    def forget(self) -> None:
        """Look up anew what serves, at the next call."""
        self._known.clear()
        self._again = never

    def _taken(self, array: Array) -> bool:
        """Whether C takes such items, elements travel in them, and each is one."""
        element = self.target.element
        return _taken(array) and (
            element is None
            or (element.fills_item and (array.dtype.kind, array.dtype.itemsize) == element.item)
        )

    def _called(self, width: int, extents: tuple[int, ...]) -> Function | None:
        """What is compiled; ``None`` where numpy serves, for now or for good."""
        if self._failure is None:
            try:
                return self.libraries.of("convert", width, extents, prod(extents) * width)
            except CompilerError as error:
                self._failure = error.with_traceback(None)
        self._failed(self._failure)
        return None

    def _fill(self, fill: object) -> object | None:
        """The number in padding; ``None`` where there is none, which numpy refuses."""
        match self.target.fill:
            case FillValue(value) if fill is None:
                return value
            case FillAny() if fill is None:
                return 0
        return fill


def _taken(array: Array) -> bool:
    """Whether C takes such items."""
    dtype = array.dtype
    plain = dtype.kind in "biufcmMSUV" and not dtype.hasobject
    return plain and dtype.itemsize in WIDTHS
