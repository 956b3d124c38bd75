"""A file of a model, taken apart without holding it: where its weights lie, and all the rest.

A message of protobuf is fields behind each other, each a tag, and a length where it has one. Only
the outer two messages are walked, the model and its graph; what is in the pieces the package onnx
reads.

Source: protobuf.dev, Encoding; `onnx.proto`, which numbers the fields.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import repeat

GRAPH, INITIALIZER = 7, 5
"""Of a model its graph, and of a graph a weight."""

HEAD = 20
"""Bytes of a tag and a length: two numbers of 64 bits, of which a byte holds 7."""

MOST_BITS = 64

MOST_PIECES = 1 << 22
"""Fields of a model and of its graph; what is more was not written to be run."""

MOST_APART = 1 << 12
"""Fields of a message that is taken apart; a weight has one for each of its axes, and a few."""

MOST_AT_ONCE = 1 << 30
"""Bytes that are asked for at once: systems give no more than about twice that."""

END = object()
"""There is no field left."""


class WireError(ValueError):
    """Bytes are no message."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A field of a message in a file.

    Attributes:
        number: of the field.
        start: of its tag, in bytes from the start of the file.
        inside: where its contents begin.
        end: behind it.
        sized: whether a length stands before the contents.
    """

    number: int
    start: int
    inside: int
    end: int
    sized: bool


def taken_apart(handle: int, size: int) -> tuple[bytes, tuple[Piece, ...]]:
    """Return a model without the weights of its main graph, as a message, and where these lie.

    Args:
        handle: of the file, which can be read at any place.
        size: of it, in bytes.

    Raises:
        WireError: it is no message.
        OSError: it cannot be read.
    """
    rest, weights, left = bytearray(), list[Piece](), iter(range(MOST_PIECES))
    for piece in _pieces(handle, 0, size, left):
        if piece.number != GRAPH or not piece.sized:
            rest += read(handle, piece.start, piece.end)
            continue
        graph = bytearray()
        for each in _pieces(handle, piece.inside, piece.end, left):
            if each.number == INITIALIZER and each.sized:
                weights.append(each)
            else:
                graph += read(handle, each.start, each.end)
        rest += sized(GRAPH, len(graph)) + graph
    return bytes(rest), tuple(weights)


def read(handle: int, start: int, end: int) -> bytes:
    """Return the bytes of a file between two places.

    Raises:
        WireError: the file is cut short meanwhile.
        OSError: it cannot be read.
    """
    found = list[bytes]()
    while start < end:
        some = os.pread(handle, end - start, start)
        if not some:
            raise WireError("cut short")
        found.append(some)
        start += len(some)
    return found[0] if len(found) == 1 else b"".join(found)


def read_into(handle: int, start: int, room: memoryview) -> None:
    """Fill bytes with those of a file, from a place on.

    Raises:
        WireError: the file is cut short meanwhile.
        OSError: it cannot be read.
    """
    done = 0
    while done < len(room):
        some = os.preadv(handle, [room[done : done + MOST_AT_ONCE]], start + done)
        if not some:
            raise WireError("cut short")
        done += some


def taken_out(handle: int, message: Piece, number: int) -> tuple[bytes, Piece | None]:
    """Return a message without one field that has a length, and where that lies.

    Where there are several such, the last counts, as everywhere. A message of very many fields is
    returned as it is: what is small in each is not worth the walk.

    Args:
        handle: of the file.
        message: where it lies.
        number: of the field.

    Raises:
        WireError: it is no message.
        OSError: it cannot be read.
    """
    rest, found = bytearray(), None
    for count, piece in enumerate(_pieces(handle, message.inside, message.end, repeat(None))):
        if count > MOST_APART:
            return read(handle, message.inside, message.end), None
        if piece.number == number and piece.sized:
            found = piece
        else:
            rest += read(handle, piece.start, piece.end)
    return bytes(rest), found


def sized(number: int, length: int) -> bytes:
    """Return what stands before the contents of a field that has a length."""
    return varint(number << 3 | 2) + varint(length)


def varint(number: int) -> bytes:
    """Return a number as messages have it: seven bits a byte, the lowest first.

    All bytes but the last have the highest bit.
    """
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*found, number])


def _pieces(handle: int, place: int, end: int, left: Iterator[object]) -> Iterator[Piece]:
    while place < end:
        if next(left, END) is END:
            raise WireError(f"more than {MOST_PIECES} fields")
        head = os.pread(handle, min(HEAD, end - place), place)
        tag, first = _number(head, 0)
        inside = behind = place + first
        match tag & 7:
            case 0:
                behind = place + _number(head, first)[1]
            case 1:
                behind += 8
            case 2:
                length, second = _number(head, first)
                inside = place + second
                behind = inside + length
            case 5:
                behind += 4
            case _:
                raise WireError("a field of no kind that is in use")
        if behind > end or not tag >> 3:
            raise WireError("a field is longer than its message, or has no number")
        yield Piece(tag >> 3, place, inside, behind, sized=tag & 7 == 2)
        place = behind


def _number(head: bytes, place: int) -> tuple[int, int]:
    """A number, and the place behind it."""
    found = 0
    for shift in range(0, MOST_BITS + 6, 7):
        if place >= len(head):
            break
        byte = head[place]
        found |= (byte & 0x7F) << shift
        place += 1
        if byte < 0x80:
            return found, place
    raise WireError("a number has no end")
