"""C that turns real numbers into codes and back, beside the C that moves codes."""

from __future__ import annotations

from importlib.resources import files

from layoutdsl.language.integers.expr import Constant, Extent
from layoutdsl.language.meaning.interface import codes_of
from layoutdsl.language.meaning.model import Layout

FLOATS = {32: ("float", "FLT"), 64: ("double", "DBL")}
"""What numbers may be: the bits, the type, and how its limits begin."""


def codes_c(layout: Layout, stem: str) -> list[str]:
    """Return the functions `STEM_quantise_N` and `STEM_dequantise_N`, for floats of N bits.

    Args:
        layout: with an interface.
        stem: what the names of its functions start with.
    """
    assert layout.element is not None
    low, high = codes_of(layout.element)
    carried = files("layoutdsl.code.native").joinpath("codes.c").read_text("utf-8")
    carried = carried.replace("\r\n", "\n").replace("STEM", stem)
    lines = ["", carried.replace("LEAST", f"{low}").replace("LARGEST", f"{high}").rstrip()]
    for bits in FLOATS:
        lines += [*_quantise(layout, stem, bits), *_dequantise(layout, stem, bits)]
    return lines


def codes_header(layout: Layout, stem: str) -> list[str]:
    """Return what the header says of these functions, and their declarations."""
    per = layout.interface.per if layout.interface else None
    count = "one entry" if per is None else f"an entry for each index along {per}"
    return [
        "",
        "/* Real numbers to codes and back, not packed: one is (code - zero_point)*scale, worked",
        "   out in 64 bits and rounded to the type. A code is the nearest, exactly, ties to an",
        "   even number of steps, and beyond the least or the largest code that; in the default",
        "   mode of rounding. `scale`, positive and finite, is what a step of a code is worth, and",
        f"   `zero_point` the code of 0; each has {count}.",
        "   Arrays are whole tensors of `shape`, in the order of its axes.",
        "   Functions return 0; 2 where the layout has no such shape, 4 where a number is NaN, 5",
        "   where a scale or a zero point is none, 6 where a code is none, 7 where the type cannot",
        "   hold what codes stand for: nothing is written then. Link with -lm. */",
        *(f"{head};" for bits in FLOATS for head in _heads(layout, stem, bits)),
    ]


def _heads(layout: Layout, stem: str, bits: int) -> tuple[str, str]:
    code, (number, _) = _code(layout), FLOATS[bits]
    more = "const int64_t *shape,\n    const double *scale, const int64_t *zero_point)"
    return (
        f"int {stem}_quantise_{bits}(const {number} *numbers, {code} *codes, {more}",
        f"int {stem}_dequantise_{bits}(const {code} *codes, {number} *numbers, {more}",
    )


def _code(layout: Layout) -> str:
    assert layout.element is not None
    kind, width = layout.element.item
    return f"{'u' if kind == 'u' else ''}int{8 * width}_t"


def _counts(layout: Layout, stem: str) -> list[str]:
    """How many numbers there are before, along and behind the axis of scales."""
    names = [axis.name for axis in layout.element_axes]
    per = layout.interface.per if layout.interface else None
    extents = [
        f"shape[{k}]" if isinstance(axis.extent, Extent) else str(axis.extent.value)
        for k, axis in enumerate(layout.element_axes)
        if isinstance(axis.extent, Extent | Constant)
    ]
    axis = len(names) if per is None else names.index(per)
    return [
        f"    if ({stem}_size(shape) < 0) return 2;",
        f"    const int64_t before = {_product(extents[:axis])};",
        f"    const int64_t along = {_product(extents[axis : axis + 1])};",
        f"    const int64_t behind = {_product(extents[axis + 1 :])};",
        f"    if (!{stem}_fits(scale, zero_point, along)) return 5;",
    ]


def _product(factors: list[str]) -> str:
    return "*".join(factors) or "1"


_LOOPS = [
    "    for (int64_t b = 0, e = 0; b < before; b++)",
    "        for (int64_t k = 0; k < along; k++)",
    "            for (int64_t i = 0; i < behind; i++, e++)",
]


def _quantise(layout: Layout, stem: str, bits: int) -> list[str]:
    assert layout.element is not None
    low, high = codes_of(layout.element)
    return [
        "",
        _heads(layout, stem, bits)[0],
        "{",
        *_counts(layout, stem),
        "    for (int64_t e = 0; e < before*along*behind; e++)",
        "        if (numbers[e] != numbers[e]) return 4;",
        *_LOOPS[:-1],
        _LOOPS[-1] + " {",
        f"                const double steps = {stem}_steps((double)numbers[e], scale[k]);",
        f"                const double least = (double)({low} - zero_point[k]);",
        f"                const double most = (double)({high} - zero_point[k]);",
        "                const double held = steps < least ? least : steps > most ? most : steps;",
        f"                codes[e] = ({_code(layout)})((int64_t)held + zero_point[k]);",
        "            }",
        "    return 0;",
        "}",
    ]


def _dequantise(layout: Layout, stem: str, bits: int) -> list[str]:
    assert layout.element is not None
    low, high = codes_of(layout.element)
    number, limits = FLOATS[bits]
    narrow = not layout.element.fills_item
    tests = [
        "    for (int64_t e = 0; e < before*along*behind; e++)",
        f"        if (codes[e] < {low} || codes[e] > {high}) return 6;",
    ]
    return [
        "",
        _heads(layout, stem, bits)[1],
        "{",
        *_counts(layout, stem),
        *(tests if narrow else []),
        "    for (int64_t k = 0; k < along; k++) {",
        f"        const int64_t above = {high} - zero_point[k], below = zero_point[k] - ({low});",
        "        const double most = (double)(above > below ? above : below) * scale[k];",
        f"        if (!(most <= {limits}_MAX) || scale[k] < {limits}_MIN) return 7;",
        "    }",
        *_LOOPS,
        f"                numbers[e] = ({number})((double)(codes[e] - zero_point[k]) * scale[k]);",
        "    return 0;",
        "}",
    ]
