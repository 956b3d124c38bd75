"""Layouts from other notations, in other notations, and by their names in the library."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from layoutdsl.language.declaration import declaration
from layoutdsl.language.elaborate.shelf import find_layout, library_families, parse
from layoutdsl.language.meaning.arguments import FUNCTION, MAPPING, TEXT, expect
from layoutdsl.language.meaning.elements import FillAny
from layoutdsl.language.meaning.model import Condition, Layout
from layoutdsl.language.texts.faults import UnknownNameError
from layoutdsl.language.texts.source import LayoutError
from layoutdsl.language.texts.values import brief

if TYPE_CHECKING:
    from layoutdsl.notation.notation import Reading
    from layoutdsl.view.compare.seen import Match, Seen, Untold


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
    expect(notation=(notation, TEXT), text=(text, TEXT))
    return reading_of(notation, text).layout


def reading_of(notation: str, text: str) -> Reading:
    """Return what a text in another notation says, with what it says beyond its layout.

    Raises:
        LayoutError: there is no such notation, or the text is not in it.
    """
    from layoutdsl.notation.notation import read_text

    return read_text(notation, text)


def to_notation(layout: Layout | str, notation: str) -> str:
    """Return the text of a layout, or of the library's of that name, in another notation.

    >>> to_notation("NCHW16c", "onednn")
    'nChw16c'

    Raises:
        ValueError: there is no such notation, or the layout cannot be written in it; says why.
    """
    from layoutdsl.notation.notation import write

    layout = find_layout(layout)
    expect(notation=(notation, TEXT))
    if notation not in notations():
        raise _no_notation(notation)
    return write(notation, layout.of_codes)  # what codes stand for is said by none


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

    __repr__ = brief

    def __bool__(self) -> bool:
        """Return `proved`: a text that was not proved to be the layout is no translation yet."""
        return self.proved


def translate(
    layout: Layout | str, notation: str, notes: Mapping[str, str] | None = None
) -> Translation:
    """Return the text of a layout in a notation, or in our language, and whether it was proved.

    >>> translate("NCHW16c", "onednn").text
    'nChw16c'

    Args:
        layout: any, or its name in the library.
        notation: one of `notations`, or ``layout`` for our own language.
        notes: what a text in that notation said beyond the layout, to be said again.

    Raises:
        ValueError: there is no such notation.
    """
    layout = find_layout(layout)
    expect(notation=(notation, TEXT), notes=(notes, MAPPING.or_none()))
    if notation != LANGUAGE and notation not in notations():
        raise _no_notation(notation)
    if notation == LANGUAGE:
        text = declaration(layout)
        return _read_back(layout, LANGUAGE, text, parse(text).layouts[layout.name])
    from layoutdsl.notation.notation import Unwritable, read_text, write

    try:
        text = write(notation, layout.of_codes, notes)
    except Unwritable as reason:
        return Translation(notation, None, str(reason))
    try:
        again = read_text(notation, text).layout
    except LayoutError as fault:
        reason_ = f"`{text}` cannot be read again: {fault.diagnostics[0].message}"
        return Translation(notation, None, reason_)
    by_name = notation in _CALLED
    axes = None if by_name else [axis.name for axis in again.axes]
    return _read_back(layout, notation, text, again, axes)


_CALLED = ("tvm", "einops", "mace")
"""Notations whose texts call axes as the layout does; in all others they go by their places."""


def notation_help(name: str, form: str = "") -> str:
    """Return the help line for an unknown notation; the arguments are those of the reader's."""
    from layoutdsl.notation import notation

    return notation.notation_help(name, form)


def _no_notation(name: str) -> UnknownNameError:
    return UnknownNameError(f"there is no notation `{name}`", notation_help(name))


def _read_back(
    layout: Layout, notation: str, text: str, again: Layout, axes: list[str] | None = None
) -> Translation:
    from layoutdsl.view.compare.difference import Different, Equal, EqualWhere, Unknown, diff

    found = diff(layout, again, axes)
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


def identify(
    layout: Layout | str, progress: Callable[[str], None] | None = None
) -> Iterator[Match | Untold]:
    """Yield each layout of the library that is equal to a layout, or is in a range of shapes.

    Names and order of the axes may differ. A `Match` is proved; an `Untold` is a layout that was
    neither proved equal nor told apart.

    >>> next(identify(from_notation("onednn", "aBcd8b"))).name
    'NC1HWC0<8>'
    """
    from layoutdsl.view.compare.identify import identify as look_up

    layout = find_layout(layout)
    expect(progress=(progress, FUNCTION.or_none()))
    return look_up(layout, _library(), progress)


def look(layout: Layout | str, progress: Callable[[str], None] | None = None) -> Iterator[Seen]:
    """Yield what `identify` does, and for each other layout of the library how it differs."""
    from layoutdsl.view.compare.identify import look as look_at

    layout = find_layout(layout)
    expect(progress=(progress, FUNCTION.or_none()))
    return look_at(layout, _library(), progress)


def _library() -> Iterator[tuple[str, Layout]]:
    """The layouts, but for those that say no more than what elements of another one are."""
    seen = set[Layout]()
    families = library_families()
    for name, layout in (each for family in families for each in family.layouts.items()):
        lies = replace(layout.of_codes, name="", fill=FillAny(), element=None)
        if layout.element is None or lies not in seen:
            yield name, layout
        seen.add(lies)
