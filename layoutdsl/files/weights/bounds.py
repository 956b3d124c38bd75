"""What files of weights may say at most, and how they are read: never more than is there.

Files come from anywhere. A number in one is compared with what the file holds before it is used,
and a name is cut to a line before it is shown.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterable, Sequence
from math import prod
from pathlib import Path

import numpy as np

from layoutdsl.files.npy import MOST_AXES, MOST_BYTES, UnreadableError
from layoutdsl.files.pieces.files import Stored
from layoutdsl.files.weights.form import Wanted
from layoutdsl.language.meaning.elements import ELEMENT_TYPES
from layoutdsl.language.texts.values import printable, shortened

MOST_HEADER = 100_000_000
"""Bytes of all that a file says besides items; safetensors has this limit, we take it for all."""

A_NAME = 80
"""Characters of a name in a message."""

AGAIN = "fetch it again, or write it anew"


def shown(name: str) -> str:
    """Return a name from a file as it may stand in a line: short, and nothing that acts."""
    line = shortened(printable(name), A_NAME)
    return f"`{line}`"


def unreadable(form: str, words: str, remedy: str = AGAIN) -> UnreadableError:
    """Return the error for a file that is no such file."""
    return UnreadableError(f"is no {form} file that can be read: {words}; {remedy}")


def cut_short(size: int, needed: int) -> UnreadableError:
    """Return the error for a file that ends before what it says."""
    return UnreadableError(f"is cut short: {size} bytes, and it says {needed}; {AGAIN}")


def exactly(handle: int, place: int, count: int) -> bytes:
    """Return bytes of an open file, which were seen to be there.

    Raises:
        UnreadableError: the file has become shorter.
        OSError: it cannot be read.
    """
    found = bytearray()
    while len(found) < count:
        more = os.pread(handle, count - len(found), place + len(found))
        if not more:
            raise UnreadableError("was cut short while it was read")
        found += more
    return bytes(found)


def counted(shape: Sequence[int], name: str) -> int:
    """Return how many elements a shape has.

    Raises:
        UnreadableError: more axes or elements than anything holds.
    """
    if len(shape) > MOST_AXES:
        words = f"of rank {len(shape)}, and {MOST_AXES} axes are the most"
        raise UnreadableError(f"has the tensor {shown(name)} {words}; {AGAIN}")
    if prod(each or 1 for each in shape) > MOST_BYTES // 16:
        words = "with a shape of more than 2**59 elements"
        raise UnreadableError(f"has the tensor {shown(name)} {words}; {AGAIN}")
    return prod(shape)


def item_bits(kind: str | None) -> int:
    """Return the bits of an item, in which an element of a type travels; of bytes without one."""
    return 8 if kind is None else ELEMENT_TYPES[kind].item[1] * 8


def stored(
    file: tuple[Path, int], data: int, kind: str | None, shape: tuple[int, ...], size: int
) -> Stored:
    """Return the items of an entry as unsigned integers, or as bytes where they are no elements.

    Args:
        file: the place and handle of what they lie in.
        data: the byte where they start.
        kind: the element type of the language, if they are elements.
        shape: the extents, most major axis first.
        size: bytes of all of them.
    """
    width = item_bits(kind) // 8
    return Stored(*file, data, np.dtype(f"<u{width}"), (size,) if kind is None else shape)


def refuse_wanted(wanted: Iterable[Wanted]) -> None:
    """Fail where two tensors to be written have one name, or one has too many axes.

    Raises:
        ValueError: names the tensor.
    """
    seen = set[str]()
    for each in wanted:
        if each.name in seen:
            raise ValueError(f"two tensors are called {shown(each.name)}; name one otherwise")
        seen.add(each.name)
        if len(each.shape) > MOST_AXES:
            words = f"{shown(each.name)} is of rank {len(each.shape)}"
            raise ValueError(f"{words}, and {MOST_AXES} axes are the most; merge some of them")


def word_of(each: Wanted, words: Container[str], own: Callable[[str], str], form: str) -> str:
    """Return a form's word for the type of a tensor to be written.

    Args:
        each: the tensor; its own word holds where the form has it.
        words: those of the form.
        own: from an element type to the form's word for it.
        form: its name.

    Raises:
        ValueError: it is of blocks that the form has no word for.
    """
    if each.native is not None and each.native in words:
        return each.native
    return own(element_type(each, form))


def element_type(each: Wanted, form: str) -> str:
    """Return the element type of a tensor to be written.

    Raises:
        ValueError: it has none; the message names it.
    """
    if each.type is None:
        words = f"{shown(each.name)} is of blocks that {form} has no type for"
        raise ValueError(f"{words}; write a file of the form that it comes from")
    return each.type


def refuse_size(each: Wanted, bits: int, elements: int = 1) -> None:
    """Fail where a tensor to be written has other bytes than its shape and type say.

    Args:
        each: the tensor.
        bits: of a block of its type.
        elements: of a block.

    Raises:
        ValueError: names the tensor.
    """
    if prod(each.shape) * bits != 8 * each.size * elements:
        extents = " x ".join(map(str, each.shape)) or "one"
        kind = f"{bits} bits" if elements == 1 else f"{bits // 8} bytes for {elements}"
        words = f"{shown(each.name)} has {each.size} bytes, and {extents} of {kind} have"
        needed = prod(each.shape) * bits / elements / 8
        raise ValueError(f"{words} {needed:g}; give the shape of its items")


def rounded(place: int, step: int) -> int:
    """Return the next multiple of ``step``.

    >>> rounded(33, 32), rounded(64, 32)
    (64, 64)
    """
    return -(-place // step) * step


def refuse_overlap(form: str, spans: Iterable[tuple[str, int, int]]) -> None:
    """Fail where two of the tensors of a file share bytes.

    Args:
        form: the name of the form.
        spans: of each tensor: its name, its first byte, and the one behind its last.

    Raises:
        UnreadableError: names one of them.
    """
    past = 0
    for name, start, end in sorted(spans, key=lambda each: each[1:]):
        if start < end:
            if start < past:
                raise unreadable(form, f"{shown(name)} lies over another")
            past = end
