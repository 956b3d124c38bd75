"""OpenVINO's memory formats on GPUs: ``bfyx``, ``b_fs_yx_fsv16``, ``os_is_yx_isa8_osv8_isv4``.

Letters are axes, most major first. ``fs`` is an axis in slices, whose blocks follow: ``fsv16`` has
16 elements, ``isa8`` eight blocks of ``isv4``. Tensors have the axes b, f, w, z, y, x, weights g,
o, i, z, y, x. A name says nothing of what padding holds.

Source: OpenVINO, "GPU Memory Formats" (`gpu_memory_formats.md`), and the names in `format.cpp`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby

from layoutdsl.language.meaning.elements import FillAny
from layoutdsl.language.meaning.model import Axis, Layout
from layoutdsl.language.texts.faults import fault
from layoutdsl.language.texts.source import Span
from layoutdsl.notation.blocked import blocked
from layoutdsl.notation.blocks import (
    Piece,
    axes_called,
    coordinates,
    number,
    refuse_huge,
    refuse_many,
)
from layoutdsl.notation.notation import Notes, Reading, Unwritable
from layoutdsl.notation.places import refuse_fill

ABOUT = "OpenVINO's memory formats on GPUs"
EXAMPLE = "b_fs_yx_fsv16"

_KINDS = ("bfuvwzyx", "goiuvwzyx")
"""The axes of tensors and of weights, in their order."""

_USUAL = {1: "b", 2: "bf", 4: "bfyx", 5: "bfzyx", 6: "bfwzyx"}
"""The axes of a tensor of so many, where a layout calls them otherwise."""

_BLOCK = re.compile(r"([a-z])s[av]([0-9]+)", re.ASCII)
_SLICES = re.compile(r"([a-z])s", re.ASCII)


def read(text: Span, axes: tuple[Axis, ...] | None) -> Reading:
    """Return the layout of a name; `Notation.read` says what is raised."""
    outer: list[tuple[str, bool, Span]] = []
    blocks: list[tuple[str, int, Span]] = []
    for part in _parts(text):
        block, slices = _BLOCK.fullmatch(part.text), _SLICES.fullmatch(part.text)
        if block is not None:
            size = number(Span(part.source, part.start + block.start(2), part.end))
            blocks.append((block[1], size, part))
        elif blocks:
            hint = "blocks such as `fsv16` come last"
            raise fault("L404", f"`{part.text}` stands behind a block", part, help=hint)
        elif slices is not None:
            outer.append((slices[1], True, part))
        else:
            outer += [(each.text, False, each) for each in _letters(part)]
    refuse_many(len(outer) + len(blocks), text)
    _refuse_wrong(outer, blocks)
    order = _order([letter for letter, *_ in outer], text)
    found = axes_called(axes, order, text, f"the format `{text.text.strip()}`")
    pieces = [Piece(order.index(letter), None) for letter, *_ in outer]
    pieces += [Piece(order.index(letter), size) for letter, size, _ in blocks]
    return Reading(Layout("format", found, coordinates(found, pieces), fill=FillAny()))


def _parts(text: Span) -> Iterator[Span]:
    inside = text.text
    start = text.start + len(inside) - len(inside.lstrip())
    for part in inside.strip().split("_"):
        span = Span(text.source, start, start + len(part))
        if not re.fullmatch(r"[a-z]+|[a-z]s[av][0-9]+", part, re.ASCII):
            words = "a part is letters of axes, `fs` of slices, or a block as `fsv16`"
            raise fault("L401", words, span if part else text, help="as in `b_fs_yx_fsv16`")
        yield span
        start += len(part) + 1


def _letters(part: Span) -> Iterator[Span]:
    for place in range(part.start, part.end):
        yield Span(part.source, place, place + 1)


def _refuse_wrong(
    outer: Sequence[tuple[str, bool, Span]], blocks: Sequence[tuple[str, int, Span]]
) -> None:
    cut = {letter for letter, *_ in blocks}
    seen: set[str] = set()
    for letter, slices, span in outer:
        if letter in seen:
            raise fault("L404", f"the axis `{letter}` is there twice", span)
        seen.add(letter)
        if slices and letter not in cut:
            raise fault("L404", f"no block of `{letter}` follows", span, help=f"as `{letter}sv16`")
        if not slices and letter in cut:
            hint = f"write `{letter}s`"
            raise fault("L404", f"`{letter}` has a block, and no slices", span, help=hint)
    for letter, size, span in blocks:
        if letter not in seen:
            raise fault("L404", f"`{letter}` is no axis of the format", span)
        if size < 2:
            raise fault("L405", "a block has 2 elements or more", span)
    refuse_huge([(size, span) for _, size, span in blocks])


def _order(letters: Sequence[str], text: Span) -> str:
    """Return the axes in the order of the tensor's."""
    for kind in _KINDS:
        if {*letters} <= {*kind}:
            return "".join(letter for letter in kind if letter in letters)
    words = f"the letters of `{text.text.strip()}` are no axes together"
    raise fault("L404", words, text, help="tensors have b, f, w, z, y, x; weights g, o, i, z, y, x")


def write(layout: Layout, notes: Notes) -> str:  # noqa: ARG001  names say nothing beyond
    """Return the name of a layout; axes of other names are those of a tensor, in their order."""
    found = blocked(layout)
    sizes = [each for each in found if each.size is not None]
    cut = [each.axis for each in sizes]
    if cut:
        refuse_fill(layout, FillAny())
    if any(cut.count(axis) > 2 for axis in cut):
        raise Unwritable("an axis is cut into more than two blocks")
    letters = _called(layout)
    rests = [letters[each.axis] for each in found if each.size is None]
    words = [*_runs(rests, {letters[axis] for axis in cut})]
    for at, each in enumerate(sizes):
        kind = "a" if each.axis in cut[at + 1 :] else "v"
        words.append(f"{letters[each.axis]}s{kind}{each.size}")
    return "_".join(words)


def _runs(rests: Sequence[str], cut: Collection[str]) -> Iterator[str]:
    """Yield axes that stand together; alone is each that is in slices, and b and g beside such."""
    if not cut:
        yield "".join(rests)
        return
    for alone, run in groupby(rests, key=lambda each: each in cut or each in "bg"):
        if alone:
            yield from (f"{each}s" if each in cut else each for each in run)
        else:
            yield "".join(run)


def _called(layout: Layout) -> str:
    """Return a letter for each axis of a layout."""
    names = [axis.name for axis in layout.axes]
    for kind in _KINDS:
        if names == [letter for letter in kind if letter in names]:
            return "".join(names)
    if layout.rank not in _USUAL:
        raise Unwritable(f"a tensor of {layout.rank} axes has no letters, and these are none")
    return _USUAL[layout.rank]
