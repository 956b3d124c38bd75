"""Tensors that are packed already, in words: their shape as elements, and how they are moved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from math import prod

import numpy as np

from layoutdsl.files.pieces.cut import Piece, TooLargeError, box
from layoutdsl.files.pieces.files import NATIVE, in_order
from layoutdsl.files.pieces.files import Stored as Array
from layoutdsl.files.pieces.moves import ALIGNED, Arena, Moved, Packs
from layoutdsl.files.pieces.queue import Part
from layoutdsl.files.pieces.sums import Sum, Sums
from layoutdsl.language.integers.expr import Extent
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.storage import STORAGES, StorageName, Stored
from layoutdsl.language.meaning.storage import stored as stored_in

MOST = 1 << 40
"""The largest extent that is looked for."""


class NoShapeError(ValueError):
    """Words do not say how many elements they hold."""


def shape_of_words(layout: Layout, word: StorageName, words: tuple[int, ...]) -> tuple[int, ...]:
    """Return the extents of the one tensor without padding that is stored in words of this shape.

    Args:
        layout: of the elements.
        word: the type of words.
        words: the shape of the array of words.

    Raises:
        NoShapeError: there is none, or the shape of the words does not tell.
    """
    how = stored_in(layout, word)
    count = prod(words) * how.words.bits // how.element.bits
    names = [axis.extent.name for axis in layout.axes if isinstance(axis.extent, Extent)]
    values = dict.fromkeys(names, 1)

    def fits(found: dict[str, int]) -> bool:
        box = _words(layout, how, found)
        return len(box) == len(words) and all(a <= b for a, b in zip(box, words, strict=True))

    refused = NoShapeError(f"`{layout.name}` has no tensor of which these are the {word} words")
    if not fits(values):
        raise refused
    for name in values:
        values[name] = _most(name, lambda name, each: fits(values | {name: each}))
    ends = [(_least(layout, how, values, name), value) for name, value in values.items()]
    for some in product(*ends):
        tried = dict(zip(values, some, strict=True))
        shape = layout.shape_of(tried)[: len(layout.tensor_axes)]
        if prod(shape) == count and _words(layout, how, tried) == words:
            return shape
    raise refused


def _most(name: str, fits: Callable[[str, int], bool]) -> int:
    """The largest extent that fits, where 1 does."""
    low, high = 1, 2
    while high <= MOST and fits(name, high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(name, middle) else (low, middle)
    return low


def _least(layout: Layout, how: Stored, values: dict[str, int], name: str) -> int:
    """The smallest extent of which there are as many words."""
    most = values[name]
    want = _words(layout, how, values)

    def fewer(_: str, less: int) -> bool:
        left = most - less + 1
        return left >= 1 and _words(layout, how, values | {name: left}) == want

    return most - _most(name, fewer) + 1


def _words(layout: Layout, how: Stored, values: dict[str, int]) -> tuple[int, ...]:
    """The shape of the words, the last of them rounded up."""
    extents = tuple(box(layout, values))
    if len(extents) < how.joined:
        return ()
    outer, inner = extents[: len(extents) - how.joined], extents[len(extents) - how.joined :]
    bits = prod(inner) * how.slot_bits
    return outer if how.single else (*outer, -(-bits // how.words.bits))


@dataclass(frozen=True, slots=True)
class Whole:
    """One piece: all words of a tensor, and all that they become."""

    given: int
    made: int

    @property
    def count(self) -> int:
        """One."""
        return 1

    @property
    def largest(self) -> Piece:
        """It."""
        return self.piece(0)

    @property
    def units(self) -> tuple[int, ...]:
        """None: it is not cut."""
        return ()

    def piece(self, _: int) -> Piece:
        """Return it."""
        return Piece((0,), (self.given,), 0, self.made)


@dataclass(frozen=True, slots=True)
class Converting:
    """Words of one layout turned into words of another, at once.

    Attributes:
        apart, together: the code of what is read, and of what is written.
        shape: of the tensor, in elements.
        source, target: arrays of words, of one axis.
        sum_up: gives checksums.
    """

    apart: Packs
    together: Packs
    shape: tuple[int, ...]
    source: Array
    target: Array
    sum_up: Sum

    def cost(self, given: int, made: int) -> int:
        """Return the bytes that it takes: words, and items of a byte with what moves them."""
        width = self.source.dtype.itemsize
        times = 1 if self.source.dtype.isnative and self.target.dtype.isnative else 2
        return times * width * (given + made) + 6 * prod(self.shape) + 4 * ALIGNED

    def move(self, piece: Piece, arena: Arena) -> Moved:
        """Convert it."""
        words = self._read(self.source, piece.extents, arena)
        tensor = self.apart.unpack(in_order(words, NATIVE), self.shape)
        made = in_order(self.together.pack(tensor).reshape(-1), self.target.dtype)
        self.target.write((0,), made)
        return Moved(Sums(self.sum_up(words), self.sum_up(made)), made.nbytes)

    def agrees(self, piece: Piece, arena: Arena, sums: Sums) -> bool:
        """Return whether both sides are what they were when it was converted."""
        if self.sum_up(self._read(self.source, piece.extents, arena)) != sums.read:
            return False
        made = self._read(self.target, (piece.slots,), arena)
        return self.sum_up(made) == sums.written

    def _read(self, side: Array, shape: tuple[int, ...], arena: Arena) -> np.ndarray:
        arena.clear()
        words = arena.array(shape, side.dtype)
        side.read((0,), words)
        return words


def converting(
    name: str,
    codes: tuple[Packs, Packs],
    shape: tuple[int, ...],
    source: Array,
    target: Array,
    word: StorageName,
) -> Part:
    """Return how words become other words.

    Args:
        name: of the tensor.
        codes: of what is read, and of what is written.
        shape: of the tensor, in elements.
        source: words; of any shape.
        target: where they go, of one axis; its handle is not known yet.
        word: their type, in the module's eyes.
    """
    seen = np.dtype(STORAGES[word].dtype)
    flat = replace(source.flat(), dtype=seen.newbyteorder(source.dtype.byteorder))
    whole = Whole(prod(source.shape), prod(target.shape))

    def moving(handle: int, sum_up: Sum) -> Converting:
        order = target.dtype.byteorder
        place = replace(target, handle=handle, dtype=seen.newbyteorder(order))
        return Converting(*codes, shape, flat, place, sum_up)

    def cut(room: int) -> Whole:
        needed = moving(-1, lambda _: "").cost(whole.given, whole.made)
        if needed > room:
            raise TooLargeError(needed, "packed words are converted at once")
        return whole

    def again(units: tuple[int, ...]) -> Whole:
        if units:
            raise ValueError("packed words are converted at once")
        return whole

    return Part(name, cut, moving, again)
