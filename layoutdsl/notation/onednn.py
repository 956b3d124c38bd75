"""oneDNN's format tags: ``aBcd16b``, ``nChw16c``, ``OIhw4i16o4i``.

One letter for each axis from the most major, capital where blocks of the axis follow; then blocks,
the last moving fastest. ``a`` to ``l`` name the axes in their order. The other names stand for axes
by a rule of their own, told apart by the letters of the tag (`_FAMILIES`).

Source: oneDNN Developer Guide, "Understanding Memory Formats" and "dnnl_format_tag_t".
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import cast

from lark import Token, Tree

from layoutdsl.bounds import ONE
from layoutdsl.expr import Constant
from layoutdsl.model import Axis, FillValue, Layout
from layoutdsl.notation.blocks import Piece, axes_or, coordinates
from layoutdsl.notation.notation import Notes, Reading, Unwritable
from layoutdsl.notation.places import (
    Place,
    block,
    places,
    refuse_fill,
    refuse_padded,
    refuse_range,
    refuse_start,
)
from layoutdsl.scope import fault
from layoutdsl.source import Span
from layoutdsl.syntax.reading import tree

ABOUT = "oneDNN format tags"
EXAMPLE = "nChw16c"

LETTERS = "abcdefghijkl"
"""The axes in their order, where a tag does not say what they mean."""

_FAMILIES = ("ncdhw", "goidhw", "tnc", "ldigo", "ldio", "ldgoi", "ldgo", "ldgi", "ldoi", "x", "nc")
"""Letters of tags that say what the axes mean, in the order of the tensor's axes."""

_SPELLING = {"LETTER": "a letter", "INT": "a block size"}


@dataclass(frozen=True, slots=True)
class _Letter:
    """A letter of the tag with its place; ``size`` where it is a block."""

    name: str
    size: int | None
    span: Span


def read(text: Span, axes: tuple[Axis, ...] | None) -> Reading:
    """Return the layout of a tag; `Notation.read` says what is raised."""
    if text.text.strip() in ("any", "undef"):
        message = f"`{text.text.strip()}` leaves the layout open"
        raise fault("L407", message, text, help="name the tag that the primitive chose")
    letters = _letters(text)
    outer = [each for each in letters if each.size is None]
    _refuse_wrong_letters(letters, outer)
    order = _axis_order(outer, text)
    found = axes_or(axes, order, text, f"the tag `{text.text}`")
    pieces = [
        Piece(order.index(each.name.lower()), None if each.size is None else Constant(each.size))
        for each in letters
    ]
    return Reading(Layout("tag", found, coordinates(found, pieces), fill=FillValue(0)))


def _letters(text: Span) -> list[_Letter]:
    found: list[_Letter] = []
    for each in tree("onednn", text, "L401", _SPELLING).children:
        if isinstance(each, Tree):
            size, letter = cast("list[Token]", each.children)
            found.append(_Letter(str(letter), int(size), _span(text, size, letter)))
        else:
            found.append(_Letter(str(each), None, _span(text, each, each)))
    return found


def _span(text: Span, first: Token, last: Token) -> Span:
    return Span(text.source, text.start + (first.start_pos or 0), text.start + (last.end_pos or 0))


def _axis_order(outer: list[_Letter], text: Span) -> list[str]:
    """Return the letters of the tag in the order of the tensor's axes."""
    used = [each.name.lower() for each in outer]
    if set(used) == set(LETTERS[: len(set(used))]):
        return sorted(set(used))
    for family in _FAMILIES:
        if set(used) <= set(family):
            return [letter for letter in family if letter in used]
    strange = next((e for e in outer if e.name.lower() not in "abcdefghijklmnotwx"), outer[0])
    hint = f"the axes are {LETTERS[0]} to {LETTERS[len(outer) - 1]}, or {', '.join(_FAMILIES[:3])}"
    raise fault(
        "L404", f"the letters of `{text.text}` name no axes together", strange.span, help=hint
    )


def _refuse_wrong_letters(letters: list[_Letter], outer: list[_Letter]) -> None:
    seen = Counter[str]()
    blocked = {each.name.lower() for each in letters if each.size is not None}
    for each in outer:
        name = each.name.lower()
        seen[name] += 1
        if seen[name] > 1:
            raise fault("L404", f"the letter `{each.name}` is there twice", each.span)
        if each.name.isupper() != (name in blocked):
            other = name if each.name.isupper() else name.upper()
            why = "no block of it follows" if each.name.isupper() else "a block of it follows"
            raise fault("L404", f"`{each.name}` should be `{other}`: {why}", each.span)
    for each in letters:
        if each.size is not None and each.name not in seen:
            message = f"`{each.name}` is not an axis of the tag"
            hint = f"write `{each.size}{each.name.lower()}`" if each.name.isupper() else None
            raise fault("L404", message, each.span, help=hint)
        if each.size is not None and each.size < 2:
            raise fault("L405", "a block has 2 elements or more", each.span)


def write(layout: Layout, notes: Notes) -> str:  # noqa: ARG001  tags say nothing beyond
    """Return the tag of a layout, its axes called ``a``, ``b`` and on."""
    refuse_start(layout)
    refuse_range(layout)
    if layout.rank > len(LETTERS):
        raise Unwritable(f"a tag has {len(LETTERS)} axes at most, the layout has {layout.rank}")
    found = places(layout)
    refuse_padded(found, layout)
    outer, inner = _outer(layout, found), _inner(found)
    if inner:
        refuse_fill(layout, FillValue(0))
    blocked = {LETTERS[each.axis] for each in inner}
    names = [LETTERS[each.axis] for each in outer]
    head = "".join(name.upper() if name in blocked else name for name in names)
    return head + "".join(f"{block(each)}{LETTERS[each.axis]}" for each in inner)


def _outer(layout: Layout, found: tuple[Place, ...]) -> list[Place]:
    outer = [each for each in found if each.radix is None]
    lost = set(range(layout.rank)) - {each.axis for each in outer}
    if lost:
        name = layout.axes[min(lost)].name
        raise Unwritable(f"the digits of `{name}` end at a block, and tags have no such axis")
    if any(each.radix is not None for each in found[: len(outer)]):
        raise Unwritable("a block stands before the most major digit of an axis")
    return outer


def _inner(found: tuple[Place, ...]) -> list[Place]:
    """The blocks; those of one axis have to come from the most major down."""
    inner = [each for each in found if each.radix is not None]
    below: dict[int, int] = {}
    for each in reversed(inner):
        reached = Constant(below.get(each.axis, ONE.value))
        if each.divisor != reached:
            raise Unwritable("the blocks of an axis do not stand in their order")
        below[each.axis] = reached.value * block(each)
    return inner
