"""Messages of protobuf as they lie in a file: fields with their numbers and places, and written.

Nothing is known of what fields mean, and none is taken into memory before somebody asks for it.

Source: protobuf.dev, "Encoding". Groups, which no schema since 2008 has, are refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from layoutdsl.files.weights.bounds import exactly, unreadable
from layoutdsl.files.weights.cursor import Cursor

MOST_FIELDS = 3_000_000
"""Fields of a file that are looked at: large models have some hundred thousand."""

_WINDOW = 4096
_LONG = 1 << 16
_VARINT, _WIDE, _RUN, _NARROW = 0, 1, 2, 5
_FIXED = {_WIDE: 8, _NARROW: 4}


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a message.

    Attributes:
        number: which.
        kind: how it is written: a number, or bytes of a fixed width, or a run of them.
        start: the byte where it begins.
        data: the byte where its value begins.
        end: the byte behind it.
        value: of a number, else 0.
    """

    number: int
    kind: Literal["number", "wide", "run", "narrow"]
    start: int
    data: int
    end: int
    value: int = 0


class Messages:
    """The messages of an open file."""

    def __init__(self, handle: int, form: str) -> None:
        self._handle, self._form, self._left = handle, form, MOST_FIELDS

    def fields(self, start: int, end: int) -> Iterator[Field]:
        """Yield the fields of a message that lies there.

        Raises:
            UnreadableError: it is none, or there have been too many.
        """
        cursor = Cursor(self._handle, start, end, _WINDOW)
        while cursor.place < end:
            self._left -= 1
            if self._left < 0:
                raise unreadable(self._form, f"it has more than {MOST_FIELDS} fields")
            begins, tag = cursor.place, self._varint(cursor)
            number, kind = tag >> 3, tag & 7
            if kind == _VARINT and number:
                data, value = cursor.place, self._varint(cursor)
                yield Field(number, "number", begins, data, cursor.place, value)
            elif kind == _RUN and number:
                length = self._varint(cursor)
                if length > end - cursor.place:
                    raise unreadable(self._form, "a part of it is longer than what it is in")
                data = cursor.skip(length)
                yield Field(number, "run", begins, data, cursor.place)
            elif kind in _FIXED and number:
                data = cursor.skip(_FIXED[kind])
                word: Literal["wide", "narrow"] = "wide" if kind == _WIDE else "narrow"
                yield Field(number, word, begins, data, cursor.place)
            else:
                raise unreadable(self._form, "it is no message of protobuf")

    def numbers(self, field: Field) -> Iterator[int]:
        """Yield the numbers of a field that may hold many of them side by side.

        Raises:
            UnreadableError: it holds something else.
        """
        if field.kind == "number":
            yield field.value
        elif field.kind == "run":
            cursor = Cursor(self._handle, field.data, field.end, _WINDOW)
            while cursor.place < field.end:
                self._left -= 1
                if self._left < 0:
                    raise unreadable(self._form, f"it has more than {MOST_FIELDS} fields")
                yield self._varint(cursor)
        else:
            raise unreadable(self._form, "a number in it is none")

    def text(self, field: Field, most: int) -> str:
        """Return the text of a field.

        Args:
            field: of a message.
            most: bytes.

        Raises:
            UnreadableError: it is none, or longer.
        """
        size = field.end - field.data
        if field.kind != "run" or size > most:
            raise unreadable(self._form, f"a name in it has {size} bytes, and {most} are the most")
        try:
            return exactly(self._handle, field.data, size).decode("utf-8")
        except UnicodeDecodeError:
            raise unreadable(self._form, "a name in it is no UTF-8") from None

    def may_hold(self, field: Field, word: bytes) -> bool:
        """Return whether a word stands in a field; of long ones it is not looked for."""
        size = field.end - field.data
        return size > _LONG or word in exactly(self._handle, field.data, size)

    def _varint(self, cursor: Cursor) -> int:
        found = cursor.varint()
        if found is None:
            raise unreadable(self._form, "a number in it does not end, or has more than 64 bits")
        return found


def varint(value: int) -> bytes:
    """Return a number that is not negative, seven bits to a byte.

    >>> varint(300).hex()
    'ac02'
    """
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*found, value))


def number(field: int, value: int) -> bytes:
    """Return a field that is a number."""
    return varint(field << 3 | _VARINT) + varint(value)


def run(field: int, data: bytes | str) -> bytes:
    """Return a field that is a run of bytes: a text, or a message."""
    whole = data.encode("utf-8") if isinstance(data, str) else data
    return varint(field << 3 | _RUN) + varint(len(whole)) + whole
