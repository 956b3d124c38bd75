"""Whether the copies of an element are alike, in a buffer that somebody else may have written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from layoutdsl.code.compiling import compile as compile_
from layoutdsl.language.elaborate.shelf import find_layout
from layoutdsl.language.meaning.arguments import FLAG, TEXT, Kind, expect, integers
from layoutdsl.language.meaning.counterexample import index_text
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.storage import StorageName

if TYPE_CHECKING:
    import numpy as np


def _is_array(value: object) -> bool:
    import numpy as np

    return isinstance(value, np.ndarray)


ARRAY = Kind("a numpy array", _is_array)
"""The argument that is a buffer."""


@dataclass(frozen=True, slots=True)
class Differing:
    """Two copies of one element that differ.

    Attributes:
        index: of the element, by the names of its axes.
        slots: that of the first copy, and that of the other.
        values: what these hold.
    """

    index: tuple[tuple[str, int], ...]
    slots: tuple[int, int]
    values: tuple[object, object]

    def __str__(self) -> str:
        one, other = (f"slot {n} holds {v}" for n, v in zip(self.slots, self.values, strict=True))
        return f"copies of {index_text(self.index)} differ: {one}, {other}"


def differing_copies(
    layout: Layout | str,
    buffer: Any,
    shape: Sequence[int],
    *,
    storage: StorageName = "items",
    unproved: bool = False,
) -> Differing | None:
    """Return two copies of an element that differ in a buffer, or ``None`` where all are alike.

    `unpack` reads the first copy of each element, whatever the others are. Values are compared byte
    by byte.

    >>> rows = parse("layout Rows(r, c, k: 2 broadcast) = [k, r, c]")["Rows"]
    >>> str(differing_copies(rows, np.arange(8), (2, 2)))
    'copies of (r=0, c=0) differ: slot 0 holds 0, slot 4 holds 4'

    Args:
        layout: without open parameters, or the name of one of the library: ``NCHWc<8>``.
        buffer: of the layout, in its shape or flat.
        shape: the extents of the tensor, axes of copies left out or not.
        storage: how the buffer is stored, as for `compile`.
        unproved: also compare the copies of an undecided layout, as for `compile`.

    Raises:
        ValueError, TypeError: the arguments do not fit.
        RefusedError: the layout is refuted.
        UnprovedError: the layout is undecided.
        UnvalidatedError: it was not shown that what unpacks the copies does what the layout means.
    """
    import numpy as np

    layout = find_layout(layout)
    expect(buffer=(buffer, ARRAY), storage=(storage, TEXT))
    expect(unproved=(unproved, FLAG))
    given = integers(shape, "shape", "an extent for each axis of the tensor, in order")
    values = layout.bind([each or 1 for each in given])
    if not layout.copies or 0 in given:
        return None
    every = compile_(layout.every_copy, "numpy", storage=storage, unproved=unproved)
    extents = layout.shape_of(values)
    bits = 0 if layout.bit_of is None else 1
    found = every.unpack(buffer, extents[: len(extents) - bits])
    names = [axis.name for axis in layout.axes][: found.ndim]
    along = tuple(names.index(each) for each in layout.copies)
    first = found[tuple(slice(0, 1) if n in along else slice(None) for n in range(found.ndim))]
    other = (_bytes(found) != _bytes(first)).any(axis=-1)
    if not other.any():
        return None
    at = np.unravel_index(int(other.argmax()), other.shape)
    there = {name: int(place) for name, place in zip(names, at, strict=True)}
    here = {**there, **dict.fromkeys(layout.copies, 0)}
    index = tuple((name, n) for name, n in there.items() if name not in layout.copies)
    own = {} if not bits else {layout.axes[-1].name: 0}
    places = [layout.offset({**each, **own}, extents) for each in (here, there)]
    held = [found[tuple(each[name] for name in names)].item() for each in (here, there)]
    return Differing(index, (places[0], places[1]), (held[0], held[1]))


def _bytes(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The bytes of each item, along one axis more."""
    import numpy as np

    plain = np.ascontiguousarray(array)
    return plain.view(np.uint8).reshape(*array.shape, array.itemsize)
