"""A module whose buffers are stored without room between elements, in words or in bytes.

The moves are those of the module of items, which are proved; items become words, and words items,
by code that knows nothing of the layout (`numpy/dense.py`).
"""

from __future__ import annotations

from functools import partial
from typing import Any

from layoutdsl.code.numpy.constants import words_constants
from layoutdsl.code.numpy.dense import _bits_of, _of_bits, _pack_words, _stored_shape, _unpack_words
from layoutdsl.code.numpy.support import _Array, _array, _destination, _travels, _within
from layoutdsl.language.meaning.model import Indices, Layout, Shape
from layoutdsl.language.meaning.storage import Stored


class StoredModule:
    """`pack`, `unpack`, `physical_shape` and `bit_address` of a layout that is stored in words.

    Attributes:
        layout: what is packed.
        stored: how its buffer becomes words.
        items: the module of items, one for each slot.
    """

    def __init__(self, layout: Layout, items: Any, stored: Stored) -> None:
        self.layout, self.items, self.stored = layout, items, stored
        self._constants = words_constants(layout, stored)

    def __repr__(self) -> str:
        words = self.stored.words
        return f"<module of layout {self.layout.name}, stored in {words.kind}{words.bits}>"

    @property
    def FALLBACK(self) -> str | None:  # noqa: N802  (as in a numpy module)
        """Why elements are moved one by one; ``None`` where they are not."""
        found: str | None = self.items.FALLBACK
        return found

    def physical_shape(self, shape: tuple[int, ...] | list[int]) -> tuple[int, ...]:
        """Return the shape of the stored array, in words.

        Raises:
            ValueError: the layout has no such shape, or it fills no whole words.
        """
        return _stored_shape(self.items.physical_shape, shape, self._constants)

    def pack(
        self,
        src: _Array,
        out: _Array | None = None,
        fill: float | None = None,
        threads: int = 1,
    ) -> _Array:
        """Return the tensor as the layout stores it, without room between elements.

        Args:
            src: a tensor, in items that elements travel in.
            out: the array to write, of `physical_shape` in words; a new one is made without it.
            fill: the number in padding; that of the layout if left out.
            threads: how many may work at once, 1 to 256.

        Raises:
            ValueError, TypeError: the arguments do not fit; nothing was written.
        """
        shape, packs = self.items.physical_shape, partial(self.items.pack, threads=threads)
        return _pack_words(packs, shape, src, out, fill, self._constants)

    def unpack(
        self,
        src: _Array,
        shape: tuple[int, ...] | list[int],
        out: _Array | None = None,
        threads: int = 1,
    ) -> _Array:
        """Return the tensor that a stored array holds; padding is not read.

        Args:
            src: an array of `physical_shape(shape)` in words, or a flat one of the same size.
            shape: the extents of the tensor.
            out: the tensor to write; new without it.
            threads: how many may work at once, 1 to 256.

        Raises:
            ValueError, TypeError: the arguments do not fit; nothing was written.
        """
        box, unpacks = self.items.physical_shape, partial(self.items.unpack, threads=threads)
        return _unpack_words(unpacks, box, src, shape, out, self._constants)

    def bit_address(self, index: Indices, bit: int, shape: Shape) -> int:
        """Return where a bit of an element lies, in bits from the start of the buffer.

        Raises:
            ValueError: the shape, the index or the bit does not fit the layout.
        """
        return bit_address(self.layout, index, bit, shape)


class BitModule:
    """`pack` and `unpack` of a layout that places the bits of its elements, an item for each bit.

    Attributes:
        layout: what is packed.
        items: the module over the bits, which are its last axis.
    """

    def __init__(self, layout: Layout, items: Any) -> None:
        assert layout.bit_of is not None
        self.layout, self.items, self._element = layout, items, layout.bit_of

    def __repr__(self) -> str:
        return f"<module of layout {self.layout.name}, an item for each bit>"

    @property
    def FALLBACK(self) -> str | None:  # noqa: N802  (as in a numpy module)
        """Why bits are moved one by one; ``None`` where they are not."""
        found: str | None = self.items.FALLBACK
        return found

    def physical_shape(self, shape: tuple[int, ...] | list[int]) -> tuple[int, ...]:
        """Return the shape of the buffer, in bits.

        Raises:
            ValueError: the layout has no such shape.
        """
        found: tuple[int, ...] = self.items.physical_shape((*shape, self._element.bits))
        return found

    def pack(self, src: _Array, out: _Array | None = None, **given: Any) -> _Array:
        """Return the bits of a tensor as the layout stores them, one an item.

        Args:
            src: a tensor, in items that elements travel in.
            out: the buffer to write; a new one is made without it.
            given: ``fill`` and ``threads``, as other modules take them.

        Raises:
            ValueError, TypeError: the arguments do not fit; nothing was written.
        """
        element, tensor = self._element, _array(src, "src")
        _travels(tensor, *element.item)
        if element.values is not None and not element.fills_item:
            _within(tensor, *element.values)
        packed: _Array = self.items.pack(_bits_of(tensor, element.bits), out, **given)
        return packed

    def unpack(
        self,
        src: _Array,
        shape: tuple[int, ...] | list[int],
        out: _Array | None = None,
        threads: int = 1,
    ) -> _Array:
        """Return the tensor whose bits a buffer holds, one an item.

        Args:
            src: a buffer of `physical_shape(shape)`.
            shape: the extents of the tensor.
            out: the tensor to write; new without it.
            threads: how many may work at once, 1 to 256.

        Raises:
            ValueError, TypeError: the arguments do not fit; nothing was written.
        """
        bits, (kind, width) = self._element.bits, self._element.item
        held = self.items.unpack(src, (*shape, bits), threads=threads)
        found = _of_bits(held, bits, f"{kind}{width}")
        if out is None:
            return found
        target = _destination(out, tuple(shape), found)
        target[...] = found
        return target


def bit_address(layout: Layout, index: Indices, bit: int, shape: Shape) -> int:
    """Return where a bit of an element lies, in bits from the start of the buffer.

    Args:
        layout: with an element type.
        index: of the element, in axis order.
        bit: the lowest is 0.
        shape: of the tensor.

    Raises:
        ValueError: the shape, the index or the bit does not fit the layout.
    """
    element = layout.tensor_element
    if element is None:
        raise ValueError(f"`{layout.name}` does not say how wide an element is")
    if not 0 <= bit < element.bits:
        raise ValueError(f"bit {bit} is outside 0..{element.bits - 1} of {element.name}")
    if layout.bit_of is None:
        return element.bits * layout.offset(index, shape) + bit
    number = [*index.values()] if hasattr(index, "values") else [*index]
    extents = [*shape.values()] if hasattr(shape, "values") else [*shape]
    return layout.offset([*number, bit], [*extents, element.bits])
