"""Layouts from other notations, in other notations, and by their names in the library."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from layoutdsl.model import Condition, Layout
from layoutdsl.shelf import library_families, parse
from layoutdsl.show.declaration import declaration

if TYPE_CHECKING:
    from layoutdsl.compare.identify import Match
    from layoutdsl.notation.notation import Reading


def notations() -> tuple[str, ...]:
    """Return the names of the notations that layouts are read from and written in."""
    from layoutdsl.notation.notation import NAMES

    return NAMES


def from_notation(notation: str, text: str) -> Layout:
    """Return the layout that a text in another notation stands for.

    >>> from_notation("onednn", "aBcd16b").offset((1, 17, 2, 3), (2, 20, 3, 4))
    753

    Raises:
        LayoutError: there is no such notation, or the text is not in it.
    """
    return reading_of(notation, text).layout


def reading_of(notation: str, text: str) -> Reading:
    """Return what a text in another notation says, with what it says beyond its layout.

    Raises:
        LayoutError: there is no such notation, or the text is not in it.
    """
    from layoutdsl.notation.notation import read_text

    return read_text(notation, text)


def to_notation(layout: Layout, notation: str) -> str:
    """Return the text of a layout in another notation.

    >>> to_notation(library("NCHW16c"), "onednn")
    'nChw16c'

    Raises:
        ValueError: there is no such notation, or the layout cannot be written in it; says why.
    """
    from layoutdsl.notation.notation import write

    if notation not in notations():
        raise ValueError(f"there is no notation `{notation}`; known are {', '.join(notations())}")
    return write(notation, layout)


LANGUAGE = "layout"
"""How `translate` calls our own language."""


@dataclass(frozen=True, slots=True)
class Translation:
    """A layout in a notation, or why it has no text there.

    ``proved`` says that the text, read again, was proved to be the layout wherever both are
    defined; ``where`` is where the text is defined, if the layout is for more shapes.
    """

    notation: str
    text: str | None
    reason: str | None = None
    proved: bool = False
    where: tuple[Condition, ...] = ()


def translate(layout: Layout, notation: str, notes: Mapping[str, str] | None = None) -> Translation:
    """Return the text of a layout in a notation, or in our language, and whether it was proved.

    >>> translate(library("NCHW16c"), "onednn").text
    'nChw16c'

    Args:
        layout: any.
        notation: one of `notations`, or ``layout`` for our own language.
        notes: what a text in that notation said beyond the layout, to be said again.

    Raises:
        ValueError: there is no such notation.
    """
    if notation != LANGUAGE and notation not in notations():
        known = ", ".join((*notations(), LANGUAGE))
        raise ValueError(f"there is no notation `{notation}`; known are {known}")
    if notation == LANGUAGE:
        text = declaration(layout)
        return _read_back(layout, LANGUAGE, text, parse(text)[layout.name])
    from layoutdsl.notation.notation import Unwritable, read_text, write

    try:
        text = write(notation, layout, notes)
    except Unwritable as reason:
        return Translation(notation, None, str(reason))
    return _read_back(layout, notation, text, read_text(notation, text).layout)


def _read_back(layout: Layout, notation: str, text: str, again: Layout) -> Translation:
    from layoutdsl.compare.difference import Different, Equal, EqualWhere, Unknown, diff

    found = diff(layout, again)
    match found:
        case Equal():
            return Translation(notation, text, proved=True)
        case EqualWhere(agreements=agreements) if found.same:
            where = tuple(each for each in agreements[0].conditions if each not in layout.where)
            return Translation(notation, text, proved=True, where=where)
        case Unknown():
            return Translation(notation, text)
        case EqualWhere() | Different():
            reason = f"`{text}`, read again, is another layout"
            return Translation(notation, None, reason)


def identify(layout: Layout, progress: Callable[[str], None] | None = None) -> Iterator[Match]:
    """Yield each layout of the library that is equal to a layout, or is in a range of shapes.

    Names and order of the axes may differ; all of it is proved.

    >>> next(identify(from_notation("onednn", "aBcd8b"))).name
    'NC1HWC0<8>'
    """
    from layoutdsl.compare.identify import identify as look_up

    known = (each for family in library_families() for each in family.items())
    return look_up(layout, known, progress)
