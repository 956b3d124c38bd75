"""The layout of somebody's function, found by calling it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from layoutdsl.language.elaborate.shelf import parse
from layoutdsl.language.meaning.arguments import FUNCTION, INTEGER, TEXT, TYPE, expect, integers
from layoutdsl.language.meaning.model import Layout

if TYPE_CHECKING:
    from layoutdsl.view.compare.calling import ArrayKind
    from layoutdsl.view.compare.infer import Inferred

MOST_AXES = 8
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def infer(
    function: Callable[..., Any],
    shape: Sequence[int] | Mapping[str, int],
    *,
    dtype: str = "u1",
    array: ArrayKind = "numpy",
    bits: int = 4,
    progress: Callable[[str], None] | None = None,
) -> Inferred:
    """Call a function that packs, and return the layout that it packs by, or why none was found.

    >>> print(infer(lambda x: x.transpose(0, 2, 3, 1), {"N": 2, "C": 3, "H": 4, "W": 5}).text)
    layout packed(n, c, h, w) = [n, h, w, c]

    Args:
        function: takes a tensor and returns a packed buffer, of any shape. One that needs two
            arguments is given the shape too. It is called some hundred times.
        shape: one that the function takes; extents with or without names for the axes.
        dtype: of the elements, as numpy calls it; it has to hold the numbers below ``2**bits``.
        array: what the function is called with.
        bits: of the numbers that elements are; fewer where the function refuses larger ones.
        progress: told what is under way.

    Raises:
        ValueError: the shape or the type is none.
    """
    from layoutdsl.view.compare.calling import package, refuse_narrow
    from layoutdsl.view.compare.infer import infer as search
    from layoutdsl.view.compare.watching import Watch

    expect(function=(function, FUNCTION), progress=(progress, FUNCTION.or_none()))
    expect(dtype=(dtype, TYPE), array=(array, TEXT), bits=(bits, INTEGER))
    names, extents = axes_of(shape)
    refuse_narrow(dtype, bits)
    package(array)
    watch = Watch(function, names, dtype, array, progress or (lambda _: None), bits)
    return search(watch, _called(function, names), extents, _read)


def axes_of(shape: Sequence[int] | Mapping[str, int]) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return names for the axes of a shape, `a, b, ...` where it has none, and its extents.

    Raises:
        ValueError: there are too many axes, or an extent or a name is none.
    """
    named = list(shape) if isinstance(shape, Mapping) else None
    given = shape.values() if isinstance(shape, Mapping) else shape
    extents = tuple(integers(given, "shape", "an extent for each axis"))
    if not 1 <= len(extents) <= MOST_AXES:
        raise ValueError(f"a shape of 1 to {MOST_AXES} axes is needed, not of {len(extents)}")
    names = tuple(str(each).lower() for each in named or "abcdefgh"[: len(extents)])
    for name, extent in zip(names, extents, strict=True):
        if not _NAME.fullmatch(name) or name == "bit" or names.count(name) > 1:
            raise ValueError(f"`{name}` cannot be the name of one axis")
        if extent < 1:
            raise ValueError(f"extent `{name.upper()}` is {extent}, and has to be at least 1")
    return names, extents


def _called(function: Callable[..., Any], axes: Sequence[str]) -> str:
    """Return a name for the layout: that of the function where it is one in the language."""
    name = getattr(function, "__name__", "packed")
    return name if _NAME.fullmatch(name) and name not in axes else "packed"


def _read(text: str) -> Layout:
    (layout,) = parse(text).layouts.values()
    return layout
