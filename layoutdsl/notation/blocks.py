"""What most notations have in common: axes cut into blocks, the pieces in an order of their own."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import prod

from layoutdsl.language.integers.bounds import reach, simplify
from layoutdsl.language.integers.digit import Digit
from layoutdsl.language.integers.expr import Constant, Coordinate, Expr, Extent, Index
from layoutdsl.language.meaning.matching import Crossed, matched
from layoutdsl.language.meaning.model import Axis
from layoutdsl.language.texts.faults import Fault, fault
from layoutdsl.language.texts.source import Span
from layoutdsl.notation.notation import MOST_LETTERS

MOST_PIECES = 64
MOST_DIGITS = 18
MOST_ELEMENTS = 2**62
"""Bounds of a text: its axes and blocks, digits of a number, and elements of all blocks."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of an axis: a block of ``size`` elements, or with ``None`` all the rest."""

    axis: int
    size: int | None


def coordinates(axes: Sequence[Axis], pieces: Sequence[Piece]) -> tuple[Coordinate, ...]:
    """Return the coordinates of pieces, most major first.

    Of the blocks of one axis, the last holds the lowest digit of its index, as in ``16c`` of
    ``nChw16c``; all the rest is what they leave of it, wherever it stands.
    """
    sizes = [(each.axis, each.size) for each in pieces if each.size is not None]
    blocks = [prod(size for axis, size in sizes if axis == number) for number in range(len(axes))]
    below = [1] * len(axes)
    found: list[Coordinate] = []
    for piece in reversed(pieces):
        whole = Index(axes[piece.axis].name)
        if piece.size is None:
            digit = Digit(whole, Constant(blocks[piece.axis]), None)
        else:
            digit = Digit(whole, Constant(below[piece.axis]), Constant(piece.size))
            below[piece.axis] *= piece.size
        found.append(coordinate(axes, digit.value))
    return tuple(reversed(found))


def refuse_many(count: int, text: Span) -> None:
    """Raise a fault where a text has more pieces than a list may have coordinates."""
    if count > MOST_PIECES:
        raise fault("L103", f"this text has {count} axes and blocks, at most {MOST_PIECES}", text)


def refuse_long_name(name: Span) -> None:
    """Raise a fault where a name has more letters than one of the language may have."""
    if len(name.text) > MOST_LETTERS:
        raise fault("L103", f"this name has more than {MOST_LETTERS} letters", name)


def number(written: Span) -> int:
    """Return the number that the digits stand for; a fault where there are too many of them."""
    if len(written.text) > MOST_DIGITS:
        raise fault("L103", f"this number has more than {MOST_DIGITS} digits", written)
    return int(written.text)


def refuse_huge(sizes: Sequence[tuple[int, Span]]) -> None:
    """Raise a fault at the block with which all blocks together hold too many elements."""
    elements = 1
    for size, at in sizes:
        elements *= size
        if elements > MOST_ELEMENTS:
            raise fault("L405", "the blocks hold more than 2**62 elements together", at)


def coordinate(axes: Sequence[Axis], value: Expr, extent: Expr | None = None) -> Coordinate:
    """Return a coordinate with its natural extent, or with a declared one.

    Raises:
        ValueError: no extent follows from the value.
    """
    bound = reach(value, {axis.name: axis.extent for axis in axes})
    if bound is None:
        raise ValueError("no extent follows from the value")
    natural = simplify(bound.high)
    if extent is None or simplify(extent) == natural:
        return Coordinate(value, natural)
    return Coordinate(value, simplify(extent), declared=True)


def axes_or(
    given: tuple[Axis, ...] | None, names: Sequence[str], text: Span, what: str
) -> tuple[Axis, ...]:
    """Return the axes as declared, or with the names that the notation gives them.

    They go by their places: this is for texts that say which axis is meant by nothing else.

    Args:
        given: what the declaration says, or ``None``.
        names: of the notation's own axes.
        text: where the axes are spoken of.
        what: the text, for the message: "the tag".

    Raises:
        Fault: there are more or fewer axes than the text speaks of.
    """
    if given is None:
        return tuple(Axis(name, Extent(name.upper())) for name in names)
    if len(given) != len(names):
        message = f"{what} has {_axes(len(names))}, the layout {len(given)}"
        raise fault("L403", message, text)
    return given


def axes_called(
    given: tuple[Axis, ...] | None,
    names: Sequence[str],
    text: Span,
    what: str,
    unnamed: Collection[int] = (),
) -> tuple[Axis, ...]:
    """Return the axes in the order of a text that names them, for a reader of which names count.

    Args:
        given: what the declaration says, or ``None``.
        names: of the axes of the text, in its order.
        text: where the axes are spoken of.
        what: the text, for the message: "the tag".
        unnamed: places whose name is of our making; it counts only where the layout has it too.

    Raises:
        Fault: there are more or fewer axes than the text speaks of, or a name of the text is
            that of another axis.
    """
    if given is None or len(given) != len(names):
        return axes_or(given, names, text, what)
    known = [axis.name for axis in given]
    folded = [name.lower() for name in names]
    spoken = folded if len(set(folded)) == len(folded) else names
    found = matched(
        [
            None if place in unnamed and name not in known else name
            for place, name in enumerate(spoken)
        ],
        known,
    )
    if isinstance(found, Crossed):
        raise _crossed(found, spoken, text, what)
    return tuple(given[place] for place in found)


def _crossed(found: Crossed, names: Sequence[str], text: Span, what: str) -> Fault:
    theirs, ours = (f"axis {place + 1}" for place in found.places)
    message = f"`{found.name}` is {theirs} of {what}, and {ours} of the layout"
    renamed, ordered = ("(" + ", ".join(each) + ")" for each in (found.renamed, found.ordered))
    in_order = f"`{ordered}`, in the order of the text"
    by_name = f"`{renamed}`, to go by names, or " if all(map(_is_name, found.renamed)) else ""
    words = f"its axes are ({', '.join(names)})"
    return fault("L408", message, text, words=words, help=f"declare the axes {by_name}{in_order}")


def _is_name(word: str) -> bool:
    """Whether an axis may be called so."""
    return word.isascii() and word.isidentifier() and word.islower() and word[0] != "_"


def _axes(count: int) -> str:
    return f"{count} axis" if count == 1 else f"{count} axes"


def with_extents(axes: tuple[Axis, ...], extents: Sequence[Expr], text: Span) -> tuple[Axis, ...]:
    """Return the axes with the extents that the text fixes; axes of one extent stay of one.

    Raises:
        Fault: a declared extent is another number.
    """
    found: list[Axis] = []
    fixed: dict[str, Constant] = {}
    for axis, extent in zip(axes, extents, strict=True):
        match axis.extent, extent:
            case Constant(declared), Constant(said) if declared != said:
                message = f"axis `{axis.name}` has {declared} elements, the text says {said}"
                raise fault("L403", message, text)
            case Constant(), Extent():
                found.append(axis)
            case Extent(name), Constant(said) if fixed.setdefault(name, extent) != extent:
                message = f"`{name}` is {fixed[name].value} and {said} at once"
                raise fault("L403", message, text)
            case _, Constant() | Extent():
                found.append(Axis(axis.name, extent))
            case _:
                raise ValueError("an extent is a number or a name")
    return tuple(
        Axis(axis.name, fixed[axis.extent.name])
        if isinstance(axis.extent, Extent) and axis.extent.name in fixed
        else axis
        for axis in found
    )
