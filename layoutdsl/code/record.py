"""A module of a record: `pack` puts its fields into one buffer of bytes, `unpack` takes them out.

What is moved, and how, is said in plain values here; the moves are those of `numpy/record.py`,
which modules that are written out carry, over a module for each part, proved and read back as any.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from layoutdsl.code.numpy.record import _Record
from layoutdsl.code.numpy.support import _Array, _workers
from layoutdsl.code.placed import Placed
from layoutdsl.code.record_shape import ModuleOf, box, field_of, part_of
from layoutdsl.language.meaning.bands import rows_along, solved
from layoutdsl.language.meaning.model import ZERO, Indices, Shape
from layoutdsl.language.meaning.record import Record

if TYPE_CHECKING:
    from layoutdsl.code.native.record_library import RecordCode, Verb

Bytes = NDArray[np.uint8]
_SHAPES = 8  # whose buffers are known


class _Moves(_Record):
    """The moves of a record: those of C where these can be had, else those of numpy."""

    def __init__(self, code: RecordCode | None, *given: Any) -> None:
        super().__init__(*given)
        self._code = code

    def _put(
        self, flat: Bytes, tensors: Mapping[str, _Array], values: dict[str, int], **options: int
    ) -> None:
        if not self._moved("pack", flat, tensors, values, options["threads"]):
            super()._put(flat, tensors, values, **options)

    def _taken(self, flat: Bytes, values: dict[str, int], **options: int) -> dict[str, _Array]:
        if self._code is not None:
            fields = self.fields.values()
            found: dict[str, _Array] = {
                each.name: np.empty(each.shape(values), each.kind) for each in fields
            }
            if self._moved("unpack", flat, found, values, options["threads"]):
                return found
        return super()._taken(flat, values, **options)

    def _moved(
        self,
        verb: Verb,
        flat: Bytes,
        tensors: Mapping[str, _Array],
        values: Mapping[str, int],
        threads: int,
    ) -> bool:
        """Whether C has moved all fields; where not, nothing was written."""
        if self._code is None:
            return False
        names, given = [*values], [tensors[name] for name in self.fields]
        along = None if self._along is None else names.index(self._along)
        return self._code.move(verb, flat, given, [*values.values()], along, threads)


class RecordModule:
    """`pack`, `unpack`, `physical_shape`, `shape_of` and `bit_address` of a record.

    Attributes:
        record: what is packed.
        parts: how each part is moved.
        Fields: the named tuple that `unpack` returns.
    """

    def __init__(
        self,
        record: Record,
        parts: Sequence[Placed],
        module_of: ModuleOf,
        code: RecordCode | None = None,
    ) -> None:
        """Put it together.

        Args:
            record: without open parameters.
            parts: how each is moved.
            module_of: the module of a part's layout.
            code: the C of all of it, where there may be some.
        """
        self.record, self.parts, self._module_of = record, tuple(parts), module_of
        names = [each.name for each in record.fields]
        self.Fields: Any = namedtuple("Fields", names)  # type: ignore[misc]
        known = lru_cache(_SHAPES)(lambda values: box(record, parts, dict(values)))
        self._moves = _Moves(
            code,
            record.name,
            record.frame.symbols,
            [field_of(each) for each in record.fields],
            [part_of(each, module_of) for each in parts],
            [each.region for each in parts],
            record.bind,
            lambda values: known(tuple(values.items())),
            tuple(solved(record)),
            rows_along(record),
            all(each.start == ZERO for each in record.laid),
        )

    def __repr__(self) -> str:
        return f"<module of record {self.record.name}>"

    @property
    def FALLBACK(self) -> str | None:  # noqa: N802  (as in a numpy module)
        """Why items of a part are moved one by one; ``None`` where none are."""
        for placed in self.parts:
            if not placed.items.parameters:
                why = self._module_of(placed.items).FALLBACK
                if why is not None:
                    return f"`{placed.part.label}`: {why}"
        return None

    def physical_shape(self, shape: Shape) -> tuple[int, ...]:
        """Return the shape of the buffer, in bytes.

        The dimensions are those of the parts before the blocks, and the bytes of a block, where all
        parts have these; else the buffer is flat.

        Raises:
            ValueError: the record has no such shape, or it fills no whole bytes.
        """
        return self._moves.physical_shape(shape)

    def shape_of(self, /, **fields: _Array) -> dict[str, int]:
        """Return the shape of the record whose fields these are.

        Raises:
            ValueError: a field is missing or unknown, they do not fit together, or do not say an
                extent of the record.
            TypeError: one is no array.
        """
        return self._moves.shape_of(fields)

    def pack(
        self,
        /,
        out: _Array | None = None,
        threads: int = 1,
        shape: Shape | None = None,
        **fields: _Array,
    ) -> Bytes:
        """Return the bytes of a record; bits that no field holds are 0.

        Args:
            out: the buffer to write, of `physical_shape` in bytes; a new one is made without it.
            threads: how many may work at once, 1 to 256.
            shape: of the record; worked out from the fields if left out.
            fields: a tensor for each, in items that its elements travel in.

        Raises:
            ValueError, TypeError: the arguments do not fit; nothing was written.
        """
        _workers(threads)
        return self._moves.pack(fields, out, shape, threads=threads)

    def unpack(self, src: _Array, shape: Shape, threads: int = 1) -> Any:
        """Return the fields of a record as a named tuple; bits that no field holds are not read.

        Args:
            src: the bytes, of `physical_shape(shape)` or flat.
            shape: of the record.
            threads: how many may work at once, 1 to 256.

        Raises:
            ValueError, TypeError: the arguments do not fit.
        """
        _workers(threads)
        return self.Fields(**self._moves.unpack(src, shape, threads=threads))

    def bit_address(self, field: str, index: Indices, bit: int, shape: Shape) -> int:
        """Return where a bit of an element lies, in bits from the start of the buffer.

        Raises:
            ValueError: the field, the index, the bit or the shape does not fit the record.
        """
        return self.record.bit_address(field, index, bit, shape)
