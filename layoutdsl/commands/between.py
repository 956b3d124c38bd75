"""What stands between files and the code that moves items: real numbers, bits, and words.

The functions are those that packing at once has (`code/numpy/`), each for a piece.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

from layoutdsl.code.numpy.codes import _fill_of, _numbers, _quantised, _scales
from layoutdsl.code.numpy.constants import Codes, codes_constants
from layoutdsl.code.numpy.dense import _bits_of, _dense, _of_bits, _opened
from layoutdsl.code.numpy.support import _travels, _within
from layoutdsl.code.stored import StoredModule
from layoutdsl.files.npy import Array, UnreadableError
from layoutdsl.files.pieces.between import Between, BufferSide, TensorSide
from layoutdsl.files.pieces.every_copy import shape_with_copies
from layoutdsl.language.declaration import declaration
from layoutdsl.language.meaning.elements import ElementType
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.storage import ITEMS, StorageName
from layoutdsl.language.meaning.storage import stored as stored_in

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from layoutdsl.files.pieces.cut import Piece
    from layoutdsl.files.pieces.moves import Code, Number

NARROW = {1: 3, 2: 6, 4: 6}
"""Bytes that a slot of so many bits takes while it becomes part of a byte, or comes out of one."""

OTHERS = 9
"""Likewise of another width below 8."""


@dataclass(frozen=True, slots=True)
class Scaled:
    """What codes stand for.

    Attributes:
        scale: one number, or one for each index of the axis that the layout names.
        zero_point: the code of 0, likewise.
        dtype: of numbers that are unpacked.
    """

    scale: object
    zero_point: object
    dtype: np.dtype[Any]

    @property
    def digest(self) -> str:
        """What tells it from others."""
        found = sha256(self.dtype.str.encode())
        for each in map(np.asarray, (self.scale, self.zero_point)):
            found.update(f"{each.dtype.str} {each.shape} ".encode() + each.tobytes())
        return found.hexdigest()


def between_of(
    code: Code,
    layout: Layout,
    storage: StorageName,
    scaled: Scaled | None,
    fill: Number | None,
    once: Layout | None = None,
) -> Callable[[tuple[int, ...]], tuple[Between, Number | None]]:
    """Return from the shape of a tensor to what stands between, and what padding holds.

    Args:
        code: of the items of the layout.
        layout: what is packed.
        storage: how the buffer is stored.
        scaled: what codes stand for, where the file of the tensor holds real numbers.
        fill: what padding holds, if that was said.
        once: the layout of the tensor itself, where ``layout`` is of one that has every copy.

    Raises:
        ValueError: the layout fills no whole words of that storage.
    """
    tensor = None if layout.bit_of is None else _bits(layout.bit_of)
    buffer = None if storage == ITEMS else _words(code, layout, storage)
    element = layout.tensor_element
    item = None if element is None or (tensor is None and buffer is None) else _item(element)
    plain = Between(np.dtype(np.uint8) if tensor else item, tensor, buffer)
    if scaled is None:
        return lambda _: (plain, fill)
    if layout.domain:
        words = f"`{layout.name}` holds elements of a domain only"
        raise ValueError(f"{words}: numbers are packed at once, with `compile`")

    single = layout if once is None else once
    codes = codes_constants(single)

    def box_of(shape: tuple[int, ...]) -> tuple[int, ...]:
        return code.module.physical_shape(shape_with_copies(single, shape))

    def found(shape: tuple[int, ...]) -> tuple[Between, Number | None]:
        _scales(scaled.scale, scaled.zero_point, shape, codes)
        given = fill
        if given is None:
            given = _fill_of(box_of, scaled.zero_point, shape, codes)
        return Between(np.dtype(codes[0]), _of_numbers(scaled, codes), buffer), given

    return found


def _item(element: ElementType) -> np.dtype[Any]:
    kind, width = element.item
    return np.dtype("?" if kind == "b" else f"{kind}{width}")


def _bits(element: ElementType) -> TensorSide:
    """Whole elements in place of their bits, which are the last axis."""
    kind, width = element.item

    def items(held: Array, _: Piece) -> Array:
        _travels(held, kind, width)
        if element.values is not None and not element.fills_item:
            _within(held, *element.values)
        return _bits_of(held, element.bits)

    def tensor(items: Array, _: Piece) -> Array:
        return _of_bits(items, element.bits, f"{kind}{width}")

    cost = -(-8 * width // element.bits) + 2
    return TensorSide(_item(element), items, tensor, cost, axes=1)


def _words(code: Code, layout: Layout, storage: StorageName) -> BufferSide:
    """A buffer in words."""
    how = stored_in(layout, storage)
    bits = how.slot_bits
    kind = "u1" if how.placed else _item(how.element).str[1:]
    cost = 0 if bits >= 8 else NARROW.get(bits, OTHERS)
    shape = StoredModule(layout, code.module, how).physical_shape

    def opened(data: Array, count: int) -> Array:
        return _opened(data, bits, count, kind)

    return BufferSide(
        bits, np.dtype(how.words.dtype), shape, lambda slots: _dense(slots, bits), opened, cost
    )


def _of_numbers(scaled: Scaled, codes: Codes) -> TensorSide:
    """Real numbers in place of codes."""
    axis = codes[4]

    def of_piece(value: object, piece: Piece) -> object:
        array = np.asarray(value)
        if not array.shape:
            return value
        return array[piece.starts[axis] : piece.starts[axis] + piece.extents[axis]]

    def items(held: Array, piece: Piece) -> Array:
        _refuse_unknown(held, piece)
        scale, zero = (of_piece(each, piece) for each in (scaled.scale, scaled.zero_point))
        return _quantised(held, scale, zero, codes)

    def tensor(items: Array, piece: Piece) -> Array:
        scale, zero = (of_piece(each, piece) for each in (scaled.scale, scaled.zero_point))
        return _numbers(items, scale, zero, scaled.dtype, codes)

    return TensorSide(scaled.dtype, items, tensor, 2)


def _refuse_unknown(held: Array, piece: Piece) -> None:
    """Fail where a piece holds what is no number, and say where it is in the tensor.

    Raises:
        UnreadableError: there is a NaN.
    """
    if held.dtype.kind != "f":
        return
    unknown = np.isnan(held)
    if unknown.any():
        first = [int(each[0]) for each in np.nonzero(unknown)]
        place = tuple(a + b for a, b in zip(first, piece.starts, strict=False))
        raise UnreadableError(f"holds NaN at {place}, which has no code")


def refuse_raw(raw: object, *other: object) -> None:
    """Fail where a file without a header would hold words, or real numbers.

    Raises:
        ValueError: it would.
    """
    if raw is not None and other != ("items", None, None):
        raise ValueError("files of words, and of real numbers, have a header: leave `raw` out")


def scaled_of(layout: Layout, scale: object, zero_point: object, dtype: DTypeLike) -> Scaled | None:
    """Return what codes stand for, where that was given.

    Raises:
        ValueError: elements of the layout are no codes.
    """
    if scale is None and zero_point is None:
        return None
    if layout.interface is None:
        raise ValueError(f"the elements of `{layout.name}` are plain, and have no scale")
    return Scaled(scale, zero_point, np.dtype(dtype))


def about_of(
    layout: Layout, fill: float | None, storage: StorageName, scaled: Scaled | None
) -> dict[str, object]:
    """Return what tells this work from others."""
    written = declaration(layout).encode()
    about: dict[str, object] = {"layout": sha256(written).hexdigest(), "fill": repr(fill)}
    if storage != "items":
        about["storage"] = storage
    if scaled is not None:
        about["scaled"] = scaled.digest
    return about
