"""Compare layouts with each other, and with functions that somebody else wrote."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from layoutdsl.language.elaborate.shelf import find_layout
from layoutdsl.language.meaning.arguments import FLAG, FUNCTION, INTEGER, TEXT, TYPE, expect
from layoutdsl.language.meaning.model import Layout, Shape

if TYPE_CHECKING:
    from layoutdsl.language.offsets.axes import Axes
    from layoutdsl.view.compare.calling import ArrayKind
    from layoutdsl.view.compare.difference import Difference
    from layoutdsl.view.compare.probe import Probe


def diff(
    one: Layout | str,
    other: Layout | str,
    axes: Axes | None = None,
    progress: Callable[[str], None] | None = None,
) -> Difference:
    """Return whether two layouts are equal, for which shapes, and in what they differ.

    >>> diff("NCHW16c", from_notation("onednn", "aBcd16b")).same
    True

    Args:
        one: a layout, or its name in the library.
        other: a layout over as many axes, or its name; axes of one element may be missing.
        axes: which axes of ``other`` are which of ``one``: ``"n=b, h=y"``, or all of them in
            order, ``"b, c, y, x"``. Left out, by name where the names are the same, else by order.
        progress: told, in a few words, what is being done.

    Returns:
        `Equal`, which alone is true in an ``if``, or `EqualWhere`, `Different` or `Unknown`.

    Raises:
        ValueError: ``axes`` names what there is not.
    """
    from layoutdsl.view.compare.difference import diff as compare

    one, other = find_layout(one, "one"), find_layout(other, "other")
    expect(progress=(progress, FUNCTION.or_none()))
    return compare(one, other, axes, progress)


def probe(
    function: Callable[..., Any],
    layout: Layout | str,
    shape: Shape,
    *,
    unpack: bool = False,
    dtype: str = "u1",
    array: ArrayKind = "numpy",
    flat: bool = False,
    bits: int = 4,
    word: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> Probe:
    """Call a function that packs, or unpacks, and compare what it does with a layout.

    >>> probe(lambda x: x.transpose(0, 2, 3, 1), "NHWC", (2, 3, 4, 5)).same
    True

    Args:
        function: takes a tensor and returns a packed buffer, of any shape; with ``unpack`` takes a
            buffer and returns a tensor. One that needs two arguments is given the shape too.
        layout: what the function should do, or its name in the library.
        shape: as for `Layout.offset`.
        unpack: whether the function unpacks.
        dtype: of the elements, as numpy calls it.
        array: what the function is called with.
        flat: whether a function that unpacks is given a flat buffer.
        bits: of a digit; the elements have to hold every number below ``2**bits``.
        word: the buffer has words of this type, such as ``"u32"``, and the elements lie in them
            without room between them, the first in the lowest bits. The layout says how many bits
            an element has.
        progress: told which call is under way.

    Raises:
        ValueError: the shape does not fit, the buffer is too large, or the type holds too little.
    """
    from layoutdsl.view.compare.probe import probe as call

    expect(function=(function, FUNCTION))
    layout = find_layout(layout)
    expect(unpack=(unpack, FLAG), flat=(flat, FLAG), bits=(bits, INTEGER))
    expect(progress=(progress, FUNCTION.or_none()), dtype=(dtype, TYPE), array=(array, TEXT))
    expect(word=(word, TEXT.or_none()))
    return call(
        function,
        layout,
        shape,
        unpack=unpack,
        dtype=dtype,
        array=array,
        flat=flat,
        bits=bits,
        word=word,
        progress=progress,
    )
