"""oneDNN's format tags: ``aBcd16b``, ``nChw16c``, ``OIhw4i16o4i``.

One letter for each axis from the most major, capital where blocks of the axis follow; then blocks,
the last moving fastest. Padding is zero. ``a`` to ``l`` are the axes in their order, whatever they
are called; other letters say what the axes mean, and go by name. Where the layout calls its axes
otherwise, their order is the library's (`_MEANINGS`).

Source: oneDNN Developer Guide, "Understanding Memory Formats" and "dnnl_format_tag_t".
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import cast

from lark import Token, Tree

from layoutdsl.language.meaning.elements import FillValue
from layoutdsl.language.meaning.model import Axis, Layout
from layoutdsl.language.syntax.reading import tree
from layoutdsl.language.texts.faults import fault
from layoutdsl.language.texts.source import Source, Span
from layoutdsl.notation.blocked import blocked
from layoutdsl.notation.blocks import (
    Piece,
    axes_called,
    axes_or,
    coordinates,
    number,
    refuse_huge,
    refuse_many,
)
from layoutdsl.notation.notation import Notes, Reading, Unwritable
from layoutdsl.notation.places import refuse_fill

_TABLE = """
| chwn cn dhwigo dhwio dhwoi gdhwio ghwio giodhw giohw godhwi gohwi goidhw goihw goiw gowi gwio
    hwigo hwio hwoi idhwo ihwo io iodhw iohw iwo ldgo ldgoi ldigo ldio ldnc ldoi nc ncdhw nchw
    ncw ndhwc nhwc nt ntc nwc odhwi ohwi oi oidhw oihw oiw owi tn tnc wigo wio woi x
32g | Goidhw Goihw Goiw
16g | Goidhw Goihw Goiw hwioG
4g | Goihw Goiw
8g | Goihw Goiw hwioG
16i16o | IOdhw IOhw IOw OI OIdhw OIhw OIw gIOdhw gIOhw gIOw gOIdhw gOIhw gOIw
2i8o16i4o | IOdhw IOhw IOw OIdhw OIhw OIw
16o16i 8o16i2o | IOdhw IOhw IOw OIdhw OIhw OIw gIOdhw gIOhw gIOw gOIdhw gOIhw gOIw
4i8o8i2o 4i8o8i4o | IOdhw IOhw IOw gIOdhw gIOhw gIOw
2i8o16i2o | IOdhw IOhw IOw gIOw
16o16i2o | IdhwO IhwO IwO OIdhw OIhw OIw gIdhwO gIhwO gIwO gOIdhw gOIhw gOIw
16i2o 16i4o 16o16i4o 16o32i2o 16o32i4o 16o48i2o 16o48i4o 16o64i2o 16o64i4o 24i2o 24i4o 32i4o
    48i2o 48i4o 64i2o 64i4o 8i2o 8i4o | IdhwO IhwO IwO gIdhwO gIhwO gIwO
32i2o | IdhwO IhwO IwO gIdhwO gIhwO gIwO ldgIO
24i 48i 64i 8i | Idhwo Ihwo Iwo gIdhwo gIhwo gIwo
32i | Idhwo Ihwo Iwo gIdhwo gIhwo gIwo goIdhw goIhw goIw ldIo ldgIo
16i | Idhwo Ihwo Iwo gIdhwo gIhwo gIwo ldgIo
16n16c 2c32n8c 32n16c 32n32c 40n16c 40n32c | NCdhw NChw NCw
16n32c | NChw
16i32o 16i48o 16i64o 4i24o4i 4i32o4i 4i64o4i 4i8o4i 8i16o 8i24o 8i24o2i 8i32o 8i32o2i 8i64o2i
    8i8o2i | OI OIdhw OIhw OIw
16i16o2i 16i16o4i | OI OIdhw OIhw OIw OdhwI OhwI OwI gOIdhw gOIhw gOIw gOdhwI gOhwI gOwI
16i32o2i 16i32o4i 16i48o2i 16i48o4i 16i64o2i 16i64o4i | OI OIdhw OIhw OIw OdhwI OhwI OwI gOdhwI
    gOhwI gOwI
4i16o4i 8i16o2i 8i8o | OI OIdhw OIhw OIw gOIdhw gOIhw gOIw
8o4i | OIdhw OIhw OIw OdhwI OhwI OwI gOIdhw gOIhw gOIw gOdhwI gOhwI gOwI
2i8o4i 2o8i16o2i 4i4o 4o4i 4o8i8o2i 4o8i8o4i 8o8i | OIdhw OIhw OIw gOIdhw gOIhw gOIw
2o8i16o4i | OIdhw OIhw OIw gOIhw gOIw
2o8i8o2i | OIhw gOIhw
16o2i 16o4i 24o2i 24o4i 48o2i 48o4i 8o2i | OdhwI OhwI OwI gOdhwI gOhwI gOwI
32o4i | OdhwI OhwI OwI gOdhwI gOhwI gOwI ldOI ldgOI
32o2i 64o2i 64o4i | OdhwI OhwI OwI gOdhwI gOhwI gOwI ldgOI
16o | Odhwi Odwhi Ohwi Oidhw Oihw Oiw Owhi Owi gOdhwi gOdwhi gOhwi gOidhw gOihw gOiw gOwhi gOwi
    ldOi ldgOi
4o | Odhwi Ohwi Oidhw Oihw Oiw Owi gOdhwi gOhwi gOidhw gOihw gOiw gOwi
24o 48o 64o 8o | Odhwi Ohwi Owi gOdhwi gOhwi gOwi
32o | Odhwi Ohwi Owi gOdhwi gOhwi gOwi ldOi ldgOi
4i | dhwIo gdhwIo ghwIo goIdhw goIhw goIw gwIo hwIo wIo
2i | dhwIo gdhwIo ghwIo gwIo hwIo wIo
2i4o2i 2o4i2o 4i8o2i 4o8i2o | gOIdhw gOIhw gOIw
16c 32c 4c 8c | nCdhw nChw nCw
"""


@cache
def names() -> frozenset[str]:
    """Return every name: ``nchw``, ``nChw16c``, ``OIhw4i16o4i`` and on."""
    found: set[str] = set()
    for row in _TABLE.replace("\n    ", " ").strip().splitlines():
        blocks, _, heads = row.partition("|")
        found.update(f"{head}{tail}" for head in heads.split() for tail in blocks.split() or [""])
    return frozenset(found)


ABOUT = "oneDNN format tags"
EXAMPLE = "nChw16c"

LETTERS = "abcdefghijkl"
"""The axes in their order, where a tag does not say what they mean; there are no more of them."""

_ACTIVATIONS = ("x", "nc", "ncw", "nchw", "ncdhw", "tn", "tnc", "ldnc")
_WEIGHTS = ("oi", "oiw", "oihw", "oidhw", "goiw", "goihw", "goidhw", "ldio", "ldigo", "ldgo")
_MEANINGS = {frozenset(letters): letters for letters in (*_ACTIVATIONS, *_WEIGHTS)}
"""The axes in their order, by the letters that a tag has."""

_MISPRINTS = {
    "gIOhw2i8o16i2o": "gOIhw2i8o16i2o",
    "gIOdhw2i8o16i2o": "gOIdhw2i8o16i2o",
    "OhwI24o": "Ohwi24o",
    "OhwI32o": "Ohwi32o",
    "gOhwI24o": "gOhwi24o",
    "gOhwI32o": "gOhwi32o",
}
"""Names of the library that do not say what it lets them stand for, and names that do."""

_SPELLING = {"LETTER": "a letter", "INT": "a block size"}


@dataclass(frozen=True, slots=True)
class _Letter:
    """A letter of the tag with its place; ``size`` where it is a block."""

    name: str
    size: int | None
    span: Span


def read(text: Span, axes: tuple[Axis, ...] | None) -> Reading:
    """Return the layout of a tag; `Notation.read` says what is raised."""
    tag = text.text.strip()
    if tag in ("any", "undef"):
        message = f"`{tag}` leaves the layout open"
        raise fault("L407", message, text, help="name the tag that the primitive chose")
    mended = _MISPRINTS.get(tag)
    letters = _letters(text if mended is None else Span(Source("tag", mended), 0, len(mended)))
    outer = [each for each in letters if each.size is None]
    _refuse_wrong_letters(letters, outer)
    order = _axis_order(outer, text)
    found = _axes(axes, order, text, f"the tag `{tag}`")
    pieces = [Piece(order.index(each.name.lower()), each.size) for each in letters]
    return Reading(Layout("tag", found, coordinates(found, pieces), fill=FillValue(0)))


def _letters(text: Span) -> list[_Letter]:
    found: list[_Letter] = []
    for each in tree("onednn", text, "L401", _SPELLING).children:
        if isinstance(each, Tree):
            size, letter = cast("list[Token]", each.children)
            found.append(_Letter(str(letter), number(_at(text, size)), _at(text, size, letter)))
        else:
            found.append(_Letter(str(each), None, _at(text, each)))
    refuse_many(len(found), text)
    return found


def _at(text: Span, first: Token, last: Token | None = None) -> Span:
    end = (last or first).end_pos or 0
    return Span(text.source, text.start + (first.start_pos or 0), text.start + end)


def _axis_order(outer: list[_Letter], text: Span) -> str:
    """Return the letters of the tag in the order of the tensor's axes."""
    used = frozenset(each.name.lower() for each in outer)
    if used == frozenset(LETTERS[: len(used)]):
        return LETTERS[: len(used)]
    if used in _MEANINGS:
        return _MEANINGS[used]
    known = frozenset(LETTERS).union(*_MEANINGS)
    strange = next((each for each in outer if each.name.lower() not in known), None)
    count = f"a to {LETTERS[len(used) - 1]}" if 1 < len(used) <= len(LETTERS) else LETTERS[0]
    near = [letters for letters in _MEANINGS.values() if len(letters) == len(used)]
    raise fault(
        "L404",
        f"the letters of `{text.text.strip()}` name no axes together",
        strange.span if strange is not None else text,
        help=f"{len(used)} axes are {', '.join([count, *near])}" if len(used) <= 12 else None,
    )


def _axes(given: tuple[Axis, ...] | None, order: str, text: Span, what: str) -> tuple[Axis, ...]:
    """Return the axes in the order of the letters; a to l are places, so none of another axis."""
    if not LETTERS.startswith(order):
        return axes_called(given, order, text, what)
    found = axes_or(given, order, text, what)
    names = "".join(axis.name for axis in found)
    if names != order and sorted(names) == sorted(order):
        letter, place = next(
            (a, names.index(a)) for a, b in zip(order, names, strict=True) if a != b
        )
        message = (
            f"`{letter}` is axis {order.index(letter) + 1} of {what}, and axis {place + 1} here"
        )
        hint = "a to l are the axes in their order: call those of the layout otherwise"
        raise fault("L408", message, text, help=hint)
    return found


def _refuse_wrong_letters(letters: list[_Letter], outer: list[_Letter]) -> None:
    seen = Counter[str]()
    blocks = [each for each in letters if each.size is not None]
    cut = {each.name.lower() for each in blocks}
    for each in outer:
        name = each.name.lower()
        seen[name] += 1
        if seen[name] > 1:
            raise fault("L404", f"the letter `{each.name}` is there twice", each.span)
        if each.name.isupper() != (name in cut):
            other = name if each.name.isupper() else name.upper()
            why = "no block of it follows" if each.name.isupper() else "a block of it follows"
            raise fault("L404", f"`{each.name}` should be `{other}`: {why}", each.span)
    for each in blocks:
        if each.name not in seen:
            message = f"`{each.name}` is not an axis of the tag"
            hint = f"write `{each.size}{each.name.lower()}`" if each.name.isupper() else None
            raise fault("L404", message, each.span, help=hint)
        if each.size is not None and each.size < 2:
            raise fault("L405", "a block has 2 elements or more", each.span)
    refuse_huge([(each.size or 1, each.span) for each in blocks])


def write(layout: Layout, notes: Notes) -> str:  # noqa: ARG001  tags say nothing beyond
    """Return the tag of a layout.

    Axes whose names are those of the library, such as n, c, h, w, keep them where it has a name for
    the tag; all others are called ``a``, ``b`` and on.
    """
    if layout.rank > len(LETTERS):
        raise Unwritable(f"a tag has {len(LETTERS)} axes at most, the layout has {layout.rank}")
    found = blocked(layout)
    cut = {each.axis for each in found if each.size is not None}
    if cut:
        refuse_fill(layout, FillValue(0))

    def spelled(letters: str) -> str:
        names = [letter.upper() if k in cut else letter for k, letter in enumerate(letters)]
        return "".join(
            names[each.axis] if each.size is None else f"{each.size}{letters[each.axis]}"
            for each in found
        )

    called = "".join(axis.name for axis in layout.axes)
    meant = len(called) == layout.rank and _MEANINGS.get(frozenset(called)) == called
    known = meant and spelled(called) in {*names(), *_MISPRINTS.values()}
    return spelled(called if known else LETTERS)
