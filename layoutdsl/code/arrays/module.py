"""The whole text of a module that packs and unpacks."""

from __future__ import annotations

from typing import Literal, TypeAlias

from layoutdsl.code.arrays.axes import axes_of
from layoutdsl.code.arrays.fills import fills
from layoutdsl.code.arrays.gather import gather_fills, gather_functions
from layoutdsl.code.arrays.head import UNPROVED, UNVALIDATED, head, refuse_name
from layoutdsl.code.arrays.names import Names, constant, literal, tuple_text
from layoutdsl.code.arrays.rows import row_views
from layoutdsl.code.arrays.runs import run_functions
from layoutdsl.code.arrays.shapes import shape_functions
from layoutdsl.code.arrays.views import first_copies, is_short, views
from layoutdsl.code.moves import Fallback
from layoutdsl.code.numpy.constants import codes_constants, words_constants
from layoutdsl.code.plan import plan
from layoutdsl.code.rows import rows_of
from layoutdsl.code.validate.arrays.codecs import codec_lines
from layoutdsl.code.validate.arrays.frame import (
    ITEM,
    PUT,
    Moves,
    copied_moves,
    gather_moves,
    narrow,
    run_moves,
    target_function,
    values_function,
    verbs,
    view_moves,
)
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.storage import Stored

Way: TypeAlias = Literal["views", "grids", "indices"]
WAYS: tuple[Way, ...] = ("views", "grids", "indices")
"""How elements may be moved, the best first."""


def module_text(
    layout: Layout,
    *,
    source: str,
    certificate: str | None,
    way: Way = "views",
    stored: Stored | None = None,
) -> tuple[str, str | None]:
    """Return the text of the module of a layout, and why it moves element by element if it does.

    Args:
        layout: without open parameters.
        source: the text in which the layout was written.
        certificate: the hash of its proofs; `None` if there is none.
        way: ``views``, or element by element by offsets: of ``grids`` of indices, whose numbers
            have 64 bits, or of ``indices`` one by one.
        stored: how the buffer becomes words, if there are functions for that.

    Raises:
        ValueError: the layout's name cannot name a module.
    """
    refuse_name(layout.name)
    names = Names(layout)
    found = _views(layout, names) if way == "views" else None
    reason = None
    if found is None:
        planned = plan(layout)
        reason = planned.reason if isinstance(planned, Fallback) else "no views of it are proved"
        grids = way != "indices" and bool(layout.element_axes)  # no grid has no dimension
        own = gather_functions(layout, names, grids=grids)
        moves = gather_moves(gather_fills(layout, names), copied=bool(layout.copies))
        found = moves, own
    moves, own = found
    element = layout.element
    body = [
        *shape_functions(layout, names),
        *verbs(layout, moves),
        *own,
        *target_function(element),
        *(ITEM if moves.fills or layout.domain else []),
        *([] if element is None or narrow(element) is None else values_function(element)),
        *_codecs(layout, stored),
    ]
    extents = tuple_text([names.text(axis.extent) for axis in layout.element_axes])
    constants = [
        *constant("SOURCE", source),
        *constant("CERTIFICATE", UNPROVED if certificate is None else certificate),
        *UNVALIDATED,
        *(["FALLBACK = None"] if reason is None else constant("FALLBACK", reason)),
    ]
    words = f"{layout.name}: pack and unpack tensors {extents}. VALIDATED names its proof."
    details = [*(_words_said(stored) if stored else []), *_codes_said(layout)]
    return "\n".join([*head(words, constants, body, details), *body]) + "\n", reason


def _views(layout: Layout, names: Names) -> tuple[Moves, list[str]] | None:
    """Return the moves of the verbs by views, and the functions that yield these; or `None`."""
    axes = axes_of(None, layout)
    if isinstance(axes, Fallback):
        return _rows(layout, names)
    short = is_short(axes, layout)
    filled = fills(axes, names, layout)
    moves = view_moves(filled, puts=short)
    if layout.copies:
        moves = copied_moves(filled, first_copies(axes, layout))
    return moves, [*views(axes, names, layout), *(PUT if short else [])]


def _rows(layout: Layout, names: Names) -> tuple[Moves, list[str]] | None:
    """Return the same for a layout without digits: row by row, or in runs of one length."""
    rows = None if layout.copies else rows_of(layout)
    if rows is None:
        return None
    filled = gather_fills(layout, names)
    own = row_views(layout, rows, names)
    if own is not None:
        return view_moves(filled, puts=False), own
    own = run_functions(layout, rows, names)
    return None if own is None else (run_moves(filled), own)


def _codecs(layout: Layout, stored: Stored | None) -> list[str]:
    """Return the functions of words and of codes, if there are any."""
    constants = list[str]()
    if stored is not None:
        constants.append(f"_STORED = {_literals(words_constants(layout, stored))}")
    if layout.interface is not None:
        constants.append(f"_CODES = {_literals(codes_constants(layout))}")
    codes = layout.interface is not None
    return codec_lines(constants, words=stored is not None, codes=codes) if constants else []


def _literals(values: tuple[object, ...]) -> str:
    """Return a tuple of numbers and texts as text."""
    return tuple_text([literal(v) if isinstance(v, str) else str(v) for v in values])


def _words_said(stored: Stored) -> list[str]:
    many, words = stored.slot_bits, stored.words
    slots = "a slot is one bit" if many == 1 else f"a slot has {many} bits"
    return [
        "",
        f"`pack_words` and `unpack_words` store slots without room in {words.kind}{words.bits}:",
        f"{slots}, the first in the lowest bits of little-endian words.",
    ]


def _codes_said(layout: Layout) -> list[str]:
    if layout.interface is None:
        return []
    assert layout.element is not None
    return [
        "",
        f"`pack_numbers` stores real numbers as the nearest codes of {layout.element.name}, and",
        "`unpack_numbers` returns the numbers of codes; `pack` and `unpack` move codes.",
    ]
