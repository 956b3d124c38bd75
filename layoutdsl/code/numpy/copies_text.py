"""A layout that holds copies of its elements, as two modules in one.

The functions of the layout with all of its copies are called `all_pack`, `_all_extents` and so on:
to them the copies are elements. Those of the tensor in its first copies have the usual names. Each
half is what it would be as a module of its own; `pack` alone is over both.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from layoutdsl.code.numpy.arguments_text import extents_text
from layoutdsl.code.numpy.fill_text import fill_argument, fill_words
from layoutdsl.code.numpy.options_text import COPY, MOVED, SHARED, THREADS
from layoutdsl.code.numpy.words import indented, tuple_text
from layoutdsl.language.integers.expr import Constant, text
from layoutdsl.language.meaning.model import Layout

_DEFINED = re.compile(r"^def (\w+)\(", re.MULTILINE)


def of_all(lines: Sequence[str]) -> list[str]:
    """Return the functions of a module under names that say they are of all copies."""
    written = "\n".join(lines)
    names = "|".join(_DEFINED.findall(written))
    return re.sub(rf"\b({names})(?=\()", lambda found: all_name(found[0]), written).split("\n")


def all_name(name: str) -> str:
    """Return what a function is called among those of all copies."""
    return f"_all{name}" if name.startswith("_") else f"all_{name}"


def copies_functions(layout: Layout) -> list[str]:
    """Return what puts both halves together: `_whole` and `pack`."""
    return [*_whole_function(layout), *_pack_function(layout)]


def copied_axes(layout: Layout) -> str:
    """Return which axes are those of copies, as a tuple."""
    names = [axis.name for axis in layout.axes]
    return tuple_text([str(names.index(name)) for name in layout.copies])


def _whole_function(layout: Layout) -> list[str]:
    own = layout.element_axes
    places = {axis.name: f"extents[{number}]" for number, axis in enumerate(own)}
    by_extent = {axis.extent: places[axis.name] for axis in reversed(own)}
    found = [
        places.get(axis.name)
        or (str(axis.extent.value) if isinstance(axis.extent, Constant) else by_extent[axis.extent])
        for axis in layout.axes
    ]
    said = tuple_text([text(axis.extent) for axis in layout.axes])
    return [
        "",
        "",
        "def _whole(shape: object) -> tuple[int, ...]:",
        *indented(
            [
                f'"""Return {said}, the extents of a tensor with its copies."""',
                f'extents = _integers(shape, {len(own)}, "shape")',
                f"return {tuple_text(found)}",
            ]
        ),
    ]


def _pack_function(layout: Layout) -> list[str]:
    held, extents = ", ".join(layout.copies), extents_text(layout.first_copy)
    return [
        "",
        "",
        "def pack(",
        "    src: _Array,",
        "    out: _Array | None = None,",
        f"    {fill_argument(layout.fill)},",
        f"    {THREADS},",
        f"    {COPY},",
        ") -> _Array:",
        *indented(
            [
                '"""Return the tensor as the layout stores it, each element in all of its slots.',
                "",
                "Args:",
                f"    src: a tensor with extents {extents}; it has no {held}.",
                "    out: the buffer to write, which does not overlap `src`; a new one is made "
                "without it.",
                f"    fill: {fill_words(layout.fill)}",
                f"    {SHARED}",
                f"    {MOVED}",
                "",
                "Raises:",
                "    ValueError, TypeError: the arguments do not fit; nothing was written.",
                '"""',
                'tensor = _array(src, "src")',
                f"tensor = _spread(tensor, _whole(tensor.shape), {copied_axes(layout)})",
                "return all_pack(tensor, out, fill, threads, copy)",
            ]
        ),
    ]
