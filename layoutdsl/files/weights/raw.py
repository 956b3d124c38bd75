"""A file of nothing but items, as one tensor called `array`; what is said of it lies beside it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from layoutdsl.files.npy import UnreadableError
from layoutdsl.files.weights.beside import said_beside
from layoutdsl.files.weights.bounds import counted, element_type, item_bits, refuse_size, stored
from layoutdsl.files.weights.form import Arranged, Contents, Entry, Head, Wanted
from layoutdsl.files.weights.npy import NAME, only


@dataclass(frozen=True, slots=True)
class Raw:
    """Items, and nothing else.

    Attributes:
        type: the element type that they are of; bytes where nobody says otherwise.
        shape: the extents; ``None`` where all items are one axis.
    """

    type: str = "u8"
    shape: tuple[int, ...] | None = None

    @property
    def name(self) -> str:
        """As ``--format`` has it."""
        return "raw"

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Of the names of such files."""
        return (".raw",)

    def read(self, place: Path, handle: int) -> Contents:
        """Return the items of an open file.

        Raises:
            UnreadableError: it has not as many as the type and shape say.
            OSError: it cannot be read.
        """
        size, width = os.fstat(handle).st_size, item_bits(self.type) // 8
        shape = (size // width,) if self.shape is None else self.shape
        needed = counted(shape, NAME) * width
        if size != needed:
            extents = " x ".join(map(str, shape)) or "one"
            words = f"has {size} bytes, and {extents} of {self.type} are {needed}"
            raise UnreadableError(f"{words}; say its type and shape otherwise")
        items = stored((place, handle), 0, self.type, shape, size)
        one = Entry(NAME, self.type, self.type, shape, items)
        return Contents(self.name, (one,), said_beside(place))

    def arrange(
        self,
        given: Contents | None,  # noqa: ARG002
        wanted: Sequence[Wanted],
        said: str,
    ) -> Arranged:
        """Return how a file of one tensor looks.

        Raises:
            ValueError: there are more.
        """
        one = only(wanted, self.name)
        refuse_size(one, item_bits(element_type(one, self.name)))
        # A raw file says neither type nor shape: `pack_weights` reads it as bytes.
        heads = (Head(NAME, "u8", (one.size,), 0, one.size),)
        return Arranged(one.size, (), (0,), heads, beside=said.encode("utf-8") or None)

    def type_of(self, kind: str) -> str:  # noqa: ARG002
        """Return the element type that items are read as: of bytes."""
        return "u8"
