"""The initialisers of a model that lies in a file, by their numbers.

Source: onnx.proto of 1.23; onnx, docs/ExternalData.md.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from weakref import finalize

from layoutdsl.files.npy import UnreadableError
from layoutdsl.graphs.graph import Array
from layoutdsl.graphs.models.onnx_faults import UnfitModelError
from layoutdsl.graphs.models.onnx_items import RAW_DATA, Stamp, inside, outside, raw_items, stamp_of
from layoutdsl.graphs.models.onnx_wire import Piece, WireError, read, taken_out

CHANGED = "was changed while it was read; run it again"


class Tensors:
    """The initialisers of a model that lies in a file, read one by one, as often as asked.

    Args:
        handle: of the file; it is closed when nobody needs these any more.
        pieces: where they lie in it.
        place: of the file, beside which others may lie.
    """

    def __init__(self, handle: int, pieces: tuple[Piece, ...], place: Path) -> None:
        self._handle, self._pieces, self.place = handle, pieces, place
        self._stamp = stamp_of(handle)
        self._beside = dict[str, Stamp]()
        finalize(self, os.close, handle)

    def __len__(self) -> int:
        return len(self._pieces)

    @property
    def files(self) -> tuple[Path, ...]:
        """The file, and those beside it that were read so far."""
        return (self.place, *(self.place.parent / each for each in self._beside))

    def head(self, number: int) -> Any:
        """Return one as the package onnx has it, without items that are bytes.

        Raises:
            UnreadableError: it is none.
            OSError: it cannot be read.
        """
        return self._apart(number)[0]

    def whole(self, number: int) -> Any:
        """Return one as the package onnx has it.

        Raises:
            UnreadableError, OSError: as of `head`.
        """
        piece = self._pieces[number]
        try:
            return _parsed(read(self._handle, piece.inside, piece.end))
        except WireError:
            raise UnreadableError(CHANGED) from None

    def array(self, number: int) -> Array:
        """Return the items of one, as the file had them when it was opened.

        Raises:
            UnreadableError: they cannot be what is said of them, or were changed meanwhile.
            OSError: they cannot be read.
        """
        import onnx

        if stamp_of(self._handle) != self._stamp:
            raise UnreadableError(CHANGED)
        tensor, raw = self._apart(number)
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            array, location, stamp = outside(tensor, self.place.parent)
            if self._beside.setdefault(location, stamp) != stamp:
                raise UnreadableError(CHANGED)
            return array
        found = None if raw is None else raw_items(tensor, raw, self._handle)
        return inside(self.whole(number)) if found is None else found

    def again(self, number: int) -> Array:
        """Return the items of one that could be read before.

        Raises:
            UnfitModelError: they were changed meanwhile.
            OSError: they cannot be read.
        """
        try:
            return self.array(number)
        except UnreadableError as error:
            raise unfit(self.place, error) from None

    def _apart(self, number: int) -> tuple[Any, Piece | None]:
        piece = self._pieces[number]
        try:
            rest, raw = taken_out(self._handle, piece, RAW_DATA)
        except WireError:
            raise UnreadableError("has an initialiser that is none") from None
        return _parsed(rest), raw


def _parsed(data: bytes) -> Any:
    """Bytes as a weight."""
    import onnx
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

    try:
        return onnx.TensorProto.FromString(data)
    except DecodeError:
        raise UnreadableError("has an initialiser that is none") from None


def unfit(place: Path, error: UnreadableError) -> UnfitModelError:
    """Return what is wrong with a model whose weights cannot be read."""
    fact, _, remedy = error.fact.partition("; ")
    return UnfitModelError(f"`{place}` {fact}", remedy or "save it again")
