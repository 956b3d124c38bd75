"""What a file of weights is, whatever its format: entries that lie somewhere in open files.

A form reads the names, types, shapes and places of a file's tensors, and never their items; and it
arranges a new file: how large it is, what it says besides tensors, and where each tensor goes. What
moves items knows no format, and no form moves items.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Protocol

from layoutdsl.files.pieces.files import Stored


@dataclass(frozen=True, slots=True)
class Entry:
    """A tensor in a file.

    Attributes:
        name: as the file has it; no two are alike.
        native: the format's own word for its type: ``BF16``, ``Q4_0``.
        type: the element type of the language; ``None`` where items are not elements, as the
            blocks of ``Q4_0``, or lie without room between them: it can only be kept then.
        shape: the extents that the file says, most major axis first.
        stored: its items, as unsigned integers of their width, in the order of bytes that they
            have; bytes where ``type`` is ``None``.
        inline: whether the items stand within the header, at a place that it does not name: small
            initialisers of ONNX.
    """

    name: str
    native: str
    type: str | None
    shape: tuple[int, ...]
    stored: Stored
    inline: bool = False

    @property
    def head(self) -> Head:
        """The entry of the header."""
        start, fortran = self.stored.data, self.stored.fortran
        size = self.stored.end - start
        found = Head(self.name, self.native, self.shape, start, size, fortran)
        return replace(found, start=None) if self.inline else found


@dataclass(frozen=True, slots=True)
class Head:
    """The header entry of a tensor: all that decides which bytes are its items.

    Attributes:
        name, native, shape: as an `Entry` has them once the file is read.
        start: the byte where the items begin; ``None`` where they stand within the header.
        size: bytes.
        fortran: whether the last axis is the most major one.
    """

    name: str
    native: str
    shape: tuple[int, ...]
    start: int | None
    size: int
    fortran: bool = False


@dataclass(frozen=True, slots=True)
class Contents:
    """What a file says.

    Attributes:
        form: the name of its form.
        entries: its tensors, in the order of the file.
        said: the text under the key ``layoutdsl``, if there is one.
        rest: whatever else the form carries over from the file to one that is made of it.
        files: further files that entries lie in, open: the place and handle of each. Whoever
            reads closes them.
        unnamed: likewise, files that were made to be read, and are nobody's else.
        look: at all items, where the format has checksums of them; it takes as long as reading
            them, and raises `UnreadableError` where one has changed.
        order: of the bytes of items: ``<``, the least significant first, or ``>``.
    """

    form: str
    entries: tuple[Entry, ...]
    said: str | None = None
    rest: Any = None
    files: tuple[tuple[Path, int], ...] = ()
    unnamed: tuple[int, ...] = ()
    look: Callable[[], None] = lambda: None
    order: Literal["<", ">"] = "<"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A tensor that is to be written: its name, its type, and the extents that the file says.

    Attributes:
        native: the word for its type where it had one in the same form, else ``None``: the form
            has the word for ``type``.
        size: bytes.
        kept: what it is byte for byte, where it is kept as it was and stays in one form: then it
            may stay where it is, and in the order of its axes.
    """

    name: str
    type: str | None
    native: str | None
    shape: tuple[int, ...]
    size: int
    kept: Entry | None = None


@dataclass(frozen=True, slots=True)
class Arranged:
    """A file that is to be written.

    Attributes:
        size: bytes of all of it.
        fixed: bytes that are of no tensor, with the place of each; room between is zeros.
        starts: where each tensor begins, in the order in which they were wanted.
        heads: what the header says of each.
        data: the file that tensors lie in, where it is not the one that was named: what is added
            to its name.
        model: the named file then, to be written when the data are in their place: from the name
            of the file of the data to its bytes, which say that name.
        beside: the bytes of `NAME.json`, which says what the file itself has no room for.
        finish: what is written when all tensors are in: from a function that reads bytes
            (place, count) to more bytes with their places.
    """

    size: int
    fixed: tuple[tuple[int, bytes], ...]
    starts: tuple[int, ...]
    heads: tuple[Head, ...]
    data: str = ""
    model: Callable[[str], bytes] | None = None
    beside: bytes | None = None
    finish: Callable[[Callable[[int, int], bytes]], Sequence[tuple[int, bytes]]] | None = None


class Form(Protocol):
    """A format of files of weights."""

    @property
    def name(self) -> str:
        """As ``--format`` has it."""

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Of the names of such files."""

    def read(self, place: Path, handle: int) -> Contents:
        """Return what an open file says.

        Raises:
            UnreadableError: it is no such file, or says what cannot be.
        """

    def type_of(self, kind: str) -> str:
        """Return the element type that items of a type have once they are read from such a file.

        A format without a word for a type writes unsigned integers of its width.
        """

    def arrange(self, given: Contents | None, wanted: Sequence[Wanted], said: str) -> Arranged:
        """Return how a file of these tensors looks that is made of another, and says so.

        Args:
            given: what it is made of; what it says besides tensors is said again where the form is
                the same.
            wanted: the tensors, in their order.
            said: the text for the key ``layoutdsl``; none where it is empty.

        Raises:
            ValueError: the form cannot hold one of them; the message names it.
        """


def heads_of(
    wanted: Sequence[Wanted], words: Sequence[str], starts: Sequence[int]
) -> tuple[Head, ...]:
    """Return what a header says of tensors with these words for their types, at these places."""
    return tuple(
        Head(each.name, word, each.shape, start, each.size)
        for each, word, start in zip(wanted, words, starts, strict=True)
    )
