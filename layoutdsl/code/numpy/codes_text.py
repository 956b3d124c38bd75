"""The text of a module whose elements are codes, beside that of its items: numbers in and out."""

from __future__ import annotations

from layoutdsl.code.numpy.words import indented, literal, tuple_text
from layoutdsl.language.meaning.elements import FillZeroPoint
from layoutdsl.language.meaning.interface import codes_of
from layoutdsl.language.meaning.model import Layout

Codes = tuple[str, int, int, int, int, str, bool, bool]


def codes_constants(layout: Layout) -> Codes:
    """Return what the carried functions need to know of the codes of a layout.

    They are: what a code travels in; the least and the largest; the rank of a tensor, and the axis
    along which scales differ, -1 where there is one; the name of the element type; whether
    padding holds the quantised zero; and whether some elements of a shape have no slot.
    """
    assert layout.element is not None
    assert layout.interface is not None
    kind, width = layout.element.item
    low, high = codes_of(layout.element)
    names = [axis.name for axis in layout.tensor_axes]
    per = layout.interface.per
    axis = -1 if per is None else names.index(per)
    zero = isinstance(layout.fill, FillZeroPoint)
    name, partial = layout.element.name, bool(layout.domain)
    return f"{kind}{width}", low, high, len(layout.tensor_axes), axis, name, zero, partial


def _literal(value: object) -> str:
    return literal(value) if isinstance(value, str) else str(value)


def code_functions(layout: Layout) -> list[str]:
    """Return `pack_numbers` and `unpack_numbers`."""
    return [
        "",
        "",
        f"_CODES = {tuple_text([*map(_literal, codes_constants(layout))])}",
        "",
        "",
        "def pack_numbers(",
        "    src: _Array,",
        "    scale: object,",
        "    zero_point: object,",
        "    out: _Array | None = None,",
        "    fill: _Number | None = None,",
        "    threads: int = 1,",
        ") -> _Array:",
        *indented(
            [
                '"""Return the codes of real numbers as the layout stores them."""',
                "return _pack_numbers(",
                "    pack, physical_shape, src, scale, zero_point, out, fill, threads, _CODES",
                ")",
            ]
        ),
        "",
        "",
        "def unpack_numbers(",
        "    src: _Array,",
        "    shape: tuple[int, ...] | list[int],",
        "    scale: object,",
        "    zero_point: object,",
        "    out: _Array | None = None,",
        '    dtype: object = "float32",',
        "    threads: int = 1,",
        ") -> _Array:",
        *indented(
            [
                '"""Return the real numbers that codes of a packed array stand for."""',
                "return _unpack_numbers(",
                "    unpack, src, shape, scale, zero_point, out, dtype, threads, _CODES",
                ")",
            ]
        ),
    ]
