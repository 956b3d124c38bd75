"""Layouts, records and tables at a shape, drawn: as SVG, as a page, and in a notebook."""

from __future__ import annotations

from dataclasses import dataclass

from layoutdsl.language.elaborate.shelf import find_subject
from layoutdsl.language.meaning.arguments import INTEGER, TEXT, expect
from layoutdsl.language.meaning.elements import ELEMENT_TYPES, ElementType
from layoutdsl.language.meaning.model import Layout, Shape
from layoutdsl.language.meaning.record import Record
from layoutdsl.language.meaning.table import Table
from layoutdsl.language.texts.faults import UnknownNameError, did_you_mean
from layoutdsl.language.texts.values import said
from layoutdsl.view.cells import Drawn
from layoutdsl.view.html import fragment, page, picture
from layoutdsl.view.picture import FEW, MANY, Asked, drawn
from layoutdsl.view.record_picture import drawn_record
from layoutdsl.view.svg import svg
from layoutdsl.view.table_picture import drawn_table


@dataclass(frozen=True, slots=True)
class Picture:
    """A layout, a record or a table at a shape; a notebook displays it.

    Attributes:
        drawn: what is on it, cell by cell.
    """

    drawn: Drawn

    def __repr__(self) -> str:
        return said(self, f"{self.drawn.title}: {self.drawn.counts}")

    def svg(self) -> str:
        """Return the picture as SVG, the same text for the same picture."""
        return svg(self.drawn)

    def html(self) -> str:
        """Return a page of one file, which loads nothing: either side points at the other."""
        return page(self.drawn.title, picture(self.drawn, "h1"))

    def _repr_html_(self) -> str:
        return fragment(self.drawn)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        del include, exclude
        return {"text/html": self._repr_html_(), "text/plain": str(self)}


def show(
    layout: Layout | Record | Table | str,
    shape: Shape | None = None,
    *,
    colour: str = "block",
    columns: int | None = None,
    most: int = FEW,
    of: str | None = None,
) -> Picture:
    """Return a picture of the buffer and the tensor at a shape.

    >>> show("NCHW4c", (1, 6, 2, 3))
    <Picture `NCHW4c` at shape N=1 C=6 H=2 W=3: 48 slots, 36 elements, 12 of padding>

    Args:
        layout: a layout, a record, or a table; or its name in the library.
        shape: its extents; left out where all of them are fixed.
        colour: what has a colour of its own: ``block``, ``chunk``, ``bank`` of a GPU's shared
            memory, or an axis; fields of a record and runs of a table have their own.
        columns: slots of a row, or bytes; by default the most minor coordinates that fit.
        most: cells of either side that are drawn, up to 65536; of what is larger, the ends are.
            Of a record, bytes, and elements of a field.
        of: the type of elements, such as ``f16``, for banks; by default that of the layout.

    Raises:
        ValueError: the shape does not fit, or there is no such colour or type.
    """
    layout = find_subject(layout, "layout")
    expect(
        colour=(colour, TEXT),
        columns=(columns, INTEGER.or_none()),
        most=(most, INTEGER),
        of=(of, TEXT.or_none()),
    )
    if columns is not None and columns < 1:
        raise ValueError(f"`columns` is {columns}, must be >= 1")
    if not 1 <= most <= MANY:
        raise ValueError(f"`most` is {most}, outside 1..{MANY}")
    extents: Shape = {} if shape is None else shape
    if not isinstance(layout, Layout):
        record = isinstance(layout, Record)
        if (colour, of) != ("block", None):
            own = (
                "a record: its colours are those of its fields"
                if record
                else ("a table: its colours are those of its runs of slots")
            )
            raise ValueError(f"`{layout.name}` is {own}")
        if isinstance(layout, Record):
            return Picture(drawn_record(layout, extents, columns, most))
        return Picture(drawn_table(layout, extents, columns, most))
    asked = Asked(colour, columns, most, element_called(of))
    return Picture(drawn(layout, extents, asked))


def element_called(name: str | None) -> ElementType | None:
    """Return the element type of a name.

    Raises:
        UnknownNameError: there is none.
    """
    if name is None or name in ELEMENT_TYPES:
        return None if name is None else ELEMENT_TYPES[name]
    known = did_you_mean(name, ELEMENT_TYPES) or f"known are {', '.join(ELEMENT_TYPES)}"
    raise UnknownNameError(f"there is no element type `{name}`", known)
