"""Where tensors may be taken apart, for those who move the pieces themselves, on many machines."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from layoutdsl.code.compiling import compile as compiled
from layoutdsl.code.proved import CheckedModule
from layoutdsl.language.elaborate.shelf import find_layout
from layoutdsl.language.meaning.arguments import INTEGER, expect, integers
from layoutdsl.language.meaning.model import Layout

if TYPE_CHECKING:
    from layoutdsl.files.pieces.cut import Piece

MOST_PIECES = 1 << 20
"""More are of no use to anybody, and are memory too."""


def pieces_of(
    layout: Layout | str,
    shape: tuple[int, ...],
    memory: int,
    *,
    itemsize: int = 1,
    unproved: bool = False,
) -> tuple[Piece, ...]:
    """Return the pieces of a tensor, each of which fills a stretch of the buffer alone.

    That pieces are disjoint and cover all is proved, for all shapes, of every seam between two of
    them. A piece is packed by the code of the whole, in any order, anywhere:

    >>> import numpy as np
    >>> layout, tensor = library("NCHW16c"), np.arange(480.0).reshape(2, 20, 3, 4)
    >>> module = compile(layout)
    >>> buffer = np.empty(module.physical_shape(tensor.shape)).reshape(-1)
    >>> for piece in pieces_of(layout, tensor.shape, 4096, itemsize=8):
    ...     packed = module.pack(tensor[piece.box]).reshape(-1)
    ...     buffer[piece.stretch] = packed[-piece.slots :]
    >>> np.array_equal(buffer, module.pack(tensor).reshape(-1))
    True

    Args:
        layout: without open parameters, or the name of one of the library: ``NCHWc<8>``.
        shape: the extents of the tensor, in axis order.
        memory: bytes that a piece of the tensor and what is packed of it may take together.
        itemsize: bytes of an item.
        unproved: also cut an undecided layout, after a check of bounds and distinct slots at this
            shape.

    Raises:
        TooLargeError: the smallest piece does not fit; a `ValueError` that says why.
        RefusedError: the layout is refuted.
        UnprovedError: the layout is undecided.
        ValueError, TypeError: something does not fit, or there are more than a million pieces.
    """
    from layoutdsl.files.pieces.cut import cut, lead_of

    layout = find_layout(layout)
    expect(memory=(memory, INTEGER), itemsize=(itemsize, INTEGER))
    if memory < 1 or itemsize < 1:
        raise ValueError(f"`memory` is {memory}, and `itemsize` {itemsize}: both are bytes")
    if layout.bit_of is not None:
        raise ValueError(f"`{layout.name}` places the bits of its elements, and is packed at once")
    if layout.copies:
        raise ValueError(f"`{layout.name}` holds copies of its elements, and is packed at once")
    extents = integers(shape, "shape", "an extent for each axis, in order")
    module = compiled(layout, "numpy", unproved=unproved)
    module.physical_shape(extents)
    if isinstance(module, CheckedModule):
        module.check(extents)
    lead = lead_of(layout, extents)

    def cost(elements: int, slots: int) -> int:
        return itemsize * (elements + lead + slots)

    found = cut(layout, extents, memory, cost)
    if found.count > MOST_PIECES:
        raise ValueError(f"{found.count} pieces are too many: allow more than {memory} bytes each")
    return tuple(_in_buffer(found.piece(number), lead) for number in range(found.count))


def _in_buffer(piece: Piece, lead: int) -> Piece:
    """The piece by offsets in the buffer; the first fills what lies before the layout too."""
    if piece.first == 0:
        return replace(piece, slots=lead + piece.slots)
    return replace(piece, first=lead + piece.first)
