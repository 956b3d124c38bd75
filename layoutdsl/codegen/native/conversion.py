"""From one layout's buffer straight to that of another, without the tensor in between.

The kernel is made as those of `pack` and `unpack` are: both buffers are sides. Where two layouts
have no common digits, or nothing can be compiled, the tensor is unpacked and packed again.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from layoutdsl.codegen.moves import Fallback
from layoutdsl.codegen.native import WIDTHS
from layoutdsl.codegen.native.calls import Array, Ready, checked_threads, moved, ready
from layoutdsl.codegen.native.chains import Chains, chains
from layoutdsl.codegen.native.compilers import CompilerError, vector_bytes
from layoutdsl.codegen.native.kernel_text import kernel_functions
from layoutdsl.codegen.native.loader import kernels
from layoutdsl.codegen.native.module import DEFAULT, NativeModule
from layoutdsl.codegen.native.program import (
    EmittedProgram,
    prelude,
    stem_of,
    whole_functions,
)
from layoutdsl.codegen.native.sides import Apart, buffer_side, renamed
from layoutdsl.codegen.native.spelling import Spelling
from layoutdsl.codegen.plan import plan
from layoutdsl.digits import same
from layoutdsl.expr import Expr, Extent
from layoutdsl.model import Layout


class Conversion:
    """`convert`, from one layout to another.

    Attributes:
        direct: why there is no direct way; ``None`` where there is.
    """

    def __init__(self, source: NativeModule, target: NativeModule) -> None:
        """Prepare it; nothing is compiled yet.

        Raises:
            ValueError: the layouts differ in rank, or in an extent that is a number.
        """
        self._source, self._target = source, target
        found = conversion_chains(source.layout, target.layout)
        self.direct: str | None = found.reason if isinstance(found, Apart) else None
        self._name = f"{source.layout.name}_to_{target.layout.name}"
        self._kernels = None
        if isinstance(found, Chains):
            both = found
            meaning = f"{source.layout!r} {target.layout!r} {vector_bytes()}"
            self._kernels = kernels(
                self._name, meaning, lambda _, width: self._program(both, width)
            )

    def _program(self, found: Chains, width: int) -> EmittedProgram:
        words, vector = Spelling(self._source.layout), vector_bytes()
        name = f"{stem_of(self._name)}_convert_{8 * width}"
        lines = kernel_functions(name, found, width, vector, words)
        lines = [prelude(vector), *lines, *whole_functions(name, "convert"), ""]
        return EmittedProgram(self._name, (width,), "\n".join(lines), "", None, ("convert",))

    def convert(
        self,
        src: Array,
        shape: tuple[int, ...],
        out: Array | None = None,
        fill: Any = None,
        threads: int = 1,
    ) -> Array:
        """Return the buffer of the second layout for a buffer of the first.

        Args:
            src: a buffer of the first layout.
            shape: the extents of the tensor.
            out: the buffer to write, which does not overlap `src`; a new one is made without it.
            fill: the number in padding; that of the second layout if left out.
            threads: how many may work at once, 1 to 256.

        Raises:
            ValueError, TypeError: the arguments do not fit; nothing was written.
        """
        workers, given = checked_threads(threads), DEFAULT if fill is None else fill
        prepared = self._ready(src, shape, given)
        found = None if prepared is None else moved(prepared, src, out, workers)
        if found is not None:
            return found
        tensor = self._source.unpack(src, shape, threads=threads)
        return self._target.pack(tensor, out, given, threads)

    def _ready(self, src: object, shape: tuple[int, ...], fill: Any) -> Ready | None:
        """What a direct move needs; ``None`` where the modules have to do it, or to refuse it."""
        if (
            self._kernels is None
            or not isinstance(src, np.ndarray)
            or src.dtype.kind not in "biufc"
        ):
            return None
        before, box = self._source.physical_shape(shape), self._target.physical_shape(shape)
        if src.shape != before or src.dtype.itemsize not in WIDTHS or 0 in shape:
            return None
        padding = self._target.padding(shape, src.dtype, fill)
        if padding is None or not self._target.within_words(shape, src.dtype.itemsize):
            return None
        try:
            called = self._kernels("convert", src.dtype.itemsize)
        except CompilerError:
            return None  # which the modules say, when they fail in the same way
        return ready(called, shape, (prod(before), prod(box)), box, src.dtype, *padding)


def conversion_chains(source: Layout, target: Layout) -> Chains | Apart:
    """Return the two buffers over common digits, or why they have none.

    Raises:
        ValueError: the layouts differ in rank, or in an extent that is a number.
    """
    if source.rank != target.rank:
        raise ValueError(f"`{source.name}` and `{target.name}` have tensors of different ranks")
    names: dict[str, Expr] = {}
    for one, other in zip(source.axes, target.axes, strict=True):
        known = names.get(getattr(other.extent, "name", ""), one.extent)
        if not same(known, one.extent) or (
            not isinstance(other.extent, Extent) and not same(one.extent, other.extent)
        ):
            raise ValueError(f"`{source.name}` and `{target.name}` take different shapes")
        if isinstance(other.extent, Extent):
            names[other.extent.name] = one.extent
    plans = plan(source), plan(target)
    for each in plans:
        if isinstance(each, Fallback):
            return Apart(each.reason)
    sides = [buffer_side(each) for each in plans if not isinstance(each, Fallback)]
    first, second = sides
    if isinstance(first, Apart):
        return first
    return second if isinstance(second, Apart) else chains(first, renamed(second, names))
