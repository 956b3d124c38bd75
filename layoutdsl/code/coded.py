"""A module whose tensors are real numbers, and whose buffers are codes of them.

Codes are moved by the module of items, which is proved; numbers become codes, and codes numbers, by
code that knows nothing of the layout (`numpy/codes.py`).
"""

from __future__ import annotations

from functools import partial
from typing import Any

from layoutdsl.code.numpy.codes import _numbers, _pack_numbers, _quantised, _scales, _unpack_numbers
from layoutdsl.code.numpy.constants import codes_constants
from layoutdsl.code.numpy.support import _Array
from layoutdsl.language.meaning.model import Indices, Layout, Shape


class QuantisedModule:
    """`pack` and `unpack` of a layout whose elements are codes of real numbers.

    Attributes:
        layout: what is packed.
        codes: the module that packs and unpacks codes, as those of other layouts do.
    """

    def __init__(self, layout: Layout, codes: Any, slots: Any) -> None:
        """Wrap a module of codes.

        Args:
            layout: with an interface.
            codes: what moves codes, into items or into words.
            slots: the module of items, one for each slot.
        """
        self.layout, self.codes, self._slots = layout, codes, slots
        self._constants = codes_constants(layout)

    def __repr__(self) -> str:
        return f"<module of layout {self.layout.name}, of codes of real numbers>"

    @property
    def FALLBACK(self) -> str | None:  # noqa: N802  (as in a numpy module)
        """Why elements are moved one by one; ``None`` where they are not."""
        found: str | None = self.codes.FALLBACK
        return found

    def physical_shape(self, shape: tuple[int, ...] | list[int]) -> tuple[int, ...]:
        """Return the shape of the packed array.

        Raises:
            ValueError: the layout has no such shape.
        """
        found: tuple[int, ...] = self.codes.physical_shape(shape)
        return found

    def offset(self, index: Indices, shape: Shape) -> int:
        """Return where the code of an element lies, in elements from the start of the buffer.

        Raises:
            ValueError: the shape or the index does not fit the layout.
        """
        return self.layout.offset(index, shape)

    def expect(self, scale: object, zero_point: object, shape: tuple[int, ...]) -> None:
        """Return if the numbers are a scale and a zero point for tensors of a shape.

        Raises:
            TypeError, ValueError: a scale is not positive and finite, or a zero point no code.
        """
        _scales(scale, zero_point, tuple(shape), self._constants)

    def pack(
        self,
        src: _Array,
        *,
        scale: object = None,
        zero_point: object = None,
        out: _Array | None = None,
        fill: float | None = None,
        threads: int = 1,
    ) -> _Array:
        """Return the codes of a tensor of real numbers as the layout stores them.

        A code is the nearest: ``src/scale``, rounded to the nearest, ties to even, plus the zero
        point; what is beyond the codes gets the last of them, as infinities do. It is exactly that
        for every float: nothing is left to the rounding of a quotient.

        Args:
            src: floats or integers of up to 64 bits, none of them NaN.
            scale: a positive real number; with ``per c`` also an array of them, one for each index.
            zero_point: the code of 0, or such an array.
            out: the array of codes to write; a new one is made without it.
            fill: the code in padding; what the layout says if left out, which is the zero point
                unless it names another. Where zero points differ it has to be given.
            threads: how many may move codes at once, 1 to 256.

        Raises:
            ValueError, TypeError: the arguments do not fit; nothing was written.
        """
        box, constants = self._slots.physical_shape, self._constants
        packs = partial(self.codes.pack, threads=threads)
        return _pack_numbers(packs, box, src, scale, zero_point, out, fill, constants)

    def unpack(
        self,
        src: _Array,
        shape: tuple[int, ...] | list[int],
        *,
        scale: object = None,
        zero_point: object = None,
        out: _Array | None = None,
        dtype: object = "float32",
        threads: int = 1,
    ) -> _Array:
        """Return the real numbers whose codes a packed array holds; padding is not read.

        A number is ``(code - zero_point)*scale``, worked out in 64 bits and rounded to the type.

        Args:
            src: an array of codes of `physical_shape(shape)`, or a flat one of the same size.
            shape: the extents of the tensor.
            scale: as for `pack`.
            zero_point: as for `pack`.
            out: the tensor to write, whose type is then the result's; new without it.
            dtype: of the result: ``float16``, ``float32`` or ``float64``.
            threads: how many may move codes at once, 1 to 256.

        Raises:
            ValueError, TypeError: the arguments do not fit, or the type cannot hold what codes
                stand for at this scale; nothing was written.
        """
        unpacks, constants = partial(self.codes.unpack, threads=threads), self._constants
        return _unpack_numbers(unpacks, src, shape, scale, zero_point, out, dtype, constants)

    def quantise(self, src: _Array, *, scale: object = None, zero_point: object = None) -> _Array:
        """Return the codes of a tensor of real numbers, not packed; `pack` says which."""
        return _quantised(src, scale, zero_point, self._constants)

    def dequantise(
        self,
        src: _Array,
        *,
        scale: object = None,
        zero_point: object = None,
        dtype: object = "float32",
    ) -> _Array:
        """Return what a tensor of codes stands for; `unpack` says how that is worked out."""
        return _numbers(src, scale, zero_point, dtype, self._constants)
