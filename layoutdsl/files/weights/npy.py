"""A `.npy` file as one tensor, called `array`; what is said of it lies beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from layoutdsl.files.npy import header, read_header
from layoutdsl.files.weights.arrays import entry, head_as, type_as, written_as
from layoutdsl.files.weights.beside import said_beside
from layoutdsl.files.weights.bounds import refuse_wanted
from layoutdsl.files.weights.form import Arranged, Contents, Wanted

NAME = "array"
"""What a tensor is called in a file without names."""


class Npy:
    """The format of `numpy.save`."""

    name = "npy"
    suffixes: tuple[str, ...] = (".npy",)

    def read(self, place: Path, handle: int) -> Contents:
        """Return what an open file says; its items are not looked at.

        Raises:
            UnreadableError: it is no such file, or says what cannot be.
            OSError: it cannot be read.
        """
        found = read_header(handle)
        one = entry(NAME, (place, handle), found)
        return Contents(self.name, (one,), said_beside(place), {NAME: found})

    def arrange(self, given: Contents | None, wanted: Sequence[Wanted], said: str) -> Arranged:
        """Return how a file of one tensor looks.

        Raises:
            ValueError: there are more, or it has no type in numpy.
        """
        one = only(wanted, self.name)
        dtype, fortran = written_as(one, given, self.name)
        head = header(dtype, one.shape, fortran=fortran)
        size, start = len(head) + one.size, len(head)
        heads = (head_as(one, (dtype, fortran), start),)
        beside = said.encode("utf-8") or None
        return Arranged(size, ((0, head),), (start,), heads, beside=beside)

    def type_of(self, kind: str) -> str:
        """Return the element type that items of a type are read as."""
        return type_as(kind)


def only(wanted: Sequence[Wanted], form: str) -> Wanted:
    """Return the one tensor of a file that holds no more.

    Raises:
        ValueError: there are others, or none.
    """
    refuse_wanted(wanted)
    if len(wanted) != 1:
        words = f"a file of {form} holds one tensor, and not {len(wanted)}"
        raise ValueError(f"{words}; write one of npz or safetensors")
    return wanted[0]
