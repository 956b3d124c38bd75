"""The text of a module that stores elements without room between them, beside that of its items."""

from __future__ import annotations

from layoutdsl.code.numpy.words import indented, literal, tuple_text
from layoutdsl.language.meaning.elements import FillAny
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.storage import Stored

Constants = tuple[int, str, int, int, bool, int, str, bool, bool]


def constants_of(layout: Layout, stored: Stored) -> Constants:
    """Return what the carried functions need to know of a layout and its storage.

    They are: the bits of an element and what it travels in; the least and the largest value, where
    it is narrower than its item; whether each bit is placed; how many of the last dimensions are
    words, and of which type; whether they are one word; and whether `out` keeps its padding.
    """
    element = stored.element
    kind, width = element.item
    low, high = (0, 0) if element.fills_item else element.values or (0, 0)
    return (
        element.bits,
        f"{kind}{width}",
        low,
        high,
        stored.placed,
        stored.joined,
        stored.words.dtype,
        stored.single,
        isinstance(layout.fill, FillAny),
    )


def _literal(value: object) -> str:
    return literal(value) if isinstance(value, str) else str(value)


def word_functions(layout: Layout, stored: Stored) -> list[str]:
    """Return `words_shape`, `pack_words` and `unpack_words`."""
    return [
        "",
        "",
        f"_STORED = {tuple_text([*map(_literal, constants_of(layout, stored))])}",
        "",
        "",
        "def words_shape(shape: tuple[int, ...] | list[int]) -> tuple[int, ...]:",
        *indented(
            [
                '"""Return the shape of the stored array, in words."""',
                "return _stored_shape(physical_shape, shape, _STORED)",
            ]
        ),
        "",
        "",
        "def pack_words(",
        "    src: _Array,",
        "    out: _Array | None = None,",
        "    fill: _Number | None = None,",
        "    threads: int = 1,",
        ") -> _Array:",
        *indented(
            [
                '"""Return the tensor as the layout stores it, without room between elements."""',
                "return _pack_words(pack, physical_shape, src, out, fill, threads, _STORED)",
            ]
        ),
        "",
        "",
        "def unpack_words(",
        "    src: _Array,",
        "    shape: tuple[int, ...] | list[int],",
        "    out: _Array | None = None,",
        "    threads: int = 1,",
        ") -> _Array:",
        *indented(
            [
                '"""Return the tensor that a stored array holds; padding is not read."""',
                "return _unpack_words(unpack, physical_shape, src, shape, out, threads, _STORED)",
            ]
        ),
    ]
